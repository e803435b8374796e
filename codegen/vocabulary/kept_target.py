# SPDX-License-Identifier: Apache-2.0
"""What a model writes, with some of the ids of its vocabulary: settings, and the rules of a graph.

The ids that a target needs stay (`needed_ids`). Others that are banned are dropped where they have gone: nothing writes
them any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..errors import EtchError
from ..ir import graph as g
from ..ir.search import Restrictions
from ..load.generation_config import GenerationSettings


def needed_ids(settings: GenerationSettings) -> set[int]:
    """What a target begins and ends with."""
    return {i for i in (settings.begin, *settings.ends, settings.forced_begin) if i is not None}


def renumbered_settings(settings: GenerationSettings, number: Mapping[int, int]) -> GenerationSettings:
    """With the ids that `number` has, as it numbers them."""
    found = settings.restrictions
    words = (tuple(number[i] for i in word) for word in found.words if all(i in number for i in word))
    return replace(
        settings,
        begin=None if settings.begin is None else number[settings.begin],
        ends=tuple(number[end] for end in settings.ends),
        forced_begin=None if settings.forced_begin is None else number[settings.forced_begin],
        never=_numbers(settings.never, number),
        restrictions=Restrictions(
            found.repetition_penalty, found.no_repeat, tuple(words), _numbers(found.not_first, number)
        ),
    )


def shorter_rules(rules: g.TargetRules, entries: int) -> g.TargetRules:
    """Rules whose ids are renumbered already, with so many of them. EtchError where they are too few to search."""
    beams = rules.search.beams
    needed = rules.search.least_vocabulary(len(rules.ends)) if beams > 1 else 1
    if entries - len(rules.never) < needed:
        message = f"{beams} beams need {needed} pieces that may be written, {entries} are left: lower --min-count"
        raise EtchError("vocabulary-empty", "prune", message)
    return replace(rules, vocabulary=entries)


def _numbers(ids: Sequence[int], number: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(number[i] for i in ids if i in number)
