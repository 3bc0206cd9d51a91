"""Templates: valid as they stand, complete, and fitting together."""

import tomllib

import pytest

from trial_ledger.documents.dataset import TASK_SHAPES, parse_dataset
from trial_ledger.documents.manifest import parse_manifest
from trial_ledger.documents.rubric import (
    MEASURES,
    default_failure_outcomes,
    default_outcomes,
    parse_rubric,
)
from trial_ledger.documents.templates import TEMPLATES, read_template


def test_the_dataset_covers_the_four_shapes_without_a_warning() -> None:
    """Somebody who starts from it sees gold of every shape."""
    dataset = parse_dataset(
        read_template("dataset.jsonl"), source=None, name="example", version="1"
    )
    assert dataset.counts_by_shape() == dict.fromkeys(TASK_SHAPES, 1)
    assert dataset.warnings == ()


def test_the_rubric_spells_out_the_default_policy() -> None:
    """What importers take as default is what the template shows, and every shape is measured."""
    rubric = parse_rubric(read_template("rubric.toml"), source=None)
    assert rubric.outcomes == default_outcomes()
    assert rubric.failure_outcomes == default_failure_outcomes()
    shapes = {shape for metric in rubric.metrics.values() for shape in MEASURES[metric.measure]}
    assert shapes == set(TASK_SHAPES)


def test_the_manifest_names_the_other_two() -> None:
    """Dataset and rubric are frozen under the names that the manifest uses."""
    manifest = parse_manifest(
        read_template("manifest.toml"), source=None, harness=None, environment=None
    )
    assert manifest.dataset == "example@1"
    assert manifest.rubric == parse_rubric(read_template("rubric.toml"), source=None).reference


def test_every_template_can_be_read_and_no_other_file() -> None:
    """The files come with the package; a name is never a path."""
    assert all(read_template(name) for name in TEMPLATES)
    assert tomllib.loads(read_template("rubric.toml").decode())["metrics"]
    with pytest.raises(KeyError):
        read_template("../manifest.py")
