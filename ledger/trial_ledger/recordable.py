"""`Ledger.run` and `Ledger.resume`: the entrance to recording, loaded when it is first used.

Invariant: reading or appending loads nothing of recording.
"""

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from trial_ledger.book import Ledger
    from trial_ledger.documents.manifest_structs import Manifest
    from trial_ledger.recording.resuming import ResumedRun
    from trial_ledger.recording.runs import RunRecorder

__all__ = ["Recordable"]


class Recordable:
    """A ledger that a harness can record into."""

    def run(
        self,
        manifest: "str | Manifest",
        *,
        name: str | None = None,
        supersedes: str | None = None,
        reason: str | None = None,
    ) -> "RunRecorder":
        """Return a run of a manifest, to be entered with `with` or `async with`.

        Args:
            manifest: a frozen one by configuration, `configuration@prefix` or hash; or one to
                freeze.
            name: of the run; None takes the configuration and some random digits.
            supersedes: run that this one corrects (C12).
            reason: why.

        Raises:
            RuleError: the manifest is not frozen (C9), or means something else.
        """
        from trial_ledger.recording.runs import recorded_run  # noqa: PLC0415 - readers need none

        ledger = cast("Ledger", self)
        return recorded_run(ledger, manifest, name=name, supersedes=supersedes, reason=reason)

    def resume(self, name: str) -> "ResumedRun":
        """Return a run that goes on after a crash or an interruption, to be entered.

        Args:
            name: of the run.

        Raises:
            NotFoundError: it was never opened.
            RuleError: it was not recorded live, or events of it wait in a spool.
        """
        from trial_ledger.recording.resuming import resumed_run  # noqa: PLC0415 - as above

        return resumed_run(cast("Ledger", self), name)
