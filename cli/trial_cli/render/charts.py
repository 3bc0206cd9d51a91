"""Charts of a report as inline SVG, each beside a table with the same numbers.

Invariant: a chart shows nothing that its table does not say; it has a title and a description, and
a colour always has a word beside it.
"""

from collections.abc import Sequence

import msgspec

from trial_cli.output import fit
from trial_cli.render.markup import element

__all__ = ["WIDTH", "ChartRow", "Segment", "chart", "legend", "table", "upto"]

WIDTH = 360
"""Units of a chart across: the points of a phone, so that its words are not shrunk there."""
ROW, THICKNESS = 34, 13
LEAST = 2
"""Units of the smallest part that is drawn, so that one of ten thousand is still seen."""
LABEL = 30
"""Characters of a label; the table has all of it."""


class Segment(msgspec.Struct, frozen=True):
    """A part of a bar, from one place to another of `WIDTH` units."""

    start: int
    """Where it begins."""
    end: int
    """Where it ends."""
    colour: int
    """Which colour of the style sheet, from 1."""


class ChartRow(msgspec.Struct, frozen=True):
    """One row of a chart."""

    label: str
    """What it is."""
    value: str
    """Its number in words."""
    segments: Sequence[Segment]
    """Its parts, from left to right."""


def upto(part: int, whole: int) -> int:
    """Return how many units a part of a whole takes."""
    return WIDTH * part // whole if whole else 0


def chart(name: str, title: str, description: str, rows: Sequence[ChartRow]) -> str:
    """Return a chart.

    Args:
        name: of our own making, unique in the page.
        title: what it is, in a few words.
        description: what it shows, in a sentence.
        rows: its rows.
    """
    height = ROW * len(rows)
    parts = [
        element("title", text=title, id=f"{name}-t"),
        element("desc", text=description, id=f"{name}-d"),
    ]
    for number, row in enumerate(rows):
        top = ROW * number
        value = fit(row.value, LABEL)
        label = fit(row.label, LABEL + LABEL - len(value) - 4)
        parts.append(element("text", text=label, x="0", y=str(top + 12)))
        parts.append(element("text", text=value, class_="v", x=str(WIDTH), y=str(top + 12)))
        parts.append(rectangle(0, WIDTH, top, "ax"))
        parts += [rectangle(one.start, one.end, top, f"z p{one.colour}") for one in row.segments]
    return element(
        "svg",
        *parts,
        role="img",
        viewBox=f"0 0 {WIDTH} {height}",
        aria_labelledby=f"{name}-t",
        aria_describedby=f"{name}-d",
    )


def rectangle(start: int, end: int, top: int, class_: str) -> str:
    """Return a part of a bar, wide enough to be seen and never beyond the end."""
    width = max(end - start, LEAST)
    return element(
        "rect",
        class_=class_,
        x=str(min(start, WIDTH - width)),
        y=str(top + 16),
        width=str(width),
        height=str(THICKNESS),
    )


def legend(entries: Sequence[tuple[int, str]]) -> str:
    """Return what the colours of a chart mean."""
    return element(
        "ul",
        *(
            element("li", element("span", class_=f"y p{colour}"), element("span", text=words))
            for colour, words in entries
        ),
        class_="o",
    )


def table(caption: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table, which scrolls by itself where it is too wide.

    Args:
        caption: what it is.
        names: headings.
        rows: cells, each markup made by `element` or `escaped`; the first of a row names it.
    """
    head = element("tr", *(element("th", text=name, scope="col") for name in names))
    body = [
        element(
            "tr",
            f'<th scope="row">{row[0]}</th>',
            *(f"<td>{cell}</td>" for cell in row[1:]),
        )
        for row in rows
    ]
    inner = element(
        "table",
        element("caption", text=caption),
        element("thead", head),
        element("tbody", *body, joint="\n"),
    )
    return element("div", inner, class_="w", tabindex="0", role="group", aria_label=caption)
