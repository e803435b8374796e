# SPDX-License-Identifier: Apache-2.0
"""The names of a classifier's outputs: `id2label` and `label2id` must say the same, without a gap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .refusal import refusal, shown

MAX_LABELS = 1 << 16


def read_labels(values: Mapping[str, Any], file: str, usual: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(labels by index, notes); `usual` is how many there are where the file does not say it."""
    count = values.get("num_labels")
    if count is not None and (type(count) is not int or not 1 <= count <= MAX_LABELS):
        raise refusal("config-out-of-range", f"'num_labels' must be in 1..{MAX_LABELS}, got {shown(count)}", file=file)
    by_id = values.get("id2label")
    notes: tuple[str, ...] = ()
    if by_id is None:
        labels = tuple(f"LABEL_{i}" for i in range(count or usual))
        notes = (f"{file} names no labels: {labels[0]}..{labels[-1]} assumed",)
    else:
        labels = _by_index(by_id, file)
        if count is not None and count != len(labels):
            raise refusal("labels-conflict", f"num_labels is {count}, id2label has {len(labels)}", file=file)
    _check_inverse(values.get("label2id"), labels, file)
    return labels, notes


def _by_index(by_id: object, file: str) -> tuple[str, ...]:
    if not isinstance(by_id, dict) or not 1 <= len(by_id) <= MAX_LABELS:
        raise refusal("labels-type", f"id2label must be an object of 1..{MAX_LABELS}, got {shown(by_id)}", file=file)
    labels = []
    for i in range(len(by_id)):
        if str(i) not in by_id:
            raise refusal("labels-gap", f"id2label has {len(by_id)} entries but no '{i}'", file=file)
        label = by_id[str(i)]
        if not isinstance(label, str):
            raise refusal("labels-type", f"label {i} must be a string, got {shown(label)}", file=file)
        labels.append(label)
    if len(set(labels)) != len(labels):
        raise refusal("labels-duplicate", "id2label gives two outputs the same name", file=file)
    return tuple(labels)


def _check_inverse(by_label: object, labels: tuple[str, ...], file: str) -> None:
    if by_label is None:
        return
    if not isinstance(by_label, dict):
        raise refusal("labels-type", f"label2id must be an object, got {shown(by_label)}", file=file)
    if len(by_label) != len(labels):
        raise refusal("labels-conflict", f"label2id has {len(by_label)} labels, id2label {len(labels)}", file=file)
    for i, label in enumerate(labels):
        value = by_label.get(label)
        if type(value) is not int or value != i:
            raise refusal(
                "labels-conflict", f"label2id gives {shown(value)} for {shown(label)}, id2label {i}", file=file
            )
