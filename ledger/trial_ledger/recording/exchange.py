"""One request of a harness and what came of it, told to the ledger; no transport's own types.

Invariant: one pair of events an attempt; the request that is recorded holds no credential; a call
to a place that the manifest does not name is disclosed before it is made (C11, C24).
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit, urlunsplit

import msgspec
from blake3 import blake3

from trial_ledger.documents.credentials import is_credential_name
from trial_ledger.documents.manifest_structs import Manifest
from trial_ledger.events import FailureClass, Purpose, Served
from trial_ledger.kinds.base import Fault
from trial_ledger.recording.calls import Attempts, CallRecorder
from trial_ledger.recording.journal import Written
from trial_ledger.recording.reading import Reading, found_nothing, reading_of
from trial_ledger.recording.trials import TrialRecorder
from trial_ledger.running.search.base import member, named, read_json
from trial_ledger.running.search.failures import fault_of, rejection
from trial_ledger.scrubbing import REMOVED, without_credentials
from trial_ledger.submission import NewText

__all__ = ["Came", "Exchange", "Sent"]

FORM = "application/x-www-form-urlencoded"


class Sent(NamedTuple):
    """A request as it leaves."""

    method: str
    """HTTP method."""
    url: str
    """Where to."""
    headers: Mapping[str, str]
    """Headers, names in lower case."""
    content: bytes
    """Body."""


class Came(NamedTuple):
    """A response whose body came whole."""

    status: int
    """HTTP status."""
    headers: Mapping[str, str]
    """Headers, names in lower case."""
    content: bytes
    """Body, not compressed."""

    @property
    def media(self) -> str:
        """Media type of the body."""
        return media_of(self.headers)


def media_of(headers: Mapping[str, str]) -> str:
    """Return a media type without its parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() or "text/plain"


