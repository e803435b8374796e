# SPDX-License-Identifier: Apache-2.0
"""Layers of linear attention by the gated delta rule behind a short convolution: what families have of them alike, and
what their sizes are. Each family says how queries, keys, values, gates and rates are made of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...ir.convolutions import MOST_TAPS
from ...ir.graph import CausalConvolution, DeltaRule, Linear, Multiply, Norm, Op, Parameter
from ...ir.parameter import Array
from ...load.config import Config
from . import parts
from .computed import below_each_other, depthwise, powers_of_e
from .llama_parts import LlamaParts

LINEAR = "linear_attention"
OWN = frozenset(("delta_input", "delta_rows"))  # of a layer that is written token by token
Arrays = tuple[Array, ...]  # by layer


@dataclass(frozen=True)
class Usual:
    """Where the configuration does not say them."""

    heads: int
    key_heads: int
    key_width: int
    value_width: int | None = None  # None: twice as wide as keys are
    taps: int = 4


@dataclass(frozen=True)
class Delta:
    """Sizes of layers of linear attention."""

    heads: int
    key_heads: int
    key_width: int
    value_width: int
    taps: int

    @classmethod
    def read(cls, config: Config, usual: Usual, *, by_null: bool = False) -> Delta:
        """Where `by_null`, null says what no key does."""

        def said(key: str, otherwise: int) -> int:
            key = f"linear_{key}"
            if by_null and config.values.get(key) is None:
                return otherwise
            return config.positive_int(key, otherwise, maximum=parts.MAX_WIDTH)

        key_width = said("key_head_dim", usual.key_width)
        read = cls(
            said("num_value_heads", usual.heads),
            said("num_key_heads", usual.key_heads),
            key_width,
            said("value_head_dim", 2 * key_width if usual.value_width is None else usual.value_width),
            said("conv_kernel_dim", usual.taps),
        )
        if read.heads % read.key_heads:
            message = f"linear_num_value_heads {read.heads} on linear_num_key_heads {read.key_heads}: no multiple"
            raise parts.refuse("heads-do-not-divide", message)
        if not 2 <= read.taps <= MOST_TAPS:
            raise parts.refuse("config-out-of-range", f"linear_conv_kernel_dim {read.taps}: expected 2 to {MOST_TAPS}")
        if config.text("hidden_act", "silu") not in ("silu", "swish"):
            message = f"hidden_act '{config.text('hidden_act')}' behind a convolution (supported: silu)"
            raise parts.refuse("activation-not-supported", message)
        return read

    @property
    def keys(self) -> int:
        """Of all heads, and as many of queries."""
        return self.key_heads * self.key_width

    @property
    def rows(self) -> int:
        """How wide what it makes is."""
        return self.heads * self.value_width

    @property
    def input(self) -> int:
        """Of queries, keys and values."""
        return 2 * self.keys + self.rows

    @property
    def widths(self) -> dict[str, int]:
        rows = dict.fromkeys(("delta_rows", "delta_gate"), self.rows)
        each = dict.fromkeys(("delta_decay", "delta_beta"), self.heads)
        return rows | each | dict.fromkeys(("delta_input", "delta_mixed"), self.input)


@dataclass(frozen=True)
class Names:
    """Of tensors below a layer's `linear_attn`."""

    norm: str = "norm"
    output: str = "out_proj"
    convolution: tuple[str, ...] = ("conv1d",)  # below each other where there are several


@dataclass(frozen=True)
class Inputs:
    """The weights of a layer's linears [outputs, width]."""

    input: Arrays  # queries, then keys, then values, all heads' one behind the other
    gate: Arrays
    beta: Arrays
    decay: Arrays


def delta_attention(
    made: LlamaParts,
    delta: Delta,
    inputs: Inputs,
    names: Names = Names(),
    *,
    epsilon: float | None = None,
    more: tuple[Op, ...] = (),
) -> tuple[Op, ...]:
    """What adds to `hidden` what is made of `normed`; what decides how fast a state decays and changes stays of floats.
    `epsilon` is that of the norm of what comes out, where it is another than of the rows'; `more` comes behind beta."""
    tensors, width = made.tensors, made.sizes.width

    def of(name: str) -> list[str]:
        return made.sources(f"linear_attn.{name}")

    def linear(name: str, weights: Arrays, bias: Parameter | None = None, activation: str = "none") -> Linear:
        weight = Parameter(f"{name}_weight", weights)
        return Linear(name, weight, bias, "normed", name, activation, exact=name in ("delta_beta", "delta_decay"))

    def each(name: str, source: str, shape: tuple[int, ...], change: Callable[[Array], Array]) -> Parameter:
        return Parameter(name, tuple(change(tensors.take(tensor, shape)) for tensor in of(source)))

    heads = (delta.heads,)
    kernels = Parameter("convolution_weight", tuple(map(depthwise, _kernels(made, delta, names.convolution))))
    steps = each("delta_decay_bias", "dt_bias", heads, lambda array: array)
    gamma = each("delta_norm_gamma", f"{names.norm}.weight", (delta.value_width,), lambda array: array)
    return (
        linear("delta_input", inputs.input),
        linear("delta_gate", inputs.gate, activation="silu"),
        linear("delta_beta", inputs.beta, activation="sigmoid"),
        *more,
        linear("delta_decay", inputs.decay, steps),
        CausalConvolution("convolution", kernels, None, "delta_input", "delta_mixed"),
        DeltaRule(
            *("delta_rule", each("delta_rates", "A_log", heads, powers_of_e)),
            *(delta.heads, delta.key_heads, delta.key_width),
            *("delta_mixed", "delta_decay", "delta_beta", "delta_rows"),
        ),
        Norm(
            *("delta_norm", gamma, None, made.epsilon if epsilon is None else epsilon),
            *("delta_rows", "delta_rows", "rms", delta.heads),
        ),
        Multiply("delta_rows", "delta_gate", "delta_rows"),
        parts.linear(
            *(tensors, "delta_output", of(names.output), (width, delta.rows), "delta_rows", "hidden"),
            residual="hidden",
            bias=False,
        ),
    )


def _kernels(made: LlamaParts, delta: Delta, names: tuple[str, ...]) -> Iterator[Array]:
    """[input, 1, taps] of each layer; of several tensors the library reads the rows of one and then of the next,
    however many each has."""
    for sources in zip(*(made.sources(f"linear_attn.{name}.weight") for name in names), strict=True):
        rows = [delta.input] if len(sources) == 1 else [sum(made.tensors.info(of)[1][:1]) for of in sources]
        if sum(rows) != delta.input:
            message = f"{' and '.join(sources)}: {sum(rows)} rows, expected {delta.input}"
            raise parts.refuse("wrong-shape", message)
        shapes = [(count, 1, delta.taps) for count in rows]
        found = [made.tensors.take(of, shape) for of, shape in zip(sources, shapes, strict=True)]
        yield found[0] if len(found) == 1 else below_each_other(found)


def taken(made: LlamaParts, source: str, outputs: int) -> Arrays:
    """The weights of a linear of `normed` below a layer's `linear_attn`, by layer."""
    shape = outputs, made.sizes.width
    return tuple(made.tensors.take(f"{of}.weight", shape) for of in made.sources(f"linear_attn.{source}"))
