"""One place from which every event of an import is written.

Invariant: an event's id depends on the source's bytes and the place in them alone; an act of a
person carries that person's name, everything else the importer as its actor, without a version.
"""

from collections.abc import Mapping

import msgspec

from trial_ledger.events import Actor
from trial_ledger.identifiers import TrialKey
from trial_ledger.importing.lenient_json import json_bytes
from trial_ledger.importing.source import event_id
from trial_ledger.submission import NewText, Submission

__all__ = ["Emitter", "gold_text", "json_text", "plain_text"]


class Emitter(msgspec.Struct, frozen=True, kw_only=True):
    """Writes the events of one run, or of one trial in it."""

    source_format: str
    """Format of the source, as `inspect`; the importer is named after it."""
    run: str
    """Name of the run."""
    digest: str
    """BLAKE3 of the source."""
    path: str
    """Place in the source that all events of this emitter come from."""
    trial: TrialKey | None = None
    """The trial; None for events of the run."""

    def event(
        self,
        kind: str,
        place: str,
        data: Mapping[str, object],
        *,
        at: str | None = None,
        actor: Actor | None = None,
    ) -> Submission:
        """Return one event; `place` tells it from the others of its kind under this path."""
        return Submission(
            kind=kind,
            run=self.run,
            trial=self.trial,
            data={key: value for key, value in data.items() if value is not None},
            id=event_id(self.source_format, self.digest, f"{self.path}/{place}", kind),
            at=at,
            at_unknown=at is None,
            actor=actor or Actor(role="importer", name=self.source_format),
        )


def plain_text(text: str | None) -> NewText | None:
    """Return a text for a sealed blob, None where there is none."""
    return None if text is None else NewText.of(text)


def gold_text(text: str | None) -> NewText | None:
    """Return a text that may show gold, None where there is none."""
    return None if text is None else NewText(content=text.encode(), class_="gold")


def json_text(value: object, *, gold: bool = False) -> NewText:
    """Return a value as a JSON text."""
    return NewText(
        content=json_bytes(value), media="application/json", class_="gold" if gold else None
    )
