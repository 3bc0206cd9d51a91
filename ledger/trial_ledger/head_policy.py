"""Who must have signed a ledger's heads, as somebody who checks it has written down elsewhere.

Invariant: a policy is read from its own file and never from the ledger, whose owner could write
whatever policy suits the signatures at hand.
"""

import msgspec

from trial_ledger.documents.reading import Faults, Table
from trial_ledger.documents.toml_form import parse_table
from trial_ledger.errors import VerificationError
from trial_ledger.heads import PublicKey, SignedHead, parse_public_key

__all__ = ["HeadPolicy", "parse_policy"]

WHAT = "policy"
LEDGER_DIGITS = 32


class HeadPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """What makes a signed head acceptable to a checker."""

    signers: tuple[PublicKey, ...]
    """Keys that the checker has from their owners."""
    required: int
    """How many of them must have signed one head."""
    newest_within: int | None = None
    """How many events may follow the newest such head; None for any number."""
    ledger: str | None = None
    """Id of the ledger that it is for; None for any."""

    def accepts(self, head: SignedHead) -> bool:
        """Return whether enough of the keys signed a head."""
        return len({*head.signers} & {*self.signers}) >= self.required

    def fault(self, ledger: str, size: int, accepted: int) -> str | None:
        """Return why a log does not meet the policy; None where it does.

        Args:
            ledger: its id.
            size: number of its events.
            accepted: size of the newest head that the policy accepts and the log bears out; 0
                where there is none.
        """
        if self.ledger not in (None, ledger):
            return f"is for ledger {self.ledger}, this is {ledger}"
        needed = f"{self.required} of the {len(self.signers)} keys named"
        if not accepted:
            return f"no head of this log bears good signatures of {needed}"
        if self.newest_within is not None and size - accepted > self.newest_within:
            return (
                f"{size - accepted} events follow the newest head that {needed} signed, that of"
                f" {accepted}: at most {self.newest_within} may"
            )
        return None


def parse_policy(data: bytes, *, source: str) -> HeadPolicy:
    """Return the policy of a TOML file.

    Args:
        data: its bytes.
        source: its name, for errors.

    Raises:
        InvalidInputError: with every fault in it.
    """
    values, faults = parse_table(data, source=source, what=WHAT)
    table = Table(values, faults)
    table.require("signers")
    signers = signers_of(table, faults)
    required = table.integer("required", least=1)
    if required is not None and required > len(signers):
        table.wrong("required", f"at most {len(signers)}, the number of signers")
    within = table.integer("newest_within")
    ledger = table.name("ledger")
    if ledger is not None and (
        len(ledger) != LEDGER_DIGITS or set(ledger) - set("0123456789abcdef")
    ):
        table.wrong("ledger", "the id of a ledger, 32 lower-case hex digits")
    table.finish()
    faults.stop()
    return HeadPolicy(
        signers=signers, required=required or len(signers), newest_within=within, ledger=ledger
    )


def signers_of(table: Table, faults: Faults) -> tuple[PublicKey, ...]:
    """Return the keys of a policy, reporting what is none."""
    found: list[PublicKey] = []
    for index, text in enumerate(table.names("signers") or ()):
        try:
            found.append(parse_public_key(text))
        except VerificationError as error:
            faults.add(
                error.message, field=f"signers[{index}]", expected="a key as ledger key show has it"
            )
    if table.has("signers") and not table.values["signers"]:
        table.wrong("signers", "at least one key")
    return tuple(found)
