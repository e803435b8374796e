# SPDX-License-Identifier: Apache-2.0
"""Whether a graph that writes says what it writes, which can be written, and another one does not."""

from __future__ import annotations

from ..errors import EtchError
from . import graph as g
from .unsound import STAGE, unsound


def check_target_rules(graph: g.Graph) -> None:
    """EtchError (stage check) where it cannot be written."""
    rules = graph.target_rules
    if (rules is None) != (not graph.repeat):
        raise unsound("a phase that repeats and a target come together")
    if rules is None:
        if not graph.body:
            raise unsound("there is no op")
        return
    ids = {*rules.ends, *rules.begin, *rules.never, *(() if rules.empty is None else (rules.empty,))}
    if rules.max_tokens < 1 or not all(0 <= i < rules.vocabulary for i in ids):
        raise unsound(f"a target of {rules.max_tokens} tokens of {rules.vocabulary} that begins and ends with {ids}")
    banned = rules.restrictions.most_banned(rules.steps(graph.max_tokens)) + len(rules.never)
    count = len(rules.ends)
    needed = banned + (rules.search.least_vocabulary(count) if rules.search.beams > 1 else 1 + count)
    if rules.restrictions and rules.vocabulary < needed:
        message = (
            f"of {rules.vocabulary} tokens {banned} may be banned at a step: raise no_repeat_ngram_size or make it 0"
        )
        raise EtchError("generation-not-supported", STAGE, message)
    if not rules.ends:
        raise unsound("nothing ends the target")
    if never := {*rules.ends} & {*rules.never}:
        raise unsound(f"an end of the target, {never}, is never written")
    if not graph.body and rules.begin:
        raise unsound("the text is read nowhere: there is no phase before the one that repeats")
    if graph.body and not rules.begin:
        raise unsound("the target begins with nothing")
