# SPDX-License-Identifier: Apache-2.0
"""What a sound graph or program may say and later stages have no place for yet: refused by name before any of them."""

from __future__ import annotations

from ..errors import EtchError
from . import graph as g
from . import program as p


def check_supported(graph: g.Graph) -> None:
    """EtchError (stage check) where the generated code has no place for so many heads or sequences of layers."""
    heads, layers = len(graph.heads), sum(isinstance(node, g.Layers) for node in graph.body)
    if heads != 1:
        raise EtchError("heads-not-supported", "check", f"the graph has {heads} heads: one is supported")
    if graph.target is None and layers != 1:  # lowering says of what writes a sequence that it is not supported
        raise EtchError("layers-not-supported", "check", f"{layers} sequences of layers: one is supported")


def check_phases(program: p.Program, stage: str) -> None:
    """EtchError where something is repeated for steps that no stage but those of a model that writes know."""
    if any(isinstance(step, p.Repeat) and step.over == "steps" for step in program.steps):
        raise EtchError("phase-not-supported", stage, "a phase that is repeated for each step of generation")
