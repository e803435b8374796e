# SPDX-License-Identifier: Apache-2.0
"""Whether a graph that writes has a target that can be written, and another one has none."""

from __future__ import annotations

from ..errors import EtchError
from . import graph as g

_STAGE = "check"


def unsound(message: str) -> EtchError:
    """What a graph is refused by."""
    return EtchError("graph-not-sound", _STAGE, message)


def check_target(graph: g.Graph) -> None:
    """EtchError (stage check) where it cannot be written."""
    target = graph.target
    if (target is None) != (not graph.repeat):
        raise unsound("a phase that repeats and a target come together")
    if target is None:
        if not graph.body:
            raise unsound("there is no op")
        return
    ids = {*target.ends, *target.begin, *target.never, *(() if target.empty is None else (target.empty,))}
    if target.max_tokens < 1 or not all(0 <= i < target.vocabulary for i in ids):
        raise unsound(f"a target of {target.max_tokens} tokens of {target.vocabulary} that begins and ends with {ids}")
    banned = target.restrictions.most_banned(target.steps(graph.max_tokens)) + len(target.never)
    count = len(target.ends)
    needed = banned + (target.search.least_vocabulary(count) if target.search.beams > 1 else 1 + count)
    if target.restrictions and target.vocabulary < needed:
        message = (
            f"of {target.vocabulary} tokens {banned} may be banned at a step: raise no_repeat_ngram_size or make it 0"
        )
        raise EtchError("generation-not-supported", _STAGE, message)
    if not target.ends:
        raise unsound("nothing ends the target")
    if never := {*target.ends} & {*target.never}:
        raise unsound(f"an end of the target, {never}, is never written")
    if not graph.body and target.begin:
        raise unsound("the text is read nowhere: there is no phase before the one that repeats")
    if graph.body and not target.begin:
        raise unsound("the target begins with nothing")
