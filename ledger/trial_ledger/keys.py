"""Key files: the private Ed25519 key with which a person's ledgers sign their heads.

Invariant: a key file is readable by its owner only and lies in no folder that holds a ledger, so
that whoever copies the ledger has not got the key; private bytes are never shown or stored.
"""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from trial_ledger.durable import sync_folder
from trial_ledger.errors import InvalidInputError, NotFoundError, StorageError
from trial_ledger.heads import Signer

__all__ = ["create_key", "default_key_path", "load_key", "require_apart"]

OWNER_ONLY = 0o600
OTHERS = stat.S_IRWXG | stat.S_IRWXO
LARGEST = 10_000
"""Bytes; a key of ours has about 120."""


def default_key_path(environ: Mapping[str, str]) -> Path:
    """Return where the key is kept: `$LEDGER_KEY`, else in the user's configuration folder."""
    named = environ.get("LEDGER_KEY") or ""
    if named:
        return Path(named)
    base = environ.get("XDG_CONFIG_HOME") or ""
    home = Path(environ.get("HOME") or "~").expanduser() / ".config"
    return (Path(base) if base.startswith("/") else home) / "trial-ledger" / "key.pem"


def create_key(path: Path) -> Signer:
    """Make a new key file, in PEM (PKCS 8), which openssl reads too.

    Raises:
        StorageError: something of that name exists, or it cannot be written.
    """
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - slow, seldom needed
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 - likewise
        Ed25519PrivateKey,
    )

    content = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_new(path, content)
    except OSError as error:
        if isinstance(error, FileExistsError) and error.filename == str(path):
            message = f"{path} exists"
            hint = "ledger key show; another file: --key PATH"
            raise StorageError(message, hint=hint) from error
        message = f"cannot write the key file {path}: {error.strerror}"
        raise StorageError(message, hint="another file: --key PATH, or LEDGER_KEY=PATH") from error
    return signer_of(content, path)


def write_new(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read and that was not there; whole, or not at all.

    Raises:
        OSError: the file system refuses, or something of that name is there.
    """
    descriptor = os.open(str(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        sync_folder(path.parent)
    except OSError:
        path.unlink()
        raise


def load_key(path: Path) -> Signer:
    """Return the key of a file.

    Raises:
        NotFoundError: there is no such file.
        StorageError: others may read it, or it cannot be read.
        InvalidInputError: it holds no Ed25519 key.
    """
    try:
        mode = path.stat().st_mode
        with path.open("rb") as stream:
            content = stream.read(LARGEST)
    except FileNotFoundError as error:
        message = f"no key file {path}"
        raise NotFoundError(message, hint="ledger key new") from error
    except OSError as error:
        message = f"cannot read the key file {path}: {error.strerror}"
        raise StorageError(message) from error
    if mode & OTHERS:
        message = f"the key file {path} may be used by others (mode {stat.S_IMODE(mode):o})"
        raise StorageError(message, hint=f"chmod 600 {path}")
    return signer_of(content, path)


def signer_of(content: bytes, path: Path) -> Signer:
    """Return the signer of a private key in PEM.

    Raises:
        InvalidInputError: it is none of Ed25519.
    """
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - slow, seldom needed
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - likewise
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 - likewise
        Ed25519PrivateKey,
    )

    try:
        private = serialization.load_pem_private_key(content, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        private = None
    if not isinstance(private, Ed25519PrivateKey):
        raise InvalidInputError.single(
            "no private Ed25519 key without a password",
            what="key file",
            source=str(path),
            expected="a file made by ledger key new, or by openssl genpkey -algorithm ed25519",
        )
    public = private.public_key().public_bytes(
        serialization.Encoding.Raw, serialization.PublicFormat.Raw
    )
    return Signer(key=public, sign=private.sign)


def require_apart(key: Path, ledger: Path) -> None:
    """Refuse a key file in the folder of a ledger: whoever copies the folder would have both.

    Raises:
        StorageError: it lies there.
    """
    if key.resolve().parent == ledger.resolve().parent:
        message = f"the key file {key} lies in the folder of the ledger {ledger}"
        raise StorageError(message, hint="move it elsewhere, or name another with LEDGER_KEY")
