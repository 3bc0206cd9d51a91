"""The rules of the house, as far as a program can check them (CONTRIBUTING.md says them in words).

Shape, errors, imports and packaging; `test_house_words` has words, hints, commands and events.
"""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from functools import cache
from typing import Any

import pytest

from house import PACKAGES, ROOT, Module, functions, imported, length, modules, public_names
from trial_ledger import errors

LONGEST_FUNCTION = 60
LONGEST_FILE = 400

SQL_MODULES = frozenset({"sqlite", "schema", "store", "blobs", "goldfile", "keyed_file"})
HEAVY = ("httpx", "anyio", "sqlite_utils", "rich", "cryptography", "rfc8785")

WAITS = ("ledger/trial_ledger/locking.py:", "ledger/trial_ledger/sqlite.py:", "cli/trial_cli/demo/")
"""Where a float may stand: seconds to wait for a lock, or that a misbehaving service takes."""

PATHS = re.compile(r"/(?:home|root|Users|work|farm|tmp)/[A-Za-z0-9_.]")
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")


def test_functions_fit_on_a_screen() -> None:
    """No function has more than 60 lines without its docstring."""
    long = [
        f"{module.place(node)} {node.name}: {length(node)}"
        for module in modules()
        for node in functions(module)
        if length(node) > LONGEST_FUNCTION
    ]
    assert long == []


def test_files_have_one_job() -> None:
    """No file has more than 400 lines."""
    long = {
        str(module.path.relative_to(ROOT)): count
        for module in modules()
        if (count := module.text.count("\n")) > LONGEST_FILE
    }
    assert long == {}


def test_module_docstrings_state_the_invariant() -> None:
    """The first paragraph says the module's job, a later one its invariant."""
    silent = [
        module.name
        for module in modules()
        if "\nInvariant: " not in (ast.get_docstring(module.tree) or "")
        and module.path.name != "__main__.py"
    ]
    assert silent == []


def test_exported_things_have_docstrings() -> None:
    """What stands in `__all__`, and every public method of it, is documented."""
    bare = [
        f"{module.place(node)} {name}"
        for module in modules()
        for name, node in public_names(module)
        if ast.get_docstring(node) is None
    ]
    assert bare == []


def is_struct(node: ast.ClassDef) -> bool:
    """Return whether a class is a struct whose fields are its interface."""
    options = {word.arg for word in node.keywords}
    # The fields of an envelope are those of an event, read but for its data.
    return bool(options & {"kw_only", "frozen", "array_like"}) and node.name != "Envelope"


def test_struct_fields_have_docstrings() -> None:
    """Every field of an exported struct has a string under it."""
    bare: list[str] = []
    for module in modules():
        for name, node in public_names(module):
            if not isinstance(node, ast.ClassDef) or not is_struct(node):
                continue
            for field, below in zip(node.body, [*node.body[1:], None], strict=True):
                documented = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
                if isinstance(field, ast.AnnAssign) and not documented:
                    bare.append(f"{module.place(field)} {name}.{ast.unparse(field.target)}")
    assert bare == []


