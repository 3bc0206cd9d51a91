"""`ledger stats`: how large a ledger is, and of what."""

from pathlib import Path

from cli_cases import LEDGER, Here, full, head


def test_sizes_and_counts(tmp_path: Path, here: Here) -> None:
    """Files with their sizes, events by kind, blobs, and the end of the log."""
    path = full(tmp_path)
    found = here("stats", "--json").json
    assert found["schema"] == "ledger.stats/1"
    assert found["head"]["size"] == sum(found["kinds"].values()) == head(path).size
    assert found["head"]["root"] == head(path).root
    assert found["files"] == {
        name: (tmp_path / name).stat().st_size for name in (LEDGER, f"{LEDGER}.gold")
    }
    assert found["blobs"]["erased"] == 0
    assert found["document_bytes"] < found["files"][LEDGER]
    rows = here("stats", "--format", "jsonl").rows
    assert {row["kind"]: row["events"] for row in rows} == found["kinds"]
    assert [row["events"] for row in rows] == sorted((row["events"] for row in rows), reverse=True)


def test_the_projections_are_counted_once_they_are_there(tmp_path: Path, here: Here) -> None:
    """The disposable file is listed as long as it exists."""
    full(tmp_path)
    assert here("runs").code == 0
    text = here("stats").out
    assert f"bytes  {LEDGER}.projections" in text
    assert text.startswith(
        f"ledger    {head(tmp_path / LEDGER).ledger}\nhead      128 events, root"
    )
    assert "trial.started" in text
