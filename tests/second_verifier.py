"""A second verifier of ledger files, written from the documentation, standard library only.

It shares nothing with the first but the pages: docs/reference/events.md, which it reads, and
docs/explanation. What every file of the first format has for tables and triggers stands in
`ledger/golden/format-1-schema.json`, written once. It is slow and says less well where a fault is.
Only compressed texts need help from outside: Python has no Zstandard before 3.14.
"""

import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from documented_events import event_fault, kinds, texts_of
from plain_crypto import blake3
from plain_notes import Head, read_head

SCHEMA = Path(__file__).parent / "ledger" / "golden" / "format-1-schema.json"
ZEROS = "0" * 64
IDENTITY = {"ledger": (0x54724C31, 1), "gold": (0x54724731, 1)}
"""File → application_id and user_version."""
TYPES = {
    "event": "integer blob text text? text? integer? blob text",
    "content": "integer blob integer text blob",
    "blob": "blob blob? integer?",
    "head": "integer text",
}
"""Table → type of each column, with `?` where it may be null."""
SAFE = "".join(chr(sign) for sign in range(33, 127) if chr(sign) not in "#@%/")

Decompress = Callable[[bytes], bytes]


def no_zstandard(_: bytes) -> bytes:
    """Say that compressed texts cannot be looked at."""
    raise NotImplementedError("no decompressor was given")