def house_order(name: str) -> tuple[int, str]:
    """Return what names are sorted by: constants, then classes, then functions (as ruff does)."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2, name)


def is_free(module: Module) -> bool:
    """Return whether a module offers nothing: it is empty, or a script of the demo."""
    return module.is_demo or all(isinstance(node, ast.Expr) for node in module.tree.body)


def test_all_is_explicit_sorted_and_complete() -> None:
    """Every module says what it offers: names that exist, sorted, each once."""
    for module in modules():
        names = module.exported
        if names is None and (module.path.name == "__main__.py" or is_free(module)):
            continue
        assert names is not None, f"{module.name} has no __all__"
        assert names == sorted(set(names), key=house_order), module.name
        loaded = importlib.import_module(module.name)
        assert [name for name in names if not hasattr(loaded, name)] == [], module.name


def test_every_error_is_ours_and_says_something() -> None:
    """Every exception class descends from LedgerError, can be made, and has a message."""
    made: dict[str, errors.LedgerError] = {
        "AmbiguousError": errors.AmbiguousError("run", "a", ["ab", "ac"]),
        "InvalidInputError": errors.InvalidInputError.single("wrong"),
        "UnsupportedFormatError": errors.UnsupportedFormatError.single("newer"),
        "RefusedError": errors.RefusedError([errors.Problem(message="no")], what="input"),
    }
    for name in errors.__all__:
        kind = getattr(errors, name)
        if not issubclass(kind, BaseException):
            continue
        assert issubclass(kind, errors.LedgerError), name
        error = made.get(name) or kind("something is wrong", hint="ledger verify")
        assert str(error).strip(), name
        assert not str(error).endswith("."), name
        assert 1 <= kind.exit_code <= 7, name
        assert kind.__doc__, name


def exception_classes(module: Module) -> list[ast.ClassDef]:
    """Return the exception classes that a module defines."""
    return [
        node
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
        and any(re.search(r"(Error|Exception)$", ast.unparse(base)) for base in node.bases)
    ]


def test_exceptions_are_defined_in_one_place() -> None:
    """What another module defines is a signal that it catches itself and does not export."""
    foreign: list[str] = []
    for module in modules():
        if module.name == "trial_ledger.errors" or module.is_demo:
            continue
        caught = {
            ast.unparse(node.type)
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ExceptHandler) and node.type is not None
        }
        foreign += [
            f"{module.place(node)} {node.name}"
            for node in exception_classes(module)
            if node.name in (module.exported or ()) or node.name not in caught
        ]
    assert foreign == []


def is_kept(node: ast.ExceptHandler) -> bool:
    """Return whether a handler raises again, or keeps the error for whoever waits for it."""
    return any(
        isinstance(part, ast.Raise)
        or (isinstance(part, ast.Name) and part.id == node.name and isinstance(part.ctx, ast.Load))
        for part in ast.walk(node)
    )


def test_errors_are_caught_by_name() -> None:
    """`except Exception` stands only where anything becomes an exit code; nothing is swallowed."""
    wrong: list[str] = []
    for module in modules():
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.ExceptHandler):
                continue
            caught = "" if node.type is None else ast.unparse(node.type)
            if caught in {"", "Exception"} and module.name != "trial_cli.main":
                wrong.append(f"{module.place(node)} catches {caught or 'everything'}")
            if caught == "BaseException" and not is_kept(node):
                wrong.append(f"{module.place(node)} swallows BaseException")
            first = node.body[0]
            if isinstance(first, ast.Pass) and "#" not in module.line(first):
                wrong.append(f"{module.place(node)} drops an error and does not say why")
    assert wrong == []


def test_no_floats() -> None:
    """No float literal and no call of `float`: numbers are text, integers or fractions."""
    wrong = [
        f"{module.place(node)} {ast.unparse(node)}"
        for module in modules()
        for node in ast.walk(module.tree)
        if (isinstance(node, ast.Constant) and isinstance(node.value, float))
        or (isinstance(node, ast.Call) and ast.unparse(node.func) == "float")
    ]
    assert [line for line in wrong if not line.startswith(WAITS)] == []


def may_import(library: str, module: Module) -> bool:
    """Return whether a module may import a library directly."""
    if library == "click":
        return module.package == "trial_cli"
    if library in {"httpx", "anyio"}:
        may_wait = library == "anyio" and module.name.startswith("trial_ledger.async_")
        return may_wait or module.name.startswith(
            ("trial_ledger.recording", "trial_ledger.running")
        )
    # The demo's search service is a program of its own, with a database of its own.
    is_storage = module.package == "trial_ledger" and module.path.stem in SQL_MODULES
    return is_storage or (library == "sqlite3" and module.is_demo)


@pytest.mark.parametrize(
    "library", ["click", "sqlite3", "pysqlite3", "sqlite_utils", "httpx", "anyio"]
)
def test_libraries_stay_behind_their_wall(library: str) -> None:
    """Only one package knows click, only the storage knows SQLite, nobody yet the network."""
    wrong = [
        module.place(node)
        for module in modules()
        if not may_import(library, module)
        for name, node in imported(module)
        if name.partition(".")[0] == library
    ]
    assert wrong == []


def test_starting_loads_nothing_heavy() -> None:
    """`ledger --version` loads no network, database, terminal or cryptography library."""
    script = (
        "import sys; from trial_cli.main import main\n"
        "try: main(['--version'])\n"
        f"finally: print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert re.fullmatch(r"trial-ledger, version \S+\n", done.stdout)
    assert done.stderr.strip() == "[]"


def test_nothing_is_unfinished_or_of_one_machine() -> None:
    """No marker of unfinished work and no path of somebody's machine in code or documentation."""
    files = [module.path for module in modules()]
    files += [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.py")]
    wrong = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text("utf-8").split("\n"), 1)
        if UNFINISHED.search(line) or PATHS.search(line)
    ]
    assert wrong == []


@cache
def project() -> dict[str, Any]:
    """Return pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_the_wheel_holds_exactly_the_three_packages() -> None:
    """The wheel installs three top-level names, and each root folder holds one package."""
    tool = project()["tool"]
    target = tool["hatch"]["build"]["targets"]["wheel"]
    wanted = [str(folder.relative_to(ROOT)) for folder in PACKAGES.values()]
    assert sorted(target["packages"]) == sorted(wanted)
    assert set(target) == {"packages"}
    assert tool["check-wheel-contents"]["toplevel"] == sorted(PACKAGES)
    for name, folder in PACKAGES.items():
        found = {path.name for path in folder.parent.iterdir() if not path.name.startswith("__")}
        assert found == {name}
        assert (folder / "py.typed").exists()


def test_versions_agree() -> None:
    """The package says the version that the distribution has."""
    package = importlib.import_module("trial_ledger")
    assert project()["project"]["version"] == package.__version__
