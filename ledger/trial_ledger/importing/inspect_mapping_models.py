"""Which model really answered, and what the call consumed.

Invariant: a part of the usage that the log does not state is None; a cost is only ever the one
that the log reports.

A served model that is another one than the requested is a failure occurrence by itself (C24).
"""

from collections.abc import Mapping

import msgspec

from trial_ledger.amounts import DecimalText
from trial_ledger.exact import decimal_text, parse_decimal
from trial_ledger.importing.lenient_json import (
    JsonObject,
    count_at,
    decimal_at,
    mapping_at,
    mappings_at,
    text_at,
)
from trial_ledger.importing.source import safe_name
from trial_ledger.served_models import is_other_model

__all__ = [
    "cost_of",
    "fallback_of",
    "rolled_up_fallbacks",
    "served_of",
    "usage_of",
]

USAGE_PARTS = (
    "input_tokens",
    "input_tokens_cache_read",
    "input_tokens_cache_write",
    "output_tokens",
    "reasoning_tokens",
)
"""The same parts as ours: Inspect's `input_tokens` excludes cached ones too."""
CURRENCY = "USD"
"""Inspect states costs in US dollars."""


def fallback_of(event: JsonObject) -> tuple[str, str] | None:
    """Return the requested and the serving model of a model event where they differ."""
    output = mapping_at(event, "output")
    declared = mapping_at(output, "fallback")
    requested = text_at(declared, "model")
    served = text_at(declared, "fallback_model")
    if requested is not None and served is not None:
        return requested, served
    model = text_at(event, "model")
    bridged = text_at(event, "requested_model")
    if bridged is not None and model is not None and is_other_model(bridged, model):
        return bridged, model
    served = text_at(output, "model")
    if model is not None and served is not None and is_other_model(model, served):
        return model, served
    return None


def rolled_up_fallbacks(sample: JsonObject) -> Mapping[tuple[str, str], int]:
    """Return how often each fallback happened in a sample, as the sample sums it up."""
    found: dict[tuple[str, str], int] = {}
    for record in mappings_at(sample, "model_fallbacks"):
        requested, served = text_at(record, "model"), text_at(record, "fallback_model")
        if requested is not None and served is not None:
            found[requested, served] = count_at(record, "count") or 1
    return found


def usage_of(event: JsonObject) -> Mapping[str, object] | None:
    """Return the usage of a model event; None where the log states nothing.

    An answer from Inspect's own cache consumed nothing: no request left, and Inspect does not
    count it either, although it repeats the usage of the answer it kept.
    """
    if event.get("cache") == "read":
        nothing: dict[str, object] = dict.fromkeys(USAGE_PARTS, 0)
        return {**nothing, "units": {"cache_reads": 1}}
    usage = mapping_at(mapping_at(event, "output"), "usage")
    parts: dict[str, object] = {
        part: count for part in USAGE_PARTS if (count := count_at(usage, part)) is not None
    }
    return parts or None


def cost_of(event: JsonObject) -> Mapping[str, object] | None:
    """Return the cost that the log reports for a model event; None where it reports none."""
    amount = decimal_at(mapping_at(mapping_at(event, "output"), "usage"), "total_cost")
    if amount is None or event.get("cache") == "read":
        return None
    try:
        text = msgspec.convert(decimal_text(parse_decimal(str(amount))), DecimalText)
    except ValueError:  # also msgspec's, where it is negative or has too many digits
        return None
    return {"amount": text, "currency": CURRENCY, "basis": "reported"}


def served_of(event: JsonObject) -> Mapping[str, object] | None:
    """Return what the log says about who answered."""
    fallback = text_at(mapping_at(mapping_at(event, "output"), "fallback"), "fallback_model")
    model = fallback or text_at(mapping_at(event, "output"), "model")
    return None if model is None else {"model": safe_name(model)}
