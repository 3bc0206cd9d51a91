"""Looks through a whole ledger for credentials, secrets and canaries (C3, C11).

Invariant: nothing that is found is repeated: a finding says where it is and of what form.
"""

from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from trial_ledger.book import Ledger
from trial_ledger.credential_shapes import credentials_in
from trial_ledger.documents.leaks import find_leak
from trial_ledger.errors import NotFoundError
from trial_ledger.events import BlobRef
from trial_ledger.mentions import texts_of
from trial_ledger.scrubbing import Scrubber
from trial_ledger.sealing import secret_names_of_all
from trial_ledger.view import Stored

__all__ = ["Scan", "ScanFinding", "scan"]

MAX_FINDINGS = 1_000
"""After so many the rest is counted, not listed."""

EVIDENCE = frozenset({
    ("call.finished", "response"),
    ("failure.occurred", "message"),
    ("failure.occurred", "detail"),
    ("answer.submitted", "answer"),
    ("answer.submitted", "citations"),
    ("judgment.recorded", "raw"),
    ("judgment.failed", "raw"),
    ("source.imported", "content"),
})  # fmt: skip
"""Texts that come from outside: what looks like a credential in them is evidence and kept (C11)."""

DOCUMENT = "document"
"""The field of what stands in the document of an event itself."""

Sort = Literal["credential", "secret", "canary"]


class ScanFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that looks as if it did not belong in a ledger."""

    sort: Sort
    """`credential`: of a form that keys have; `secret`: the value of a variable that a manifest
    names; `canary`: that of a registered dataset, where an agent could see it or showed it."""
    what: str
    """Its form, or the name of the variable or dataset; never the thing itself."""
    seq: int
    """Which event holds it."""
    kind: str
    """What kind of event."""
    field: str
    """In which text of it; `document` for the event's own fields, which nothing erases."""
    place: int | None
    """Its first byte in that text; None where it is spelled otherwise there."""
    blob: str | None
    """The text's blob; None for a document."""
    class_: str | None
    """The blob's class."""
    is_evidence: bool
    """Whether it came from outside, in a response or an answer, and is kept for that (C11)."""
    command: str | None
    """What redacts it; None for a document and for a frozen text: revoke it."""


class Scan(msgspec.Struct, kw_only=True):
    """What a scan found, and what it looked at."""

    findings: list[ScanFinding]
    """In the order of the log."""
    unlisted: int = 0
    """Findings beyond those listed."""
    evidence: int = 0
    """How many of all findings are evidence."""
    events: int = 0
    """Documents that were looked through."""
    texts: int = 0
    """Texts that were looked through."""
    bytes: int = 0
    """How many bytes both have."""
    redacted: int = 0
    """Texts that are redacted."""
    absent: int = 0
    """Gold texts that could not be looked through, since the gold file is not here."""
    secrets: list[str] = []
    """Variables whose values were looked for."""
    unset: list[str] = []
    """Variables that manifests name and that have no value here, so that none was looked for."""
    canaries: list[str] = []
    """Datasets whose canaries were looked for."""
    unknown_canaries: list[str] = []
    """Datasets whose canaries lie in the gold file, which is not here."""

    @property
    def leaks(self) -> int:
        """How many findings are no evidence."""
        return len(self.findings) + self.unlisted - self.evidence

    def add(self, finding: ScanFinding) -> None:
        """Add a finding."""
        self.evidence += finding.is_evidence
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(finding)
        else:
            self.unlisted += 1


class Scanner:
    """What is looked for."""

    def __init__(
        self, secrets: Scrubber, canaries: Mapping[str, str], *, credentials: bool
    ) -> None:
        self.secrets = secrets
        self.canaries = canaries
        self.credentials = credentials

    def found_in(self, content: bytes, *, is_gold: bool) -> Iterator[tuple[Sort, str, int | None]]:
        """Yield (sort, what it is, its place) of everything in some bytes.

        A canary in a gold text is where it belongs.
        """
        if self.credentials:
            spans: list[tuple[int, int]] = []
            for form, marker in self.secrets.forms:
                place = content.find(form)
                if place >= 0 and not any(start <= place < end for start, end in spans):
                    spans.append((place, place + len(form)))
                    yield "secret", f"value of {marker.decode()[8:-1]}", place
            for start, end, what in credentials_in(content):
                if not any(start < last and first < end for first, last in spans):
                    yield "credential", what, start
        for dataset, canary in () if is_gold else self.canaries.items():
            if find_leak(content.decode("utf-8", "replace"), (), canary) is not None:
                place = content.find(canary.encode())
                what = f"canary of {dataset}"
                yield "canary", what, None if place < 0 else place


def scan(ledger: Ledger, *, credentials: bool = True) -> Scan:
    """Look through every document and every text of a ledger.

    Args:
        ledger: an open ledger; only read.
        credentials: whether to look for credentials and secrets too, or for canaries only.

    Raises:
        VerificationError: something is not what was written.
    """
    report = Scan(findings=[])
    names = sorted(secret_names_of_all(ledger.registry())) if credentials else []
    secrets = Scrubber(ledger.tools.environ, frozenset(names))
    known = {marker[8:-1] for marker in secrets.markers.values()}
    report.secrets = [name for name in names if name in known]
    report.unset = [name for name in names if name not in known]
    scanner = Scanner(secrets, canaries_of(ledger, report), credentials=credentials)
    for stored in ledger.events():
        scan_event(ledger, stored, scanner, report)
    return report


def canaries_of(ledger: Ledger, report: Scan) -> dict[str, str]:
    """Return the canary of each dataset that has one, where the gold file is here."""
    found: dict[str, str] = {}
    for name, data in ledger.registry().datasets.items():
        if data.canary is None:
            continue
        content = None
        if ledger.gold is not None:
            content = ledger.gold.blobs.read_named(bytes.fromhex(data.canary))
        if content is None:
            report.unknown_canaries.append(name)
        else:
            report.canaries.append(name)
            found[name] = content.decode("utf-8")
    return found


def scan_event(ledger: Ledger, stored: Stored, scanner: Scanner, report: Scan) -> None:
    """Look through one event: its document, then its texts."""
    report.events += 1
    add_findings(stored, DOCUMENT, None, stored.document, scanner, report)
    for field, reference in texts_of(stored):
        try:
            content = ledger.blob(reference)
        except NotFoundError:
            report.absent += 1  # the report says how many
            continue
        if content is None:
            report.redacted += 1
            continue
        report.texts += 1
        add_findings(stored, field, reference, content, scanner, report)


def add_findings(
    stored: Stored,
    field: str,
    reference: BlobRef | None,
    content: bytes,
    scanner: Scanner,
    report: Scan,
) -> None:
    """Look through some bytes of an event."""
    report.bytes += len(content)
    event = stored.event
    class_ = None if reference is None else reference.class_
    for sort, what, place in scanner.found_in(content, is_gold=class_ == "gold"):
        command = None
        if reference is not None and class_ != "plain":
            command = f"ledger redact {reference.blob[:16]} --reason TEXT"
        report.add(
            ScanFinding(
                sort=sort,
                what=what,
                seq=event.seq,
                kind=event.kind,
                field=field,
                place=place,
                blob=None if reference is None else reference.blob,
                class_=class_,
                is_evidence=sort == "credential" and (event.kind, field) in EVIDENCE,
                command=command,
            )
        )