class Second:
    """One look at one ledger."""

    def __init__(self, path: Path, decompress: Decompress) -> None:
        self.path = path
        self.decompress = decompress
        self.faults: list[str] = []
        self.events: list[dict[str, Any]] = []
        self.leaves: list[bytes] = []
        self.levels: list[list[bytes]] = [[]]
        self.named: dict[str, set[str]] = {"ledger": set(), "gold": set()}
        self.redacted: set[str] = set()
        self.contents: dict[str, bytes | None] = {}
        self.keys: list[tuple[int, str]] = []

    def say(self, where: object, fault: str | None) -> None:
        """Remember a fault, unless it is none."""
        if fault is not None:
            self.faults.append(f"{where}: {fault}")

    # The two files

    def tables(self, path: Path, file: str) -> dict[str, list[Any]]:
        """Return the rows of every table of a file, after its pages and schema were looked at."""
        connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)
        connection.text_factory = bytes
        with closing(connection):
            found = tuple(
                connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("application_id", "user_version")
            )
            if found != IDENTITY[file]:
                raise ValueError(f"{path.name} is no {file} file: {found}")
            check = [row[0] for row in connection.execute("PRAGMA integrity_check")]
            self.say(file, None if check == [b"ok"] else f"pages: {check[:1]}")
            schema = connection.execute(
                "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
            ).fetchall()
            texts = [[text_of(cell) for cell in row] for row in schema]
            expected = json.loads(SCHEMA.read_text("utf-8"))[file]
            strange = connection.execute(
                "SELECT count(*) FROM sqlite_schema WHERE typeof(type) <> 'text' OR"
                " typeof(name) <> 'text' OR typeof(tbl_name) <> 'text' OR typeof(sql) = 'blob'"
            ).fetchone()
            self.say(file, "its schema is no text" if strange[0] else None)
            self.say(file, None if texts == expected else "its schema is another")
            return {name: self.rows(connection, name) for name in TYPES if has(schema, name)}

    def rows(self, connection: sqlite3.Connection, table: str) -> list[Any]:
        """Return the rows of a table, each cell of its type."""
        cursor = connection.execute(f"SELECT * FROM {table} ORDER BY 1")  # noqa: S608 - ours
        names = [column[0] for column in cursor.description]
        casts = ", ".join(f"typeof({name}), {name}" for name in names)
        found = []
        for row in connection.execute(f"SELECT {casts} FROM {table} ORDER BY 1"):  # noqa: S608 - ours
            cells = []
            for given, cell, wanted in zip(row[::2], row[1::2], TYPES[table].split(), strict=True):
                is_right = given.decode() == wanted.rstrip("?")
                if not is_right and (given, wanted[-1]) != (b"null", "?"):
                    self.say(f"{table} {row[1]!r}", f"a {given.decode()} where {wanted} belongs")
                cells.append(cell if is_right else None)
            found.append(cells)
        return found

    # Events

    def check_events(self, rows: Sequence[Any]) -> None:
        """Check every event in order."""
        previous, links = ZEROS, dict[str, tuple[int, str]]()
        for place, row in enumerate(rows, 1):
            stored = row[7] or b""
            fault, event = parsed(stored)
            self.say(f"seq {row[0]}", fault)
            digest = blake3(stored).hex()
            nodes = self.grow(hashlib.sha256(b"\0" + stored).digest())
            self.say(f"seq {row[0]}", None if row[6] == b"".join(nodes) else "other nodes")
            if event is not None:
                self.events.append(event)
                self.say(f"seq {row[0]}", self.place_fault(event, row, place, previous, links))
                if event["link"] is not None:
                    links[event["run"]] = (event["link"]["n"], digest)
            previous = digest
        if not rows or not self.events or self.events[0]["kind"] != "ledger.opened":
            raise ValueError("no first event")

    def place_fault(
        self,
        event: dict[str, Any],
        row: Sequence[Any],
        place: int,
        previous: str,
        links: dict[str, tuple[int, str]],
    ) -> str | None:
        """Return what is wrong with the place of an event and with the columns beside it."""
        if (row[0], event["seq"], event["prev"]) != (place, place, previous):
            return "does not stand where it says, or does not follow what it says"
        if event["ledger"] != self.events[0]["ledger"]:
            return "is of another ledger"
        if (event["kind"] == "ledger.opened") != (place == 1):
            return "opens a ledger that is open, or does not"
        number, digest = links.get(event["run"], (0, ZEROS))
        is_linked = kinds()[event["kind"]].is_linked and event["run"] is not None
        if event["link"] != ({"n": number + 1, "prev": digest} if is_linked else None):
            return "is not the next link of its run"
        trial, link = event["trial"], event["link"]
        name = trial and "{}#{}@{}".format(
            quote(trial["question"], safe=SAFE),
            trial["repetition"],
            quote(trial.get("session", "s1"), safe=SAFE),
        )
        columns = (bytes.fromhex(event["id"]), event["kind"], event["run"], name)
        found = (row[1], *map(text_of, row[2:5]), row[5])
        return None if found == (*columns, link and link["n"]) else "its columns say something else"

    def grow(self, leaf: bytes) -> list[bytes]:
        """Add a leaf to the tree; return the hashes above it that it makes known."""
        self.leaves.append(leaf)
        self.levels[0].append(leaf)
        made: list[bytes] = []
        level = 0
        while len(self.levels[level]) % 2 == 0:
            left, right = self.levels[level][-2:]
            made.append(hashlib.sha256(b"\1" + left + right).digest())
            level += 1
            if level == len(self.levels):
                self.levels.append([])
            self.levels[level].append(made[-1])
        return made

    def check_meaning(self) -> None:
        """Check that what begins ends, that keys are handed over by their holder; collect texts."""
        trials: set[str] = set()
        calls: dict[str, set[str]] = {}
        for event in self.events:
            data, kind = event["data"], event["kind"]
            about = json.dumps([event["run"], event["trial"]])
            where = f"seq {event['seq']}"
            if kind == "trial.started":
                trials.add(about)
            elif kind == "trial.finished":
                self.say(where, None if about in trials else "ends a trial that is not open")
                trials.discard(about)
            elif kind == "call.started":
                calls.setdefault(about, set()).add(data["call"])
            elif kind in {"call.finished", "response.lost"}:
                is_open = data["call"] in calls.get(about, ())
                is_wrong = kind == "call.finished" and not is_open
                self.say(where, "ends a call that is not open" if is_wrong else None)
                calls.get(about, set()).discard(data["call"])
            elif kind == "run.closed" and data["status"] == "complete":
                left = [*trials, *(key for key, names in calls.items() if names)]
                is_open = any(json.loads(key)[0] == event["run"] for key in left)
                self.say(where, "is complete and something is open" if is_open else None)
            elif kind == "ledger.opened":
                self.keys += [(1, key) for key in data.get("public_keys", [])]
            elif kind == "key.rotated":
                holder = self.keys[-1][1] if self.keys else None
                is_holder = data.get("old_public_key") == holder
                self.say(where, None if is_holder else "hands over what it has not")
                self.keys.append((event["seq"], data["new_public_key"]))
            elif kind == "blob.redacted":
                self.redacted.add(data["blob"])
            for text in texts_of(event):
                is_hash = re.fullmatch("[0-9a-f]{64}", text["blob"])
                self.say(where, None if is_hash else "names no text")
                self.named["gold" if text["class"] == "gold" else "ledger"].add(text["blob"])

    # Texts

    def check_texts(self, tables: dict[str, list[Any]], file: str) -> None:
        """Check every text of a file against its name, and that none is missing."""
        contents = {row[0]: row[1:] for row in tables["content"]}
        used: set[int] = set()
        for name, salt, content in tables["blob"]:
            where = f"{file} blob {(name or b'').hex()}"
            if content is None:
                self.contents.setdefault((name or b"").hex(), None)
                is_announced = salt is None and (name or b"").hex() in self.redacted
                self.say(where, None if is_announced else "is erased and nobody said so")
                continue
            used.add(content)
            fault, plain = self.expanded(contents.get(content))
            if fault is None and not is_named(name, salt, plain):
                fault = "its bytes have another name"
            self.say(where, fault)
            self.contents[(name or b"").hex()] = plain
        for number in contents.keys() - used:
            self.say(f"{file} content {number}", "is nobody's")
        present = {(row[0] or b"").hex() for row in tables["blob"]}
        for name in sorted(self.named[file] - present):
            self.say(f"{file} blob {name}", "is missing")

    def expanded(self, row: Sequence[Any] | None) -> tuple[str | None, bytes]:
        """Return (what is wrong, bytes) of a content."""
        if row is None:
            return "has no content", b""
        digest, size, encoding, data = row
        plain = data or b""
        try:
            if encoding == b"zstd":
                plain = self.decompress(plain)
            elif encoding != b"raw":
                return "its encoding is none", b""
        except NotImplementedError:
            raise
        except Exception as error:  # noqa: BLE001 - a foreign decompressor
            return f"does not decompress: {error}", b""
        is_right = (digest, size) == (blake3(plain), len(plain))
        return None if is_right else "its digest or size is another", plain

    def commit_gold(self) -> None:
        """Add the gold that datasets commit to to what the gold file must hold."""
        for event in self.events:
            if event["kind"] != "dataset.registered":
                continue
            data = event["data"]
            if data.get("canary") is not None:
                self.named["gold"].add(data["canary"])
            try:
                listed = json.loads(self.contents.get(data["commitments"]["blob"]) or b"")
                self.named["gold"] |= {name for name in listed.values() if name is not None}
            except (ValueError, AttributeError, TypeError):
                self.say(f"seq {event['seq']}", "its commitments cannot be read")

    # Signed heads

    def root(self, size: int) -> bytes:
        """Return the root over the first leaves, by the definition of RFC 6962."""
        return root_over(self.leaves[:size])

    def keys_at(self, size: int) -> list[str]:
        """Return the keys that may sign a head of some size."""
        past = [key for seq, key in self.keys if seq <= size]
        both = len(past) > 1 and size in {seq for seq, _ in self.keys}
        return past[-2:] if both else past[-1:]

    def check_heads(self, rows: Sequence[Any], notes: Sequence[bytes]) -> None:
        """Check what the ledger keeps, what lies in heads/, and what was kept elsewhere."""
        own: set[int] = set()
        for size, text in rows:
            head = self.own_head(f"head {size}", text or b"")
            if head is not None:
                self.say(f"head {size}", None if head.size == size else "is of another size")
                own.add(head.size)
        prefix = str(self.events[0]["ledger"])[:8]
        for file in sorted((self.path.parent / "heads").glob(f"{prefix}-*.note")):
            head = self.own_head(file.name, file.read_bytes())
            if head is not None and head.size not in own:
                self.say(file.name, "the ledger does not keep it")
        for number, note in enumerate(notes, 1):
            self.own_head(f"note {number}", note)

    def own_head(self, where: str, text: bytes) -> Head | None:
        """Return a head that this ledger's key signed and that is of this log; else say why not."""
        size = read_head(text, None, [])
        keys = self.keys_at(size.size) if size is not None else []
        head = read_head(text, f"trial-ledger/{self.events[0]['ledger']}", keys)
        if head is None:
            self.say(where, "is not signed by the key of this ledger")
        elif head.size > len(self.leaves):
            self.say(where, "is of more events than there are")
        elif head.root != self.root(head.size):
            self.say(where, "is of another history")
        else:
            return head
        return None


