"""Scrubbing: a known secret reaches no text and no field; credentials leave requests (C11)."""

import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_cases import trial
from trial_ledger.errors import RuleError
from trial_ledger.events import Actor, CallFinished, CallStarted, Grader, JudgmentRecorded, Served
from trial_ledger.scrubbing import Scrubber
from trial_ledger.submission import NewText

SECRET = 'hunter"22é'  # noqa: S105 - made up
LONG = "x" * 100 + "_api"
SCRUBBER = Scrubber({"KEY": SECRET, "OTHER": "not named"}, frozenset({"KEY", "ABSENT"}))


def scrubbed(field: str, content: str) -> str:
    """Return a text without secrets."""
    return SCRUBBER.text(field, NewText.of(content)).content.decode()


@given(st.text(), st.text(), st.sampled_from(["input", "request", "response", "reason"]))
def test_no_text_holds_the_secret(before: str, after: str, field: str) -> None:
    """Where a secret stands, as it is, inside JSON or a URL, a marker stands there then."""
    escaped = json.dumps(SECRET, ensure_ascii=False)[1:-1]
    for form in (SECRET, escaped, json.dumps(SECRET)[1:-1], quote(SECRET, safe="")):
        content = (
            before.encode("utf-8", "replace") + form.encode() + after.encode("utf-8", "replace")
        )
        text = SCRUBBER.text(field, NewText(content=content))
        assert SECRET.encode() not in text.content
        assert form.encode() not in text.content


def test_a_text_without_secrets_is_left_as_it_is() -> None:
    """What holds none comes back as the same object."""
    text = NewText.of("hunter and 22")
    assert SCRUBBER.text("input", text) is text


def test_a_marker_names_the_variable() -> None:
    """The marker tells which variable's value stood there."""
    assert scrubbed("response", f"key {SECRET}!") == "key [secret KEY]!"
    media = SCRUBBER.text("input", NewText(content=b"x", media=f"text/{SECRET}"))
    assert media.media == "text/[secret KEY]"


def test_a_secret_inside_another_leaves_no_rest() -> None:
    """The longer of two secrets goes first, so that its end does not stay."""
    scrubber = Scrubber({"A": "12345678", "B": "12345678-rest"}, frozenset({"A", "B"}))
    text = scrubber.text("input", NewText.of("12345678-rest and 12345678"))
    assert text.content == b"[secret B] and [secret A]"


def test_a_short_value_is_no_secret() -> None:
    """Seven characters are a word; blanks around a secret are not part of it."""
    scrubber = Scrubber({"A": "seven77", "B": " eight888\n"}, frozenset({"A", "B"}))
    text = scrubber.text("input", NewText.of("seven77 eight888"))
    assert text.content == b"seven77 [secret B]"


def test_a_secret_of_bytes_that_are_no_text() -> None:
    """A variable whose bytes are no UTF-8 is found as these bytes."""
    scrubber = Scrubber(
        {"A": b"hunter\xff\xfe22".decode("utf-8", "surrogateescape")}, frozenset("A")
    )
    text = scrubber.text("input", NewText(content=b"is hunter\xff\xfe22"))
    assert text.content == b"is [secret A]"
    data = CallStarted(call="hunter", purpose="model")
    assert scrubber.data(data) is data


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ('{"Authorization": "Bearer abc"}', '{"Authorization": "[credential removed]"}'),
        ('{"x-api-key":"a\\"b","q":"c"}', '{"x-api-key":"[credential removed]","q":"c"}'),
        ('{"x-goog-api-key" : "a"}', '{"x-goog-api-key" : "[credential removed]"}'),
        ('{"Cookie": "s=1", "api_key": "k"}',
         '{"Cookie": "[credential removed]", "api_key": "[credential removed]"}'),
        ("POST / HTTP/1.1\r\nAuthorization: Bearer abc\r\nHost: a",
         "POST / HTTP/1.1\r\nAuthorization: [credential removed]\r\nHost: a"),
        ("GET /s?q=1&api_key=abc&n=2", "GET /s?q=1&api_key=[credential removed]&n=2"),
        ('{"max_tokens": "5", "stop_token": "x", "author": "me"}', None),
        ("authorization is needed: see token list", None),
        ('{"api_key": "", "é": "x", "a": "\\"", "b": 1}', None),
        ('{"token": "a\\": \\"b", "c": "d"}', '{"token": "[credential removed]", "c": "d"}'),
        (f'{{"{LONG}_key": "k"}}', f'{{"{LONG}_key": "[credential removed]"}}'),
    ],
)  # fmt: skip
def test_credentials_leave_requests(request_text: str, expected: str | None) -> None:
    """Header and key fields known to carry credentials are replaced, others are evidence."""
    assert scrubbed("request", request_text) == (expected or request_text)


def test_credentials_in_a_response_are_evidence() -> None:
    """What a provider sent back stays, sealed, whatever it looks like."""
    text = '{"Authorization": "Bearer abc"}'
    assert scrubbed("response", text) == text


def test_short_fields_get_the_marker() -> None:
    """Names, members of lists and of mappings are scrubbed as texts are."""
    data = CallFinished(
        call="c1", status="ok", served=Served(model=f"m {SECRET}", endpoint=SECRET, fingerprint="f")
    )
    found = SCRUBBER.data(data)
    assert isinstance(found, CallFinished)
    assert found.served == Served(model="m [secret KEY]", endpoint="[secret KEY]", fingerprint="f")
    judgment = JudgmentRecorded(
        judgment="j", metric="m", by="code", grader=Grader(name="g"), calls=("c1", SECRET)
    )
    marked = SCRUBBER.data(judgment)
    assert isinstance(marked, JudgmentRecorded)
    assert marked.calls == ("c1", "[secret KEY]")


def test_data_without_secrets_is_left_as_it_is() -> None:
    """Without a secret in it, or without any secret at all, data is the same object."""
    data = CallStarted(call="c1", purpose="model")
    assert SCRUBBER.data(data) is data
    assert Scrubber({}, frozenset({"KEY"})).data(data) is data


@pytest.mark.parametrize(("secret", "field"), [("a" * 64, "data.prompt"), ("incorrect", "data")])
def test_a_secret_where_no_marker_fits_is_refused(secret: str, field: str) -> None:
    """Where a hash or a fixed word is the secret, the event is refused and nothing is shown."""
    scrubber = Scrubber({"KEY": secret}, frozenset({"KEY"}))
    data = JudgmentRecorded(
        judgment="j", metric="m", by="code", grader=Grader(name="g"),
        verdict="incorrect", prompt="a" * 64,
    )  # fmt: skip
    with pytest.raises(RuleError) as caught:
        scrubber.data(data)
    assert (caught.value.clause, caught.value.field) == ("C11", field)
    assert "[secret KEY]" in caught.value.message
    assert secret not in caught.value.message


def test_who_and_which_trial_hold_no_secret() -> None:
    """A secret in an actor or a trial key is refused: these are names, not texts."""
    SCRUBBER.refuse("actor", Actor(role="harness", name="h"))
    SCRUBBER.refuse("trial", trial("q1"))
    with pytest.raises(RuleError, match=r"actor|environment variable: \[secret KEY\]"):
        SCRUBBER.refuse("actor", Actor(role="harness", name=SECRET))
    with pytest.raises(RuleError) as caught:
        SCRUBBER.refuse("trial", trial("q1", session=f"s-{SECRET}"))
    assert caught.value.field == "trial"
