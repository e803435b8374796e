# SPDX-License-Identifier: Apache-2.0
"""What a sound graph or program may say and later stages have no place for yet: refused by name before any of them."""

from __future__ import annotations

from ..errors import EtchError
from . import graph as g
from . import program as p


def check_supported(graph: g.Graph) -> None:
    """EtchError (stage check) where the generated code has no place for so many heads."""
    if len(graph.heads) != 1:
        _check_heads(graph)


def _check_heads(graph: g.Graph) -> None:
    names = [head.name for head in graph.heads]
    if not names or len({*names} - {""}) != len(names):
        raise EtchError("heads-not-supported", "check", f"the graph has {len(names)} heads without names of their own")
    for head in graph.heads:
        if not head.task.beside_others:
            message = (
                f"head '{head.name}': {head.task.name} is no head beside others, which share one pass of the encoder "
                "and one result: generate its folder as a model of its own"
            )
            raise EtchError("head-not-supported", "check", message)
    masks = [head.name for head in graph.heads if head.task.rows == "masks"]
    questions = [head.name for head in graph.heads if head.task.asks]
    for names, do in ((masks, "fill masks"), (questions, "answer questions")):
        if len(names) > 1:
            message = f"heads '{names[0]}' and '{names[1]}' both {do}: one is supported beside other heads"
            raise EtchError("head-not-supported", "check", message)


def check_phases(program: p.Program, stage: str) -> None:
    """EtchError where something is repeated for steps that no stage but those of a generative model know."""
    if any(isinstance(step, p.Repeat) and step.over == "steps" for step in program.steps):
        raise EtchError("phase-not-supported", stage, "a phase that is repeated for each step of generation")
