"""A complete set of documents to start from, as package data: dataset, rubric, manifest.

Invariant: the three files are valid as they stand and fit together; a test parses them.
"""

from importlib import resources

__all__ = ["TEMPLATES", "read_template"]

TEMPLATES = ("dataset.jsonl", "rubric.toml", "manifest.toml")
"""Names of the files, in the order in which they are frozen."""


def read_template(name: str) -> bytes:
    """Return the bytes of one of `TEMPLATES`.

    Raises:
        KeyError: there is no template of that name.
    """
    if name not in TEMPLATES:
        raise KeyError(name)
    return resources.files(__name__).joinpath(name).read_bytes()
