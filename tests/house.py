"""The source of the three packages, parsed once, for the tests of the house's rules."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {
    "trial_ledger": ROOT / "ledger" / "trial_ledger",
    "trial_projections": ROOT / "projections" / "trial_projections",
    "trial_cli": ROOT / "cli" / "trial_cli",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Named = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Module:
    """One module of the three packages."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def package(self) -> str:
        """Return the name of its package."""
        return self.name.partition(".")[0]

    @property
    def is_demo(self) -> bool:
        """Return whether it is one of the demo's scripts, which stand alone on purpose."""
        return self.name.startswith("trial_cli.demo.")

    @property
    def exported(self) -> list[str] | None:
        """Return the names of `__all__`; None where there is none."""
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                names: list[str] = ast.literal_eval(node.value)
                return names
        return None

    def place(self, node: ast.AST) -> str:
        """Return where a node stands."""
        return f"{self.path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"

    def line(self, node: ast.stmt) -> str:
        """Return the line on which a statement begins."""
        return self.text.split("\n")[node.lineno - 1]


@cache
def modules() -> tuple[Module, ...]:
    """Return every module, parsed."""
    found: list[Module] = []
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join([package, *(part for part in parts if part != "__init__")])
            text = path.read_text("utf-8")
            found.append(Module(name, path, text, ast.parse(text)))
    return tuple(found)


def functions(module: Module) -> Iterator[Function]:
    """Yield every function and method of a module."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length(node: Function) -> int:
    """Return the lines of a function without its decorators and its docstring."""
    assert node.end_lineno is not None
    first = node.body[0]
    has_docstring = ast.get_docstring(node, clean=False) is not None
    docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if has_docstring else 0
    return node.end_lineno - node.lineno + 1 - docstring


def public_names(module: Module) -> Iterator[tuple[str, Named]]:
    """Yield every exported function and class, and every public method, with its full name."""
    for node in module.tree.body:
        if isinstance(node, Named) and node.name in (module.exported or ()):
            yield node.name, node
            for inner in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(inner, Named) and not inner.name.startswith("_"):
                    yield f"{node.name}.{inner.name}", inner


def imported(module: Module) -> Iterator[tuple[str, ast.AST]]:
    """Yield the full name of everything that a module imports, wherever in it."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield name.name, node
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module, node


def strings(node: ast.AST) -> Iterator[str]:
    """Yield every literal text below a node."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def identifiers(module: Module) -> Iterator[tuple[str, ast.AST]]:
    """Yield every name that a module makes: functions, classes, arguments, variables, fields."""
    for node in ast.walk(module.tree):
        if isinstance(node, Named):
            yield node.name, node
        elif isinstance(node, ast.arg):
            yield node.arg, node
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node
    yield module.path.stem, module.tree


def words(name: str) -> set[str]:
    """Return the words of an identifier."""
    parts = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)
    return {part.lower() for part in parts}