def origin_of(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of a URL; no port where it is the usual one."""
    parts = urlsplit(url)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname or "", None if parts.port == usual else parts.port


def endpoint_of(manifest: Manifest, url: str) -> str | None:
    """Return the manifest's name of the endpoint that a URL belongs to; None for none.

    Of several at the same place the one with the longest path wins.
    """
    path = urlsplit(url).path
    found: list[tuple[int, str]] = []
    for name, endpoint in manifest.endpoints.items():
        if endpoint.url is not None and origin_of(endpoint.url) == origin_of(url):
            own = urlsplit(endpoint.url).path.rstrip("/")
            is_below = path == own or path.startswith(f"{own}/")
            found.append((len(own) if is_below else -1, name))
    return max(found)[1] if found else None


def purpose_of(manifest: Manifest, endpoint: str | None, body: object) -> Purpose:
    """Return whose account a call belongs to (C19): a model's where it is asked like one."""
    models = {model.endpoint for model in manifest.models.values()}
    if endpoint is None:
        return "model" if named(member(body, "model")) else "search"
    return "model" if endpoint in models else "search"


def shown(sent: Sent, key_header: str | None) -> NewText:
    """Return a request as it is recorded: credentials in headers, URL and body removed."""
    removed = REMOVED.decode()
    headers = {
        name: removed if name == key_header or is_credential_name(name, header=True) else value
        for name, value in sent.headers.items()
    }
    parts = urlsplit(sent.url)
    place = parts.netloc.rpartition("@")[2]
    url = without_credentials(urlunsplit(parts._replace(netloc=place)).encode())
    record = {"method": sent.method, "url": url.decode(), "headers": headers}
    content = sent.content
    if media_of(sent.headers) == FORM:
        content = without_credentials(b"&" + content)[1:]
    if read_json(content) is not None:
        body: object = msgspec.Raw(without_credentials(content))
    else:
        body = without_credentials(content).decode("utf-8", "replace")
    return NewText(content=msgspec.json.encode({**record, "body": body}), media="application/json")


class Exchange:
    """One attempt of a request within a trial.

    Args:
        trial: the trial.
        sent: the request.
        endpoint: the manifest's name of the endpoint; None finds it by the URL.
    """

    def __init__(self, trial: TrialRecorder, sent: Sent, endpoint: str | None = None) -> None:
        manifest = trial.run.manifest
        self.trial = trial
        self.sent = sent
        self.digest = blake3(f"{sent.method} {sent.url}\n".encode() + sent.content).hexdigest()
        self.endpoint = endpoint or endpoint_of(manifest, sent.url)
        before: Attempts | None = trial.attempts.get(self.digest)
        self.before = before.occurrences if before else []
        body = read_json(sent.content)
        known = None if self.endpoint is None else manifest.endpoints[self.endpoint]
        self.call: CallRecorder = trial.call(
            purpose_of(manifest, self.endpoint, body),
            endpoint=self.endpoint or named(urlsplit(sent.url).netloc.rpartition("@")[2]) or "?",
            name=named(member(body, "model")),
            request=shown(sent, None if known is None else known.key_header.lower()),
            attempt=1 if before is None else before.number + 1,
            retry_of=None if before is None else before.call,
            occurrence=None if self.endpoint is not None else self.disclosed(),
        )

    def disclosed(self) -> str:
        """Return the occurrence that discloses a place which the manifest does not name (C24)."""
        place = urlsplit(self.sent.url).netloc.rpartition("@")[2]
        found = self.trial.disclosed.get(place)
        if found is None:
            message = f"{place} is asked, which the manifest does not name"
            told = self.trial.fail("endpoint_fallback", message, fault="harness", impact="degraded")
            found = self.trial.disclosed[place] = told.occurrence
        return found

    @property
    def provider(self) -> Fault:
        """Whose fault it is when the other side fails."""
        provider = self.call.provider
        assert provider is not None, "a request goes to a model or a search"
        return provider

    def ended(self, tell: Callable[[], None]) -> Written:
        """Tell how it ended, unless its trial has ended meanwhile and called it lost."""
        if self.call.is_over:
            return self.trial.journal.push([])
        tell()
        return self.remember(self.call.end(None))

    def remember(self, written: Written) -> Written:
        """Keep a failure for the next attempt; call the earlier ones recovered after a success."""
        occurrence = self.call.occurrence
        if occurrence is not None:
            self.trial.attempts[self.digest] = Attempts(
                call=self.call.id, number=self.call.attempt, occurrences=[*self.before, occurrence]
            )
            return written
        self.trial.attempts.pop(self.digest, None)
        for one in self.before:
            written = self.trial.recovered(one, "retry", self.call.id)
        return written

    def explain(self, error: BaseException) -> None:
        """Remember which failure an exception is, should it end the trial."""
        assert self.call.occurrence is not None, "a call that broke has failed, or was lost"
        self.trial.recorded = (error, self.call.occurrence)

    def came(self, came: Came) -> Written:
        """Tell of a response whose body came whole."""
        return self.ended(lambda: self.understood(came))

    def understood(self, came: Came) -> None:
        """Tell what a whole response means."""
        if HTTPStatus.MULTIPLE_CHOICES <= came.status < HTTPStatus.BAD_REQUEST:
            self.redirected(came)
            return
        if came.status >= HTTPStatus.BAD_REQUEST:
            self.refused(came)
            return
        reading = reading_of(came.content, came.media)
        is_api = self.endpoint is not None and came.status != HTTPStatus.NO_CONTENT
        if is_api and not reading.is_readable:
            message = f"HTTP {came.status} with a body of {came.media} that is not JSON"
            self.failed("decode_error", message, fault=self.provider, content=came)
            return
        failure = reading.failure
        if failure is not None:
            self.failed(
                failure.class_,
                f"HTTP {came.status} with an error: {failure.message}",
                fault=self.provider,
                content=came,
                detail_class=failure.detail_class,
            )
            return
        for trouble in reading.troubles:
            self.call.noted(
                trouble.class_,
                trouble.message,
                fault=self.provider,
                detail_class=trouble.detail_class,
            )
        self.respond(came, reading)

    def respond(self, came: Came, reading: Reading) -> None:
        """Tell of a success."""
        self.call.respond(
            came.content,
            media=came.media,
            status=reading.status,
            usage=reading.usage,
            cost=reading.cost,
            served=Served(
                model=reading.model, endpoint=self.endpoint, fingerprint=reading.fingerprint
            ),
        )

    def redirected(self, came: Came) -> None:
        """Tell of a redirect: to another host it is a failure by itself (C24)."""
        try:
            target = urljoin(self.sent.url, came.headers.get("location", ""))
            is_near = origin_of(target) == origin_of(self.sent.url)
        except ValueError as error:
            message = f"HTTP {came.status} redirects to no URL: {error}"
            self.failed("decode_error", message, fault=self.provider, content=came)
            return
        if is_near:
            self.call.respond(came.content, media=came.media)
            return
        place = urlsplit(target).netloc.rpartition("@")[2]
        message = f"HTTP {came.status} redirects to {place}"
        self.failed("endpoint_fallback", message, fault=self.provider, content=came)
        assert self.call.occurrence is not None, "told above"
        self.trial.disclosed.setdefault(place, self.call.occurrence)

    def refused(self, came: Came) -> None:
        """Tell of a response that is no success; a search that found nothing is one."""
        body = read_json(came.content)
        if found_nothing(body):
            self.call.respond(came.content, media=came.media, status="empty")
            return
        found = rejection(
            came.status,
            came.headers,
            body,
            provider=self.provider,
            now=datetime.now(UTC),
        )
        wait = "" if found.wait_ms is None else f"; asks to wait {found.wait_ms} ms"
        message = f"{found.message}{wait}"
        self.failed(
            found.class_, message, fault=found.fault, content=came, detail_class=found.detail_class
        )

    def failed(
        self,
        class_: FailureClass,
        message: str,
        *,
        fault: Fault | None,
        content: Came,
        detail_class: str | None = None,
    ) -> None:
        """Tell of a failure, with what came."""
        self.call.respond(content.content, media=content.media, status="failed", delivered=False)
        self.call.fail(class_, message, fault=fault, detail_class=detail_class)

    def broke(
        self, class_: FailureClass, message: str, *, detail_class: str, received: bytes | None,
        expected: int | None = None,
    ) -> Written:  # fmt: skip
        """Tell that no whole response came.

        Args:
            class_: `response_lost` where it was cut off.
            message: what was reported.
            detail_class: name of the error.
            received: what came of the body; None where no response had begun.
            expected: bytes that were announced; None where unknown.
        """

        def tell() -> None:
            if class_ == "response_lost":
                count = None if received is None else len(received)
                self.call.lost(message, received=count, expected=expected)
                return
            self.call.respond(received, media="text/plain", status="failed", delivered=False)
            is_stop = class_ == "cancelled"
            fault: Fault = "harness" if is_stop else fault_of(class_, self.provider)
            self.call.fail(class_, message, fault=fault, detail_class=detail_class)

        return self.ended(tell)
