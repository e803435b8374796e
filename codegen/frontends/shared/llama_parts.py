# SPDX-License-Identifier: Apache-2.0
"""What layers with Llama's names are written with: their sizes, linears, and norms of rows and of heads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ...ir.graph import Add, Linear, Norm, Op, Parameter
from ...ir.op import map_slots
from ...ir.parameter import Array
from ...load.config import Config
from ...load.safetensors import TensorFile
from . import parts
from .computed import Computed, one_row, scaled
from .stacked import Made, stacked_linears

# Which layer norms have some: those of rows are not those of heads, those of blocks come before or behind one.
NormBiases = Literal["all", "rows", "blocks", "none"]
# Where the weights of heads are that have their own: in one tensor, or each in a tensor by its number.
OwnWeights = Literal["stacked", "numbered"]


@dataclass(frozen=True)
class Sizes:
    """Of the layers of a model."""

    width: int
    heads: int
    key_heads: int
    head_width: int
    inner: int
    layers: int

    @property
    def widths(self) -> dict[str, int]:
        """Of the values that a layer reads and writes."""
        rows = dict.fromkeys(("hidden", "normed"), self.width)
        queries = dict.fromkeys(("query", "context"), self.heads * self.head_width)
        keys = dict.fromkeys(("key", "value"), self.key_heads * self.head_width)
        return rows | queries | keys | dict.fromkeys(("gate", "inner"), self.inner)


def read_sizes(
    config: Config,
    tensors: TensorFile,
    head_width: int | None,
    heads: int | None = None,
    key_heads: int | None = None,
    inner: int | None = None,
) -> Sizes:
    """The numbers given are for where the configuration says none: without, `head_width` is an even share of the width,
    and every head has keys of its own, which null says, too. `inner` is the width of a feed-forward block where no
    single key says it."""
    width = config.positive_int("hidden_size", maximum=parts.MAX_WIDTH)
    heads = config.positive_int("num_attention_heads", heads, maximum=parts.MAX_WIDTH)
    if key_heads is None and config.values.get("num_key_value_heads") is None:
        key_heads = heads
    else:
        key_heads = config.positive_int("num_key_value_heads", key_heads, maximum=heads)
    if inner is None:
        inner = config.positive_int("intermediate_size", maximum=parts.MAX_WIDTH)
    count = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count)
    if config.values.get("head_dim") is None and head_width is None:  # null says so, too
        parts.check_heads(width, heads)
        head_width = width // heads
    else:
        head_width = config.positive_int("head_dim", head_width, maximum=parts.MAX_WIDTH)
    parts.check_shared_heads(heads, head_width, key_heads)
    return Sizes(width, heads, key_heads, head_width, inner, count)


@dataclass(frozen=True)
class LlamaParts:
    """Ops whose parameters are those of all layers below `prefix`."""

    tensors: TensorFile
    prefix: str
    sizes: Sizes
    epsilon: float
    gamma_of: Callable[[Array], Array] = lambda weight: weight  # what a norm's weight is to multiply by
    layer_norms: bool = False  # in the place of rms norms
    norm_biases: NormBiases = "all"
    bare_norms: bool = False  # none has parameters
    one_input: bool = False  # queries, keys and values are one linear of the file,
    one_gate: str | None = None  # gate and up are, by this name
    layers: tuple[int, ...] = ()  # which ones they are, where not all

    def norm(self, name: str, source: str, value: str = "hidden", out: str = "normed") -> Norm:
        """Of the rows of `value`."""
        bias = self.norm_biases != "none"
        return self._norm(name, self.sources(source), self.sizes.widths[value], value, out, bias=bias)

    def final_norm(self, source: str = "norm") -> Norm:
        """Behind the layers."""
        return self._norm(
            "final_norm",
            [f"{self.prefix}{source}"],
            self.sizes.width,
            "hidden",
            "hidden",
            bias=self._rows_have_bias,
        )

    def head_norms(self, names: tuple[str, str], *, own: OwnWeights | None = None) -> tuple[Norm, Norm]:
        """Of queries and keys; with `own` each head has weights of its own."""
        queries, keys = names
        return self.head_norm("query", queries, own=own), self.head_norm("key", keys, own=own)

    def head_norm(self, of: Literal["query", "key"], name: str, *, own: OwnWeights | None = None) -> Norm:
        """Of one of the two."""
        sizes, bias = self.sizes, self.norm_biases == "all"
        heads = sizes.heads if of == "query" else sizes.key_heads
        source = self.sources(f"self_attn.{name}")
        return self._norm(f"{of}_norm", source, sizes.head_width, of, of, heads, bias=bias, own=own)

    def row_norms(self) -> tuple[Norm, Norm]:
        """Of queries and keys, all heads as one row."""
        bias = self._rows_have_bias
        query, key = (
            self._norm(f"{of}_norm", self.sources(f"self_attn.{of[0]}_norm"), self.sizes.widths[of], of, of, bias=bias)
            for of in ("query", "key")
        )
        return query, key

    def sinks(self, source: str) -> Parameter:
        """A score of each head, beside those of keys."""
        arrays = (self.tensors.take(of, (self.sizes.heads,)) for of in self.sources(source))
        return Parameter("sinks", tuple(arrays))

    def linear(
        self, name: str, of: str, bias: bool, value: str, out: str, activation: str = "none", add: str | None = None
    ) -> Linear:
        """From `value` to `out`, to which `add` is added."""
        widths = self.sizes.widths
        shape = (widths[out], widths[value])
        return parts.linear(
            self.tensors, name, self.sources(of), shape, value, out, activation, residual=add, bias=bias
        )

    def added(self, linear: Linear, norm: str | None, factor: float = 1.0) -> tuple[Op, ...]:
        """A block's last linear, which adds to the rows; with `norm` what it adds is normalized. The factor is of what
        is added."""
        if norm is None:
            return (_times(linear, factor),)
        last = replace(linear, out="normed", residual=None)
        behind = _times(self.norm(f"{linear.name}_norm", norm, "normed"), factor)
        return (last, behind, Add("hidden", "normed", "hidden"))

    def projections(self, bias: bool, value: str = "normed") -> tuple[Linear, ...]:
        """Queries, keys and values."""
        if self.one_input:
            made = tuple((of, of, "none") for of in ("query", "key", "value"))
            return self._stacked("self_attn.qkv_proj", made, bias, value)
        return (
            self.linear("query", "self_attn.q_proj", bias, value, "query"),
            self.linear("key", "self_attn.k_proj", bias, value, "key"),
            self.linear("value", "self_attn.v_proj", bias, value, "value"),
        )

    def gate_and_up(self, bias: bool, activation: str, value: str = "normed") -> tuple[Linear, ...]:
        """Of a feed-forward block, the two that are multiplied."""
        if self.one_gate is not None:
            made = (("gate", "gate", activation), ("up", "inner", "none"))
            return self._stacked(self.one_gate, made, bias, value)
        return (
            self.linear("gate", "mlp.gate_proj", bias, value, "gate", activation),
            self.linear("up", "mlp.up_proj", bias, value, "inner"),
        )

    def _stacked(self, source: str, made: tuple[Made, ...], bias: bool, value: str) -> tuple[Linear, ...]:
        widths = self.sizes.widths
        shape = [widths[out] for _, out, _ in made], widths[value]
        return stacked_linears(self.tensors, self.sources(source), made, shape, value, bias=bias)

    def sources(self, of: str) -> list[str]:
        """Of tensors, by layer."""
        return [f"{self.prefix}layers.{i}.{of}" for i in self.layers or range(self.sizes.layers)]

    def _norm(
        self,
        name: str,
        sources: list[str],
        width: int,
        value: str,
        out: str,
        heads: int = 1,
        *,
        bias: bool,
        own: OwnWeights | None = None,
    ) -> Norm:
        gammas: tuple[Array, ...]
        if self.bare_norms:
            ones = Computed(f"{name} of ones", (width,), lambda: np.ones(width, np.float32))
            gammas, bias = (ones,) * len(sources), False
        else:
            gammas = tuple(self.gamma_of(self._weight(source, heads, width, own)) for source in sources)
        gamma, beta = Parameter(f"{name}_gamma", gammas), None
        if self.layer_norms and bias:
            beta = Parameter(f"{name}_beta", tuple(self.tensors.take(f"{source}.bias", (width,)) for source in sources))
        return Norm(name, gamma, beta, self.epsilon, value, out, "layer" if self.layer_norms else "rms", heads)

    def _weight(self, source: str, heads: int, width: int, own: OwnWeights | None) -> Array:
        """Of a norm of one layer."""
        if own is None:
            return self.tensors.take(f"{source}.weight", (width,))
        if own == "stacked":
            return one_row([self.tensors.take(f"{source}.weight", (heads, width))])
        return one_row([self.tensors.take(f"{source}.norms.{i}.weight", (width,)) for i in range(heads)])

    @property
    def _rows_have_bias(self) -> bool:
        return self.norm_biases in ("all", "rows")


def _times(op: Op, factor: float) -> Op:
    """What an op makes of its weights, times a number."""
    return op if factor == 1 else map_slots(op, lambda weights: scaled(weights, factor))
