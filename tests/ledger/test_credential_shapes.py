"""C11: what looks like a credential is found in any text, and innocent text is left alone."""

import json
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trial_ledger.credential_shapes import Credential, credentials_in, is_varied

RANDOM = Random(17)  # noqa: S311 - made up
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def made_up(length: int, alphabet: str = LETTERS) -> str:
    """Return characters of a key that nobody has; a digit is always among them."""
    return "".join(RANDOM.choice(alphabet) for _ in range(length - 1)) + "7"


KEYS = {
    "sk": "sk-" + made_up(48),
    "sk live": "sk_live_" + made_up(24),
    "aws": "AKIA" + made_up(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "github": "ghp_" + made_up(36),
    "github fine": "github_pat_" + made_up(60),
    "gitlab": "glpat-" + made_up(20),
    "google": "AIza" + made_up(35),
    "hugging face": "hf_" + made_up(34),
    "slack": "xoxb-" + made_up(24),
    "sendgrid": f"SG.{made_up(22)}.{made_up(43)}",
    "npm": "npm_" + made_up(36),
    "pypi": "pypi-" + made_up(60),
    "jwt": f"eyJ{made_up(20)}.eyJ{made_up(40)}.{made_up(30)}",
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("around", ["{}", "the key is {}.", '{{"text": "{}"}}', "x={}&y=1"])
def test_c11_keys_of_known_forms_are_found_at_their_place(key: str, around: str) -> None:
    """Whatever stands around it, a key is found whole, and nothing of it is told."""
    content = around.format(key).encode()
    (found,) = credentials_in(content)
    assert content[found.start : found.start + len(key)].decode() == key
    assert key[-16:] not in found.what


NAMED = {
    "json": ('{"api_key": "VALUE"}', True),
    "nested json": ('{"a": [{"x-api-key": "VALUE", "b": 1}]}', True),
    "a header": ("GET / HTTP/1.1\nAuthorization: VALUE\nAccept: text/html", True),
    "a bearer header": ("authorization: Bearer VALUE", True),
    "basic": ("Proxy-Authorization: Basic VALUE==", True),
    "a parameter": ("https://x.example/?q=towns&access_token=VALUE&page=2", True),
    "a password in a url": ("postgres://user:VALUE@db.example/1", True),
    "innocent json": ('{"stop_token": "VALUE", "max_tokens": 5}', False),
    "another header": ("Etag: VALUE", False),
    "an innocent url": ("https://x.example/?q=VALUE", False),
}


@pytest.mark.parametrize(("text", "is_one"), NAMED.values(), ids=NAMED)
def test_c11_fields_that_carry_credentials_are_looked_at(text: str, is_one: bool) -> None:
    """The value of a field, header or parameter with such a name is found, of no other."""
    value = "q8Zr2LmX0pTbY5nW1cKd"
    found = credentials_in(text.replace("VALUE", value).encode())
    assert [value not in one.what for one in found] == ([True] if is_one else [])


INNOCENT = [
    b"",
    b"The token of my esteem is the word sk-",
    b'{"token": " the", "logprob": "-0.5"}',
    b'{"password": "hunter2"}',
    b'{"authorization": "[credential removed]"}',
    b'{"api_key": "xxxxxxxxxxxxxxxxxxxxxxxx"}',
    b"api-key: use the one that you were given, 16 characters long",
    b"class task-sk-learn-classifier-with-20-parameters-for-nothing",
    b"sk-this-is-a-long-name-of-a-style-class-without-digits",
    b"see https://example.org:8080/a@b and mailto:a@b.example",
    b"-----BEGIN CERTIFICATE-----",
    b"5f3759df" * 8,
]


@pytest.mark.parametrize("content", INNOCENT)
def test_c11_innocent_text_is_left_alone(content: bytes) -> None:
    """Words, placeholders, short values, tokens of a model and hashes are no credentials."""
    assert credentials_in(content) == []


def test_c11_a_private_key_is_found() -> None:
    """By its first line, whatever its algorithm."""
    for name in ("", "RSA ", "EC ", "OPENSSH "):
        content = f"x\n-----BEGIN {name}PRIVATE KEY-----\nabc".encode()
        assert [one.what for one in credentials_in(content)] == ["private key"]


def test_c11_one_credential_is_one_finding() -> None:
    """A key of a known form in a field named like one is found once, as what begins first."""
    content = json.dumps({"api_key": KEYS["sk"], "password": KEYS["github"]}).encode()
    found = credentials_in(content)
    assert len(found) == 2
    assert all(left.end <= right.start for left, right in pairwise(found))


@given(st.binary(max_size=300), st.integers(0, 300))
def test_c11_no_bytes_break_the_search(noise: bytes, cut: int) -> None:
    """Any bytes around a key, cut anywhere, give findings inside them, in order."""
    content = (noise + KEYS["sk"].encode() + b' {"password": "' + noise)[cut:]
    found = credentials_in(content)
    assert found == sorted(found)
    for one in found:
        assert isinstance(one, Credential)
        assert 0 <= one.start < one.end <= len(content)


def test_a_placeholder_has_few_characters() -> None:
    """Many different characters and a digit make a key."""
    assert is_varied(b"abcdefg7")
    assert not is_varied(b"abcdefgh")
    assert not is_varied(b"aaaaaaa7")
