"""Key files: made once, readable by their owner only, apart from every ledger."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from trial_ledger import keys
from trial_ledger.errors import InvalidInputError, NotFoundError, StorageError
from trial_ledger.heads import PublicKey, is_signed
from trial_ledger.keys import create_key, default_key_path, load_key, require_apart

KEY = "key.pem"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"LEDGER_KEY": "mine.pem", "XDG_CONFIG_HOME": "/c", "HOME": "/h"}, "mine.pem"),
        ({"XDG_CONFIG_HOME": "/c", "HOME": "/h"}, "/c/trial-ledger/key.pem"),
        ({"XDG_CONFIG_HOME": "relative", "HOME": "/h"}, "/h/.config/trial-ledger/key.pem"),
        ({"LEDGER_KEY": "", "HOME": "/h"}, "/h/.config/trial-ledger/key.pem"),
    ],
)
def test_where_the_key_lies(environ: dict[str, str], expected: str) -> None:
    """The variable names it; else the user's configuration folder holds it (XDG)."""
    assert default_key_path(environ) == Path(expected)


def test_a_user_without_a_home_is_looked_up() -> None:
    """Without $HOME the system's own record of the user is asked."""
    found = default_key_path({})
    assert found == Path("~").expanduser() / ".config" / "trial-ledger" / KEY


def test_a_new_key_is_for_its_owner_only_and_signs(tmp_path: Path) -> None:
    """The file is made with mode 0600, read again as the same key, and never written over."""
    path = tmp_path / "a" / "b" / KEY
    made = create_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == [KEY]
    read = load_key(path)
    assert read.key == made.key
    assert is_signed(PublicKey(name="n", key=made.key), "text", read.sign(b"text"))
    content = path.read_bytes()
    with pytest.raises(StorageError, match=f"{KEY} exists") as caught:
        create_key(path)
    assert caught.value.hint == "ledger key show; another file: --key PATH"
    assert path.read_bytes() == content


def test_two_new_keys_differ(tmp_path: Path) -> None:
    """A key is random."""
    assert create_key(tmp_path / "one").key != create_key(tmp_path / "two").key


def test_a_place_that_takes_no_file_is_said(tmp_path: Path) -> None:
    """A folder that is a file is an error of storage that names the key."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError, match=r"cannot write the key file .*file/key\.pem"):
        create_key(tmp_path / "file" / KEY)
    (tmp_path / KEY).symlink_to(tmp_path / "nowhere")
    with pytest.raises(StorageError, match=f"{KEY} exists"):
        create_key(tmp_path / KEY)


def test_a_key_that_is_not_wholly_written_is_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an error nothing of it is there: the next try is not told that it exists."""

    def refused(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", refused)
        with pytest.raises(StorageError, match="No space left on device"):
            create_key(tmp_path / KEY)
    assert list(tmp_path.iterdir()) == []
    assert create_key(tmp_path / KEY).key


def test_a_key_that_is_not_there(tmp_path: Path) -> None:
    """A missing file is not found, with the command that makes one."""
    with pytest.raises(NotFoundError, match="no key file") as caught:
        load_key(tmp_path / KEY)
    assert caught.value.hint == "ledger key new"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o610, 0o602, 0o644])
def test_a_key_that_others_may_use_is_refused(tmp_path: Path, mode: int) -> None:
    """Any right of anybody else is one too many; the hint repairs it."""
    path = tmp_path / KEY
    create_key(path)
    path.chmod(mode)
    with pytest.raises(StorageError, match=f"may be used by others .mode {mode:o}.") as caught:
        load_key(path)
    assert caught.value.hint == f"chmod 600 {path}"
    path.chmod(0o400)
    assert load_key(path).key


def test_a_folder_is_no_key(tmp_path: Path) -> None:
    """What cannot be read at all is an error of storage."""
    with pytest.raises(StorageError, match="cannot read the key file"):
        load_key(tmp_path)


def private_bytes(
    private: Ed25519PrivateKey | X25519PrivateKey,
    protection: serialization.KeySerializationEncryption,
) -> bytes:
    """Return a private key in PEM."""
    return private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, protection
    )


OPEN = serialization.NoEncryption()
OTHER_FILES = {
    "nothing": b"",
    "no PEM": b"a key",
    "another kind of key": private_bytes(X25519PrivateKey.generate(), OPEN),
    "a password": private_bytes(
        Ed25519PrivateKey.generate(), serialization.BestAvailableEncryption(b"secret")
    ),
    "cut": private_bytes(Ed25519PrivateKey.generate(), OPEN)[:60],
    "an unknown kind": (
        b"-----BEGIN PRIVATE KEY-----\nMBACAQAwBQYDKgMEBQAwBAQC\n-----END PRIVATE KEY-----\n"
    ),
}


@pytest.mark.parametrize("content", OTHER_FILES.values(), ids=OTHER_FILES)
def test_a_file_that_holds_no_such_key_is_refused(tmp_path: Path, content: bytes) -> None:
    """Other keys, protected ones and nonsense are one fault that says what is expected."""
    path = tmp_path / KEY
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(InvalidInputError) as caught:
        load_key(path)
    (problem,) = caught.value.problems
    assert problem.message == "no private Ed25519 key without a password"
    assert problem.source == str(path)
    assert "PRIVATE" not in str(problem)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_openssl_makes_keys_for_us_and_reads_ours(tmp_path: Path) -> None:
    """A key file is an ordinary PEM of PKCS 8, both ways."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    subprocess.run(
        ["openssl", "genpkey", "-algorithm", "ed25519", "-out", str(theirs)],
        check=True,
        capture_output=True,
    )
    theirs.chmod(0o600)
    assert len(load_key(theirs).key) == 32
    made = create_key(ours)
    shown = subprocess.run(
        ["openssl", "pkey", "-in", str(ours), "-pubout", "-outform", "DER"],
        check=True,
        capture_output=True,
    )
    assert shown.stdout.endswith(made.key)


def test_a_key_beside_a_ledger_is_refused(tmp_path: Path) -> None:
    """Whoever copies the folder of a ledger would have its key: links are followed."""
    for folder in ("ledgers", "keys"):
        (tmp_path / folder).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "ledgers")
    ledger = tmp_path / "ledgers" / "trials.ledger"
    require_apart(tmp_path / "keys" / KEY, ledger)
    for beside in (tmp_path / "ledgers" / KEY, tmp_path / "link" / KEY):
        with pytest.raises(StorageError, match="lies in the folder of the ledger") as caught:
            require_apart(beside, ledger)
        assert caught.value.hint == "move it elsewhere, or name another with LEDGER_KEY"


def test_what_a_module_gives_away() -> None:
    """Nothing that returns private bytes is exported."""
    assert set(keys.__all__) == {"create_key", "default_key_path", "load_key", "require_apart"}