def text_of(cell: bytes | float | None) -> str | int | float | None:
    """Return a cell as text where it is bytes."""
    return cell.decode("utf-8", "replace") if isinstance(cell, bytes) else cell


def has(schema: Sequence[Any], table: str) -> bool:
    """Return whether a schema has a table."""
    return any(row[:2] == (b"table", table.encode()) for row in schema)


def is_named(name: bytes, salt: bytes | None, plain: bytes) -> bool:
    """Return whether a name is that of some bytes under a salt."""
    return (salt is None or len(salt) == 32) and blake3(plain, salt) == name


def root_over(leaves: Sequence[bytes]) -> bytes:
    """Return the root over leaves, the left part as large a power of two as can be."""
    if len(leaves) < 2:
        return leaves[0] if leaves else hashlib.sha256(b"").digest()
    cut = 1 << (len(leaves) - 1).bit_length() - 1
    return hashlib.sha256(b"\1" + root_over(leaves[:cut]) + root_over(leaves[cut:])).digest()


def pairs_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object whose keys occur once each and are ASCII."""
    found = dict(pairs)
    if len(found) != len(pairs) or not all(key.isascii() for key in found):
        raise ValueError("a key twice, or of other letters")
    return found


def refused(_: str) -> Any:  # noqa: ANN401 - never returns
    """Refuse a number that has no place in a document."""
    raise ValueError("a number that is no integer")


def parsed(stored: bytes) -> tuple[str | None, dict[str, Any] | None]:
    """Return (what is wrong, event) of the stored bytes of a document."""
    try:
        event = json.loads(
            stored.decode(),
            object_pairs_hook=pairs_once,
            parse_float=refused,
            parse_constant=refused,
        )
        again = json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        fault = event_fault(event)
    except (ValueError, RecursionError) as error:
        return f"cannot be read: {str(error)[:60]}", None
    if fault is not None:
        return fault, None
    is_canonical = again.encode() == stored and len(stored) <= 65_535
    return None if is_canonical else "is not in canonical form", event


def second_look(
    path: Path, *, notes: Sequence[bytes] = (), decompress: Decompress = no_zstandard
) -> list[str]:
    """Return everything that is wrong with a ledger; nothing where it is what was written.

    Args:
        path: the ledger; its gold file lies beside it or is not looked at.
        notes: signed heads that were kept elsewhere.
        decompress: Zstandard, where texts are compressed.
    """
    look = Second(path, decompress)
    gold = path.with_name(path.name + ".gold")
    try:
        tables = look.tables(path, "ledger")
        look.check_events(tables["event"])
        look.check_meaning()
        look.check_texts(tables, "ledger")
        look.commit_gold()
        if gold.exists():
            look.check_texts(look.tables(gold, "gold"), "gold")
        look.check_heads(tables["head"], notes)
    except (sqlite3.Error, ValueError, KeyError, OverflowError) as error:
        look.say(path.name, f"cannot be read: {error}")
    return look.faults
