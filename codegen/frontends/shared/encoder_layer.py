# SPDX-License-Identifier: Apache-2.0
"""The layer of an encoder, or of a decoder alone: attention and feed-forward, each with a residual and a norm. Families
name its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ...ir.graph import Attention, Linear, Norm, Op, Parameter, Rotary
from ...load.safetensors import TensorFile
from . import parts
from .masks import EVERYTHING, Masks


@dataclass(frozen=True)
class LayerNames:
    """What a family calls the parts of a layer, behind the layer's own prefix."""

    query: str
    key: str
    value: str
    attention_output: str
    attention_norm: str
    intermediate: str
    output: str
    output_norm: str
    global_query: str = ""  # of rows that see all, where there are such
    global_key: str = ""
    global_value: str = ""
    adapter_inner: str = ""  # of what is behind the feed-forward, where there is such
    adapter_output: str = ""
    adapter_norm: str = ""


# Of the families that come from fairseq.
BART_NAMES = LayerNames(
    query="self_attn.q_proj",
    key="self_attn.k_proj",
    value="self_attn.v_proj",
    attention_output="self_attn.out_proj",
    attention_norm="self_attn_layer_norm",
    intermediate="fc1",
    output="fc2",
    output_norm="final_layer_norm",
)


@dataclass(frozen=True)
class Adapter:
    """Behind a feed-forward of its own layer another one, of fewer values, which was trained beside the others."""

    width: int
    norm: Literal["again", "own", "none"]  # of what it reads: that of the feed-forward block, or another one
    adds_to_normed: bool  # its result is added to what it reads, not to what the norm reads

    @property
    def value(self) -> str:
        """What it reads."""
        return "hidden" if self.norm == "none" or self.adds_to_normed else "normed"


@dataclass(frozen=True)
class LayerShape:
    """The same in each layer."""

    hidden: int
    heads: int
    intermediate: int
    activation: str
    epsilon: float
    bias: bool = True  # of linears and norms
    input_bias: bool = True  # of queries, keys and values, where linears have any
    linear_bias: bool = True  # of linears, where norms have any
    attention_bias: bool = True  # of linears of attention, where others have any
    masks: Masks = EVERYTHING
    groups: Mapping[str, int] = field(default_factory=dict)  # of linears that are convolutions, by name
    scale: float | None = None  # of scores, as `Attention` has it
    adapter: Adapter | None = None

    @property
    def widths(self) -> dict[str, int]:
        """Of the values that a layer reads and writes."""
        values = dict.fromkeys(("hidden", "query", "key", "value", "context"), self.hidden)
        if self.masks.global_rows:
            values |= dict.fromkeys(("global_query", "global_key", "global_value"), self.hidden)
        if self.adapter is not None:
            values |= {"adapter_inner": self.adapter.width, self.adapter.value: self.hidden}
        return values | {"inner": self.intermediate}


def post_norm_layer(
    tensors: TensorFile,
    prefixes: Sequence[str],
    names: LayerNames,
    shape: LayerShape,
    *,
    of_layer: tuple[int, ...] = (),
    attention_bias: Parameter | None = None,
    context: tuple[Op, ...] = (),
) -> tuple[Op, ...]:
    """hidden = norm(hidden + block(hidden)). `prefixes` are those of the layers that are stored, `of_layer` which of
    them each layer has, where that is not its own; `context` are the ops that make it where a family has others."""
    part = _Parts(tensors, prefixes, names, shape, of_layer)
    output_norm = part.norm("output_norm", "hidden", "hidden")
    return (
        *(context or part.context("hidden", attention_bias)),
        part.attention_output(),
        part.norm("attention_norm", "hidden", "hidden"),
        *part.feed_forward("hidden"),
        *part.adapter(output_norm),
        output_norm,
    )


