"""`ledger freeze`: registers a dataset, freezes a rubric or a manifest.

Invariant: everything wrong with a document is said at once, and nothing is written then.
"""

import os
from typing import TYPE_CHECKING

import click

from trial_cli.files import environment, read_file
from trial_cli.options import format_options, ledger_option, opened
from trial_cli.output import Screen, emit

if TYPE_CHECKING:
    from trial_ledger.building import Acknowledgement
    from trial_ledger.documents.dataset import Dataset
    from trial_ledger.documents.manifest import Manifest
    from trial_ledger.documents.rubric import Rubric

__all__ = ["command"]


@click.group("freeze", short_help="Register a dataset, freeze a rubric or manifest")
def command() -> None:
    """Register a dataset, freeze a rubric or a manifest."""


@command.command("dataset")
@click.argument("file")
@click.option("--name", required=True, help="Name of the dataset.")
@click.option("--version", required=True, help="Its version.")
@click.option("--map", "map_file", metavar="MAP", help="Field map that reads an existing format.")
@click.option("--meta", "meta_file", metavar="FILE", help="Cutoff, canary, provenance and so on.")
@ledger_option
@format_options
def freeze_dataset(
    file: str,
    *,
    name: str,
    version: str,
    map_file: str | None,
    meta_file: str | None,
    output_format: str,
) -> None:
    """Register the questions of FILE; gold goes to the gold file."""
    dataset = load_dataset(file, name, version, map_file, meta_file)
    acknowledgement = freeze(dataset)
    shapes = ", ".join(f"{count} {shape}" for shape, count in dataset.counts_by_shape().items())
    lines = [f"dataset {dataset.reference}  {len(dataset.questions)} questions: {shapes}"]
    lines += [
        f"  warning {warning.question or '(dataset)'}: {warning.message} ({warning.clause})"
        for warning in dataset.warnings
    ]
    show(acknowledgement, dataset.reference, lines, output_format)


@command.command("rubric")
@click.argument("file")
@ledger_option
@format_options
def freeze_rubric(file: str, *, output_format: str) -> None:
    """Freeze the rubric of FILE."""
    from trial_ledger.documents.rubric import parse_rubric, rubric_hash  # noqa: PLC0415 - slow

    rubric = parse_rubric(read_file(file), source=file)
    reference = f"{rubric.name}@{rubric.version}"
    lines = [f"rubric {reference}  hash {rubric_hash(rubric)[:12]}  primary {rubric.primary}"]
    show(freeze(rubric), reference, lines, output_format)


@command.command("manifest")
@click.argument("file")
@ledger_option
@format_options
def freeze_manifest(file: str, *, output_format: str) -> None:
    """Freeze the manifest of FILE."""
    from trial_ledger.documents.manifest import parse_manifest  # noqa: PLC0415 - slow

    manifest = parse_manifest(
        read_file(file),
        source=file,
        harness=None,
        environment=environment(),
        environ=os.environ,
    )
    with opened(write=True) as ledger:
        acknowledgement = ledger.freeze([manifest])[0]
        frozen = ledger.read(acknowledgement.seq).event.data
    digest: str = getattr(frozen, "manifest_hash", "")
    system: str = getattr(frozen, "system_hash", "")
    reference = f"{manifest.configuration}@{digest[:12]}"
    lines = [
        f"manifest {reference}  system {system[:12]}  {manifest.phase}",
        f"  dataset {manifest.dataset}  rubric {manifest.rubric}  x {manifest.repetitions}",
    ]
    show(acknowledgement, reference, lines, output_format)


def load_dataset(
    file: str, name: str, version: str, map_file: str | None, meta_file: str | None
) -> "Dataset":
    """Return the dataset of a file, read through a field map where one is given."""
    from trial_ledger.documents import dataset as datasets  # noqa: PLC0415 - slow
    from trial_ledger.documents import field_map as maps  # noqa: PLC0415 - slow

    content = read_file(file)
    meta = None
    if meta_file is not None:
        meta = datasets.parse_meta(read_file(meta_file), source=meta_file)
    field_map = None
    if map_file is not None:
        field_map = maps.parse_field_map(read_file(map_file), source=map_file)
    return datasets.parse_dataset(
        content, source=file, name=name, version=version, meta=meta, field_map=field_map
    )


def freeze(document: "Dataset | Rubric | Manifest") -> "Acknowledgement":
    """Put one document into the ledger."""
    with opened(write=True) as ledger:
        return ledger.freeze([document])[0]


def show(
    acknowledgement: "Acknowledgement", reference: str, lines: list[str], output_format: str
) -> None:
    """Say what was frozen, and whether it was there already."""
    state = "frozen" if acknowledgement.status == "appended" else "was frozen already"
    lines.append(f"  {state} at seq {acknowledgement.seq}  event {acknowledgement.hash[:12]}")
    row: dict[str, object] = {
        "reference": reference,
        "seq": acknowledgement.seq,
        "id": acknowledgement.id,
        "hash": acknowledgement.hash,
        "status": acknowledgement.status,
    }
    emit(Screen(schema="ledger.freeze/1", value=row, rows=[row], lines=lines), output_format)
