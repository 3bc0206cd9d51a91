"""Elements of HTML and XML from our names and anybody's texts: the only place that writes markup.

Invariant: whatever a text holds, it ends up as text or as the value of one attribute; characters
that could turn, hide or end it, or that XML cannot hold, are replaced before.
"""

import re

from trial_cli.output import clean, clean_lines

__all__ = ["anchor", "element", "escaped", "quoted"]

NONCHARACTERS = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")
"""What neither XML 1.0 nor HTML takes, beside what `clean` replaces."""
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
QUOTES = str.maketrans({'"': "&quot;", "'": "&#39;"})
PLAIN = re.compile(r"[A-Za-z0-9]")


def escaped(text: object, *, lines: bool = False) -> str:
    """Return a text in which nothing is markup, on one line unless lines are kept."""
    harmless = clean_lines(str(text)) if lines else clean(text)
    return NONCHARACTERS.sub("\ufffd", harmless).translate(ENTITIES)


def quoted(value: object) -> str:
    """Return the value of an attribute, in quotes that nothing in it ends."""
    return f'"{escaped(value).translate(QUOTES)}"'


def element(
    tag: str, *content: str, text: object = None, joint: str = "", **attributes: str
) -> str:
    """Return one element.

    Args:
        tag: its name, one of ours.
        content: markup inside it, made by this function.
        text: text inside it, before the markup; its lines are kept.
        joint: what stands around each part of the content.
        attributes: anybody's values under names of ours; an underscore at the end of a name is for
            Python only, others become dashes.
    """
    values = "".join(
        f" {name.rstrip('_').replace('_', '-')}={quoted(value)}"
        for name, value in attributes.items()
    )
    inner = "" if text is None else escaped(text, lines=True)
    inner += joint + joint.join(content) + joint if content else ""
    return f"<{tag}{values}>{inner}</{tag}>"


def anchor(*parts: object) -> str:
    """Return the name of a place in a page: letters, digits and dashes; others by their number."""
    return "-".join(
        "".join(char if PLAIN.match(char) else f"_{ord(char):x}_" for char in str(part))
        for part in parts
    )
