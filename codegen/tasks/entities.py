# SPDX-License-Identifier: Apache-2.0
"""Entities of tags and their F1, by the rules of conlleval, as `seqeval` has them (default mode, `get_entities`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Entity = tuple[str, int, int]  # type, first word, last word


def entities_of(tags: Sequence[str]) -> set[Entity]:
    """Of the tags of one text: `PREFIX-TYPE`, the prefix one of B, I, E, S; `O` is outside."""
    found: set[Entity] = set()
    prefix, kind, begin = "O", "", 0
    for index, tag in enumerate([*tags, "O"]):
        next_prefix, next_kind = tag[0] if tag else "O", tag[1:].split("-", 1)[-1] or "_"
        if _ends(prefix, next_prefix, kind, next_kind):
            found.add((kind, begin, index - 1))
        if _starts(prefix, next_prefix, kind, next_kind):
            begin = index
        prefix, kind = next_prefix, next_kind
    return found


def entity_f1(truths: Iterable[Sequence[str]], answers: Iterable[Sequence[str]]) -> float:
    """Micro-averaged over the entities of all texts; 0 where neither has any."""
    right = true = found = 0
    for truth, answer in zip(truths, answers, strict=True):
        of_truth, of_answer = entities_of(truth), entities_of(answer)
        right += len(of_truth & of_answer)
        true += len(of_truth)
        found += len(of_answer)
    return 2 * right / (true + found) if true + found else 0.0


def _ends(prefix: str, next_prefix: str, kind: str, next_kind: str) -> bool:
    """Whether an entity ends between two words."""
    if prefix in ("E", "S"):
        return True
    if prefix in ("B", "I") and next_prefix in ("B", "S", "O"):
        return True
    return prefix not in ("O", ".") and kind != next_kind


def _starts(prefix: str, next_prefix: str, kind: str, next_kind: str) -> bool:
    """Whether one begins there."""
    if next_prefix in ("B", "S"):
        return True
    if prefix in ("E", "S", "O") and next_prefix in ("E", "I"):
        return True
    return next_prefix not in ("O", ".") and kind != next_kind
