"""Reads documentation out of the source: fields with their types, defaults and the text below them.

Invariant: what is documented is what the code says; nothing is imported but the class itself.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

__all__ = [
    "Field",
    "class_doc",
    "fields_of",
    "function_section",
    "replaced",
    "struct_table",
    "table",
]


@dataclass(frozen=True)
class Field:
    """One field of a struct."""

    name: str
    """Its encoded name."""
    annotation: str
    """Its type as written."""
    default: str | None
    """Its default as written; None where it is required."""
    text: str
    """The text below it."""


@cache
def class_node(kind: type) -> ast.ClassDef:
    """Return the syntax tree of a class."""
    node = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(node, ast.ClassDef), "the source of a class is a class"
    return node


def class_doc(kind: type) -> str:
    """Return the first paragraph of a class's docstring on one line."""
    text = ast.get_docstring(class_node(kind)) or ""
    return " ".join(text.partition("\n\n")[0].split())


def default_of(node: ast.AnnAssign) -> tuple[str | None, str | None]:
    """Return the encoded name and the default of a field, as far as its value says so."""
    value = node.value
    if value is None:
        return None, None
    if not isinstance(value, ast.Call):
        return None, ast.unparse(value)
    given = {word.arg: word.value for word in value.keywords}
    name = given.get("name")
    default = given.get("default")
    encoded = str(name.value) if isinstance(name, ast.Constant) else None
    if default is None:
        return encoded, "empty" if "default_factory" in given else None
    return encoded, ast.unparse(default)


def fields_of(kind: type) -> list[Field]:
    """Return the fields that a struct declares itself, in order."""
    found: list[Field] = []
    body = class_node(kind).body
    for place, node in enumerate(body):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        below = body[place + 1] if place + 1 < len(body) else None
        text = ""
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            text = " ".join(str(below.value.value).split())
        encoded, default = default_of(node)
        name = encoded or node.target.id.rstrip("_")
        found.append(Field(name, ast.unparse(node.annotation), default, text))
    return found


def cell(text: str) -> str:
    """Return a text that fits into a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")


def table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = ["| " + " | ".join(names) + " |", "|" + " --- |" * len(names)]
    return lines + ["| " + " | ".join(cell(part) for part in row) + " |" for row in rows]


def code(text: str) -> str:
    """Return a text as code; an empty one stays empty."""
    return f"`{text}`" if text else ""


JSON_WORDS = {"None": "null", "UNSET": "absent", "False": "false", "True": "true", "()": "[]"}
"""A default as written → the same in JSON."""


def default_text(field: Field) -> str:
    """Return the default of a field as JSON, or that it is required."""
    if field.default is None:
        return "required"
    text = JSON_WORDS.get(field.default, field.default.replace("'", '"'))
    return code(f"[{text[1:-1]}]" if text.startswith("(") else text)


def struct_table(
    kind: type, *, describe: Callable[[str], str] = code, default: bool = True
) -> list[str]:
    """Return the table of a struct's fields.

    Args:
        kind: the struct.
        describe: how a type as written is shown.
        default: whether to have a column of defaults.
    """
    rows: list[list[str]] = []
    for field in fields_of(kind):
        row = [code(field.name), describe(field.annotation)]
        if default:
            row.append(default_text(field))
        rows.append([*row, field.text])
    names = ["field", "type", "default", "meaning"] if default else ["field", "type", "meaning"]
    return table(names, rows)


def function_section(owner: type | None, name: str, function: Callable[..., object]) -> list[str]:
    """Return a function's signature and docstring as Markdown lines."""
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef), "a function"
    arguments = ast.unparse(node.args)
    for first in ("self, ", "cls, ", "self", "cls"):
        if owner is not None and (arguments == first or arguments.startswith(first)):
            arguments = arguments.removeprefix(first)
            break
    returns = ast.unparse(node.returns).strip("'\"") if node.returns is not None else "None"
    full = name if owner is None else f"{owner.__name__}.{name}"
    text = ast.get_docstring(node) or ""
    return [f"#### `{full}`", "", "```python", f"{full}({arguments}) -> {returns}", "```", "",
            *doc_lines(text), ""]  # fmt: skip


def doc_lines(text: str) -> list[str]:
    """Return a Google docstring as Markdown lines: sections become lists."""
    lines: list[str] = []
    for line in text.split("\n"):
        heading = line.strip() in {"Args:", "Raises:", "Returns:"}
        if heading:
            lines += [f"**{line.strip().rstrip(':')}**", ""]
        elif line.startswith("    ") and not line.startswith("     ") and ": " in line:
            name, _, rest = line.strip().partition(": ")
            lines.append(f"- `{name}`: {rest}")
        elif line.startswith("     "):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line.strip())
    return lines


def replaced(text: str, section: str, lines: Sequence[str]) -> str:
    """Return a Markdown text with the body of one generated section replaced.

    Raises:
        ValueError: the text has no such section.
    """
    begin, end = f"<!-- generated: {section} -->", f"<!-- end: {section} -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        message = f"no section {section!r} between {begin} and {end}"
        raise ValueError(message)
    body = "\n".join(lines).strip("\n")
    return f"{before}{begin}\n\n{body}\n\n{end}{after}"
