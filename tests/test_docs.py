"""The documentation: what it shows is what the program does, and what is generated is in step."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import examples
import pytest
from source import replaced

from trial_ledger import errors

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def generator() -> ModuleType:
    """Return `docs/generate.py` as a module."""
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATE = generator()
PAGES: list[Path] = GENERATE.markdown_files()
WITH_EXAMPLES = [
    page
    for page in PAGES
    if any(block.commands for block in examples.parse(page.read_text("utf-8")))
]


def name_of(page: Path) -> str:
    """Return a page's path below the root."""
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name_of)
def test_examples_print_what_they_show(page: Path, tmp_path: Path) -> None:
    """Every command of a page, run in order in one shell, prints what stands below it."""
    blocks = examples.parse(page.read_text("utf-8"))
    lacking = examples.missing_programs(blocks)
    if lacking:
        pytest.skip(f"the examples of {name_of(page)} need {', '.join(lacking)}")
    found = examples.differences(blocks, examples.run(blocks, tmp_path))
    assert found == [], "python docs/generate.py shows the real output\n" + "\n".join(found)


def test_readme_and_tutorial_have_examples() -> None:
    """The pages that a stranger reads first are run."""
    assert {ROOT / "README.md", DOCS / "tutorial.md"} <= set(WITH_EXAMPLES)


@pytest.mark.parametrize("name", sorted(GENERATE.SECTIONS))
def test_generated_reference_is_up_to_date(name: str) -> None:
    """A page of the reference says what the code says; else: python docs/generate.py."""
    assert (DOCS / name).read_text("utf-8") == GENERATE.updated_reference(name)


def test_a_page_without_its_section_is_a_fault() -> None:
    """A generated section that somebody deleted is noticed."""
    with pytest.raises(ValueError, match="no section 'kinds'"):
        replaced("text", "kinds", [])


def heading_anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    return {
        re.sub(r"[^\w\- ]", "", match.lower()).replace(" ", "-")
        for match in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page names a file that is there, and a heading in it."""
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    dead: list[str] = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("https://", "http://")):
            continue
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        if not path.exists() or (
            anchor
            and path.suffix == ".md"
            and anchor not in heading_anchors(path.read_text("utf-8"))
        ):
            dead.append(target)
    assert dead == []


def test_every_schema_of_the_output_is_documented() -> None:
    """A JSON form that a command prints stands in docs/reference/json.md."""
    source = "".join(path.read_text("utf-8") for path in (ROOT / "cli").rglob("*.py"))
    schemas = set(re.findall(r'"(ledger\.[a-z]+/[0-9]+)"', source))
    assert schemas
    text = (DOCS / "reference" / "json.md").read_text("utf-8")
    assert {schema for schema in schemas if f"`{schema}`" not in text} == set()


def test_every_error_is_documented_with_its_exit_code() -> None:
    """docs/reference/errors.md draws the tree that trial_ledger.errors draws."""
    text = (DOCS / "reference" / "errors.md").read_text("utf-8")
    for name in errors.__all__:
        kind = getattr(errors, name)
        if isinstance(kind, type) and issubclass(kind, errors.LedgerError):
            assert re.search(rf"\b{name} +{kind.exit_code}\b", text), name


def shown(text: str) -> list[examples.Block]:
    """Return the blocks of an example."""
    return examples.parse(text)


PAGE = """
```text
$ not run
```

```sh script.sh
echo from a file
```

```console
$ sh script.sh; false
from a file
$ echo $?
1
$ for word in one two
> do echo $word
> done
…
two
$ echo 0123456789abcdef0123 at 2026-01-01T00:00:00.000000Z
fedcba98765432100123 at 1999-12-31T23:59:59.000000Z
```
"""


def test_the_runner_keeps_shell_state_and_forgives_only_what_varies(tmp_path: Path) -> None:
    """Exit codes, files, continued commands, hashes, times and ellipses work as documented."""
    blocks = shown(PAGE)
    outputs = examples.run(blocks, tmp_path)
    assert examples.differences(blocks, outputs) == []
    assert examples.refreshed(PAGE, outputs) == PAGE


@pytest.mark.parametrize(
    ("good", "bad"), [("from a file", "from a fill"), ("\n1\n", "\n0\n"), ("two\n$", "three\n$")]
)
def test_the_runner_finds_a_planted_difference(good: str, bad: str, tmp_path: Path) -> None:
    """An example that shows something else is reported, and refreshing mends it."""
    text = (
        PAGE.replace(good, bad, 1)
        if good != "from a file"
        else PAGE.replace("\nfrom a file", "\nfrom a fill")
    )
    blocks = shown(text)
    outputs = examples.run(blocks, tmp_path)
    assert len(examples.differences(blocks, outputs)) == 1
    assert examples.differences(shown(examples.refreshed(text, outputs)), outputs) == []


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a program is not installed its name is known before anything is run."""
    monkeypatch.setenv("PATH", "")
    blocks = shown("```console\n$ sqlite3 x | b3sum\n```\n")
    assert examples.missing_programs(blocks) == ["sqlite3", "b3sum"]
