# SPDX-License-Identifier: Apache-2.0
"""A second table of words, of which each layer has columns of its own: what Gemma calls per-layer embeddings. A layer
adds to its rows what it makes of these, of the words before the first layer, and of a gate."""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.graph import Add, Embed, Linear, Multiply, Norm, Op, Parameter, Term
from ...load.config import Config
from . import parts
from .computed import columns_of, rows_of, times
from .llama_parts import LlamaParts

_HALF = 0.5**0.5  # the root of one half: of what is a sum of two
_GATE = "layer_gate"
# Where the configuration does not say them.
_WIDTH, _VOCABULARY = 256, 262_144


@dataclass(frozen=True)
class LayerWords:
    before: tuple[Op, ...]  # what makes the rows of all layers, of the words in `hidden`
    widths: dict[str, int]  # of the values that are written

    @classmethod
    def read(cls, config: Config, made: LlamaParts, vocabulary: int) -> LayerWords | None:
        """None where the configuration has no such words."""
        width = config.natural_int("hidden_size_per_layer_input", _WIDTH, maximum=parts.MAX_WIDTH)
        if width == 0:
            return None
        entries = config.positive_int("vocab_size_per_layer_input", _VOCABULARY)
        if entries != vocabulary:
            message = f"vocab_size_per_layer_input {entries}: expected vocab_size {vocabulary}"
            raise parts.refuse("config-not-supported", message)
        sizes, prefix, take = made.sizes, made.prefix, made.tensors.take
        table = take(f"{prefix}embed_tokens_per_layer.weight", (vocabulary, sizes.layers * width))
        linear = take(f"{prefix}per_layer_model_projection.weight", (sizes.layers * width, sizes.width))
        gamma = times(take(f"{prefix}per_layer_projection_norm.weight", (width,)), _HALF)
        ops: list[Op] = []
        widths = {_GATE: width}
        for layer in range(sizes.layers):
            name, words = f"layer_{layer}_input", f"layer_{layer}_words"
            span = layer * width, (layer + 1) * width
            weight = times(rows_of(linear, *span), sizes.width**-0.5)
            columns = Parameter(f"{words}_table", (columns_of(table, *span),))
            ops += (
                Linear(name, Parameter(f"{name}_weight", (weight,)), None, "hidden", name),
                Norm(f"{name}_norm", Parameter(f"{name}_gamma", (gamma,)), None, made.epsilon, name, name, "rms"),
                Embed((Term(columns, "ids", factor=width**0.5 * _HALF),), words),
                Add(name, words, name),
            )
            widths |= {name: width, words: width}
        return cls(tuple(ops), widths)

    def added(self, made: LlamaParts, activation: str, layer: int) -> tuple[Op, ...]:
        """What one layer adds to `hidden`."""
        width, sizes = self.widths[_GATE], made.sizes
        gate, back = ("per_layer_input_gate", "per_layer_projection")
        return (
            parts.linear(
                *(made.tensors, _GATE, made.sources(gate), (width, sizes.width), "hidden", _GATE, activation),
                bias=False,
            ),
            Multiply(_GATE, f"layer_{layer}_input", _GATE),
            parts.linear(
                *(made.tensors, "layer_output", made.sources(back), (sizes.width, width), _GATE, "normed"), bias=False
            ),
            made.norm("layer_output_norm", "post_per_layer_input_norm", "normed"),
            Add("hidden", "normed", "hidden"),
        )
