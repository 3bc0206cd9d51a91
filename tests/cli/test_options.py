"""Options that commands share: which ledger, and where in the log."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cli_cases import Here, full
from ledger_cases import small_ledger, stepping_clock, tools
from trial_cli.options import DEFAULT_LEDGER, ledger_path, resolve_as_of
from trial_ledger.book import Ledger
from trial_ledger.errors import InvalidInputError


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Ledger]:
    """Return a ledger of four events, each a group of microseconds after the other."""
    with small_ledger(tmp_path) as ledger:
        yield ledger


def test_the_path_of_the_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    """The option wins over the environment, and that over the default."""
    monkeypatch.delenv("LEDGER_PATH", raising=False)
    with click.Context(click.Command("x")) as context:
        assert ledger_path() == Path(DEFAULT_LEDGER)
        monkeypatch.setenv("LEDGER_PATH", "from/environment")
        assert ledger_path() == Path("from/environment")
        context.ensure_object(dict)["ledger"] = "from/option"
        assert ledger_path() == Path("from/option")


@pytest.mark.parametrize("text", ["0", "3", "999999999999999999"])
def test_a_number_is_a_place(text: str, book: Ledger) -> None:
    """A number means the log up to that seq."""
    assert resolve_as_of(book, text) == int(text)


def test_a_time_is_the_prefix_before_the_first_later_event(book: Ledger) -> None:
    """A time means everything recorded until then, whatever its zone."""
    times = [book.read(seq).event.recorded_at for seq in range(1, 5)]
    for seq, time in enumerate(times, 1):
        later = sum(other <= time for other in times)
        assert resolve_as_of(book, time) == later
        assert later >= seq
    assert resolve_as_of(book, "2026-10-01T11:59:59Z") == 0
    assert resolve_as_of(book, "2026-10-01T14:00:01+02:00") == 4
    assert resolve_as_of(book, "2026-10-01 12:00:01") == 4
    assert resolve_as_of(book, "2026-10-02") == 4
    assert stepping_clock()() == "2026-10-01T12:00:00.000000Z"


@pytest.mark.parametrize("text", ["", "yesterday", "-1", "1.5", "9" * 5000, "\u0663", "\udcff"])
def test_anything_else_is_no_place(text: str, book: Ledger) -> None:
    """What is neither a seq nor a time is refused with both forms."""
    with pytest.raises(InvalidInputError) as caught:
        resolve_as_of(book, text)
    (problem,) = caught.value.problems
    assert problem.expected == "a seq, or a time such as 2026-10-01T12:00:00Z"


def test_a_read_command_sees_the_log_as_it_stood(tmp_path: Path, here: Here) -> None:
    """`--as-of` before the run shows none, after it shows it, and the files are closed again."""
    full(tmp_path)
    assert here("runs", "--as-of", "4").out == "no runs yet\n"
    assert "fast-01" in here("runs", "--as-of", "5").out
    assert "fast-01" in here("runs").out
    assert here("runs", "--as-of", "soon").code == 2
    Ledger.open(tmp_path / DEFAULT_LEDGER, write=True, tools=tools(tmp_path)).close()
