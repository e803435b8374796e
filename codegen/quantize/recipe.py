# SPDX-License-Identifier: Apache-2.0
"""What a recipe is: how weights become tables. It knows nothing of rows and buffers."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..ir.graph import Graph
from ..ir.parameter import FloatArray
from ..ir.program import F32Matrix, Integers, Kind


class Recipe(ABC):
    """Of one name, with its options."""

    name: str
    kind: Kind  # of embeddings, attention and every linear that is not exact

    @abstractmethod
    def check(self, graph: Graph) -> None:
        """EtchError where an option means nothing in this graph."""

    @abstractmethod
    def table(self, name: str, values: FloatArray) -> Integers | F32Matrix:
        """The embedding table `name` [entries, width]."""

    @abstractmethod
    def matrix(self, name: str, layer: int, values: FloatArray) -> Integers | F32Matrix:
        """The weight [outputs, inputs] of the linear `name`, of the layer's own where there are layers."""
