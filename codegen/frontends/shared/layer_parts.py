# SPDX-License-Identifier: Apache-2.0
"""What layers are written with whose norms come before their blocks and whose queries, keys and values are one linear
of the file, but for GPT-J's own: GPT-NeoX's, CodeGen's, GPTBigCode's, BLOOM's and Falcon's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...ir.graph import Linear, Norm, Parameter
from ...load.config import Config
from ...load.safetensors import TensorFile
from . import parts
from .computed import rows_of_heads

ATTENTION = ("query", "key", "value")  # of each head, in the file

_WIDTH, _OLD_WIDTH = "hidden_size", "n_embed"


def width_in(config: Config, usual: int) -> int:
    """Of the rows. What older files have counts more."""
    key = _WIDTH if config.values.get(_OLD_WIDTH) is None else _OLD_WIDTH
    return config.positive_int(key, usual, maximum=parts.MAX_WIDTH)


def sizes_in(config: Config, tensors: TensorFile) -> tuple[int, int, int, int]:
    """Width of the rows, heads that share it evenly, inner width, and how many layers, none of which the file lacks."""
    width = config.positive_int(_WIDTH, maximum=parts.MAX_WIDTH)
    heads = config.positive_int("num_attention_heads", maximum=parts.MAX_WIDTH)
    inner = config.positive_int("intermediate_size", maximum=parts.MAX_WIDTH)
    count = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count)
    parts.check_heads(width, heads)
    return width, heads, inner, count


@dataclass(frozen=True)
class LayerParts:
    """Ops whose parameters are those of all layers."""

    tensors: TensorFile
    prefixes: Sequence[str]  # of the layers' tensors
    widths: Mapping[str, int]  # of the values that they read and write
    epsilon: float

    def norm(self, name: str, of: str, out: str = "normed") -> Norm:
        """Of the rows."""
        return parts.layer_norm(self.tensors, name, self._all(of), self.widths["hidden"], self.epsilon, "hidden", out)

    def linear(
        self,
        name: str,
        of: str,
        value: str,
        out: str,
        activation: str = "none",
        *,
        residual: str | None = None,
        bias: bool = True,
    ) -> Linear:
        """From `value` to `out`, to which `residual` is added."""
        shape = (self.widths[out], self.widths[value])
        return parts.linear(
            self.tensors, name, self._all(of), shape, value, out, activation, residual=residual, bias=bias
        )

    def projections(
        self,
        of: str,
        key_heads: int,
        queries: int = 1,
        *,
        bias: bool = True,
        order: tuple[str, str, str] = ATTENTION,
    ) -> tuple[Linear, ...]:
        """Queries, keys and values, which the file has together: for each head of keys so many heads of `queries`, then
        one of keys and one of values, or in another `order`."""
        inputs, outputs = self.widths["hidden"], sum(self.widths[name] for name in ATTENTION)
        weights = [self.tensors.take(f"{source}.weight", (outputs, inputs)) for source in self._all(of)]
        biases = [self.tensors.take(f"{source}.bias", (outputs,)) for source in self._all(of) if bias]
        places = ((0, queries), (queries, queries + 1), (queries + 1, queries + 2))

        def linear(name: str, first: int, last: int) -> Linear:
            weight, own = (
                tuple(rows_of_heads(array, key_heads, first, last, queries + 2) for array in arrays)
                for arrays in (weights, biases)
            )
            of_bias = Parameter(f"{name}_bias", own) if bias else None
            return Linear(name, Parameter(f"{name}_weight", weight), of_bias, "normed", name)

        return tuple(linear(name, *place) for name, place in zip(order, places, strict=True))

    def _all(self, of: str) -> list[str]:
        return [f"{prefix}{of}" for prefix in self.prefixes]