def pre_norm_layer(
    tensors: TensorFile,
    prefixes: Sequence[str],
    names: LayerNames,
    shape: LayerShape,
    turned: tuple[Rotary, ...] = (),
) -> tuple[Op, ...]:
    """hidden = hidden + block(norm(hidden)); the norms before the blocks have the names of those after them. `turned`
    is what is done to queries and keys."""
    part = _Parts(tensors, prefixes, names, shape)
    output_norm = part.norm("output_norm", "hidden", "normed")
    return (
        part.norm("attention_norm", "hidden", "normed"),
        *part.context("normed", turned=turned),
        part.attention_output(),
        output_norm,
        *part.feed_forward("normed"),
        *part.adapter(output_norm),
    )


_GLOBAL = ("global_query", "global_key", "global_value")
_INPUTS = ("query", "key", "value", *_GLOBAL)


@dataclass(frozen=True)
class _Parts:
    tensors: TensorFile
    prefixes: Sequence[str]
    names: LayerNames
    shape: LayerShape
    of_layer: tuple[int, ...] = ()

    def context(self, value: str, bias: Parameter | None = None, turned: tuple[Rotary, ...] = ()) -> tuple[Op, ...]:
        return (
            self.linear("query", value, "query"),
            self.linear("key", value, "key"),
            self.linear("value", value, "value"),
            *turned,
            Attention(
                *("query", "key", "value", "context"),
                self.shape.heads,
                scale=self.shape.scale,
                mask=self.shape.masks.mask,
                window=self.shape.masks.window,
                bias=bias,
                global_rows=self.shape.masks.global_rows,
            ),
            *(self.global_context(value) if self.shape.masks.global_rows else ()),
        )

    def global_context(self, value: str) -> tuple[Op, ...]:
        """Of the rows that see all."""
        only = self.shape.masks.global_rows
        query, key, value_of = (self.linear(name, value, name) for name in _GLOBAL)
        attention = Attention(
            *(*_GLOBAL, "context"), self.shape.heads, scale=self.shape.scale, only=only, others="context"
        )
        return replace(query, only=only), key, value_of, attention

    def attention_output(self) -> Op:
        return self.linear("attention_output", "context", "hidden", residual="hidden")

    def feed_forward(self, value: str) -> tuple[Op, ...]:
        return (
            self.linear("intermediate", value, "inner", self.shape.activation),
            self.linear("output", "inner", "hidden", residual="hidden"),
        )

    def adapter(self, output_norm: Norm) -> tuple[Op, ...]:
        """Of `hidden`, where there is one."""
        adapter = self.shape.adapter
        if adapter is None:
            return ()
        norms: tuple[Norm, ...] = ()
        if adapter.norm == "own":
            norms = (self.norm("adapter_norm", "hidden", adapter.value),)
        elif adapter.norm == "again":
            norms = (replace(output_norm, name="adapter_norm", out=adapter.value),)
        return (
            *norms,
            self.linear("adapter_inner", adapter.value, "adapter_inner", self.shape.activation),
            self.linear("adapter_output", "adapter_inner", "hidden", residual="hidden"),
        )

    def linear(self, name: str, value: str, out: str, activation: str = "none", residual: str | None = None) -> Linear:
        shape, widths = self.shape, self.shape.widths | {"normed": self.shape.hidden}
        has_bias = shape.bias and shape.linear_bias and (out not in _INPUTS or shape.input_bias)
        if out in _INPUTS or name == "attention_output":
            has_bias = has_bias and shape.attention_bias
        return parts.linear(
            self.tensors,
            name,
            self.sources(name),
            (widths[out], widths[value]),
            value,
            out,
            activation,
            residual=residual,
            bias=has_bias,
            of_layer=self.of_layer,
            groups=self.shape.groups.get(name),
        )

    def norm(self, name: str, value: str, out: str) -> Norm:
        shape = self.shape
        return parts.layer_norm(
            self.tensors,
            name,
            self.sources(name),
            shape.hidden,
            shape.epsilon,
            value,
            out,
            bias=shape.bias,
            of_layer=self.of_layer,
        )

    def sources(self, part: str) -> list[str]:
        return [f"{prefix}{getattr(self.names, part)}" for prefix in self.prefixes]
