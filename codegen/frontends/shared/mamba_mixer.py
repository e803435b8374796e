# SPDX-License-Identifier: Apache-2.0
"""Mamba-2's mixer: a state space behind a short convolution, a gate and a norm. What families have of it alike, and
what its sizes are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Literal

import numpy as np

from ...ir.convolutions import MOST_TAPS
from ...ir.graph import CausalConvolution, Linear, Multiply, Norm, Op, Parameter, StateSpace
from ...ir.op import map_slots
from ...ir.parameter import Array
from ...load.config import Config
from ...load.json_file import INFINITY
from . import parts
from .computed import depthwise, powers_of_e, rows_of, scaled, sum_of, times_by_rows
from .llama_parts import LlamaParts

OWN = frozenset(("mamba_input", "mamba_rows"))  # of a layer that is written token by token
LINEAR = "linear_attention"  # what the library calls layers of it
HYBRID_KEYS = {  # of most hybrid families, by Mamba-2's own name
    "num_heads": "mamba_n_heads",
    "head_dim": "mamba_d_head",
    "n_groups": "mamba_n_groups",
    "state_size": "mamba_d_state",
    "conv_kernel": "mamba_d_conv",
    "use_conv_bias": "mamba_conv_bias",
    "use_bias": "mamba_proj_bias",
    "expand": "mamba_expand",
}
_LIMITS = "time_step_limit"
Gated = Literal["behind", "before", "none"]  # where the norm stands as seen from the gate


@dataclass(frozen=True)
class Usual:
    """Where the configuration does not say them."""

    heads: int
    groups: int
    state_width: int
    head_width: int | None = None  # None: the width of all, shared evenly
    keys: Mapping[str, str] = field(default_factory=dict)  # what Mamba-2's keys are called


@dataclass(frozen=True)
class Mamba:
    """Sizes of a mixer, and what it has."""

    heads: int
    head_width: int
    groups: int
    state_width: int
    taps: int
    times: tuple[float, float]
    input_bias: bool
    convolution_bias: bool
    output_bias: bool
    norm: Gated = "behind"

    @classmethod
    def read(cls, config: Config, usual: Usual, width: int, rows: int | None = None) -> Mamba:
        """Of a model of `width`; `rows` is how wide what the mixer makes is, some times the width where None."""

        def key(name: str) -> str:
            return usual.keys.get(name, name)

        def said(name: str, otherwise: int | None) -> int:
            return config.positive_int(key(name), otherwise, maximum=parts.MAX_WIDTH)

        rows = said("expand", 2) * width if rows is None else rows
        heads, groups, taps = said("num_heads", usual.heads), said("n_groups", usual.groups), said("conv_kernel", 4)
        shared = config.values.get(key("head_dim"), "auto") == "auto" and usual.head_width is None
        head_width = rows // heads if shared else said("head_dim", usual.head_width)
        if heads * head_width != rows:
            message = f"{key('num_heads')} {heads} of {key('head_dim')} {head_width} do not make rows of {rows}"
            raise parts.refuse("heads-do-not-divide", message)
        if heads % groups:
            message = f"{key('num_heads')} {heads} on {key('n_groups')} {groups}: no multiple"
            raise parts.refuse("heads-do-not-divide", message)
        if not 2 <= taps <= MOST_TAPS:
            message = f"{key('conv_kernel')} {taps}: expected 2 to {MOST_TAPS}"
            raise parts.refuse("config-out-of-range", message)
        if config.text("hidden_act", "silu") not in ("silu", "swish"):
            message = f"hidden_act '{config.text('hidden_act')}' behind a convolution (supported: silu)"
            raise parts.refuse("activation-not-supported", message)
        bias = config.flag(key("use_bias"), False)
        return cls(
            *(heads, head_width, groups, said("state_size", usual.state_width), taps, _times(config)),
            *(bias, config.flag(key("use_conv_bias"), True), bias),
        )

    @property
    def rows(self) -> int:
        """How wide what it makes is."""
        return self.heads * self.head_width

    @property
    def of_groups(self) -> int:
        """Of the inputs of all groups' states, and as many of their outputs."""
        return self.groups * self.state_width

    @property
    def input(self) -> int:
        """Of values, inputs and outputs of states."""
        return self.rows + 2 * self.of_groups

    @property
    def widths(self) -> dict[str, int]:
        rows = dict.fromkeys(("mamba_rows", "mamba_gate"), self.rows)
        return rows | dict.fromkeys(("mamba_input", "mamba_mixed"), self.input) | {"mamba_time": self.heads}


@dataclass(frozen=True)
class MixerFactors:
    """What is multiplied on the way."""

    rows: float = 1.0  # what the mixer reads
    made: tuple[float, ...] = (1.0,) * 5  # what the first linear makes: gate, values, inputs, outputs, time steps
    out: float = 1.0  # what is added


def mixer(made: LlamaParts, mamba: Mamba, source: str, factors: MixerFactors = MixerFactors()) -> tuple[Op, ...]:
    """What adds to `hidden` what is made of `normed`, of tensors below a layer's `source`; what decides how fast states
    decay stays of floats."""
    tensors, width, heads = made.tensors, made.sizes.width, (mamba.heads,)

    def of(name: str) -> list[str]:
        return made.sources(f"{source}.{name}")

    def each(name: str, tensor: str, shape: tuple[int, ...]) -> Parameter:
        return Parameter(name, tuple(tensors.take(of_layer, shape) for of_layer in of(tensor)))

    kernels = tuple(tensors.take(of_layer, (mamba.input, 1, mamba.taps)) for of_layer in of("conv1d.weight"))
    rates = tuple(powers_of_e(tensors.take(of_layer, heads)) for of_layer in of("A_log"))
    output = parts.linear(
        *(tensors, "mamba_output", of("out_proj"), (width, mamba.rows), "mamba_rows", "hidden"),
        residual="hidden",
        bias=mamba.output_bias,
    )
    return (
        *_inputs(made, mamba, source, factors),
        CausalConvolution(
            "convolution",
            Parameter("convolution_weight", tuple(map(depthwise, kernels))),
            each("convolution_bias", "conv1d.bias", (mamba.input,)) if mamba.convolution_bias else None,
            *("mamba_input", "mamba_mixed"),
        ),
        StateSpace(
            *("state_space", Parameter("mamba_rates", rates), each("mamba_skips", "D", heads)),
            *(mamba.heads, mamba.groups, mamba.state_width),
            mamba.times,
            *("mamba_mixed", "mamba_time", "mamba_rows"),
        ),
        *_gated(made, mamba, of("norm.weight")),
        output if factors.out == 1 else map_slots(output, lambda weights: scaled(weights, factors.out)),
    )


def _inputs(made: LlamaParts, mamba: Mamba, source: str, factors: MixerFactors) -> tuple[Op, ...]:
    """One linear of the file: the gate, what is convolved, and time steps."""
    sizes = mamba.rows, mamba.rows, mamba.of_groups, mamba.of_groups, mamba.heads
    ends = [0, *accumulate(sizes)]
    names = made.sources(f"{source}.in_proj")
    steps = [made.tensors.take(of, sizes[-1:]) for of in made.sources(f"{source}.dt_bias")]
    by_rows = list(zip(sizes, factors.made, strict=True))

    def taken(tensor: str, shape: tuple[int, ...], times: float) -> list[Array]:
        arrays = (made.tensors.take(f"{of}.{tensor}", shape) for of in names)
        return [times_by_rows(array, [(rows, factor * times) for rows, factor in by_rows]) for array in arrays]

    weights = taken("weight", (ends[-1], made.sizes.width), factors.rows)
    biases = taken("bias", (ends[-1],), 1.0) if mamba.input_bias else []
    spans = dict(
        zip(("mamba_gate", "mamba_input", "mamba_time"), pairwise((0, ends[1], ends[4], ends[5])), strict=True)
    )

    def linear(name: str, activation: str = "none") -> Linear:
        begin, end = spans[name]
        own: list[list[Array]] = [[rows_of(bias, begin, end)] for bias in biases]
        if name == "mamba_time":
            own = [[*of_layer, step] for of_layer, step in zip(own or [[] for _ in steps], steps, strict=True)]
        bias = Parameter(f"{name}_bias", tuple(map(sum_of, own))) if own else None
        weight = Parameter(f"{name}_weight", tuple(rows_of(array, begin, end) for array in weights))
        return Linear(name, weight, bias, "normed", name, activation, exact=name == "mamba_time")

    return (linear("mamba_gate", "silu"), linear("mamba_input"), linear("mamba_time"))


def _gated(made: LlamaParts, mamba: Mamba, names: list[str]) -> tuple[Op, ...]:
    """The gate, and the norm of each group."""
    gate = Multiply("mamba_rows", "mamba_gate", "mamba_rows")
    if mamba.norm == "none":
        return (gate,)
    gamma = Parameter("mamba_norm_gamma", tuple(made.tensors.take(of, (mamba.rows,)) for of in names))
    norm = Norm("mamba_norm", gamma, None, made.epsilon, "mamba_rows", "mamba_rows", "rms", mamba.groups)
    return (gate, norm) if mamba.norm == "behind" else (norm, gate)


def _times(config: Config) -> tuple[float, float]:
    """What time steps are kept within. The library forgets of it where it goes on token by token, and so do all that
    write by it: no text that it reads at once is then what it would write."""
    said = config.values.get(_LIMITS)
    if said is None:
        return 0.0, float("inf")
    numbers = [float("inf") if value == INFINITY else value for value in said] if isinstance(said, list) else []
    if len(numbers) != 2 or not all(type(number) in (int, float) for number in numbers):
        raise parts.refuse("config-type", f"{_LIMITS}: expected two numbers")
    least, most = max(float(numbers[0]), 0.0), float(numbers[1])
    if not (np.float32(least) <= np.float32(most) and most > 0):
        raise parts.refuse("config-out-of-range", f"{_LIMITS}: time steps within {least:g} and {most:g}")
    if (least > 0 or most < float("inf")) and not config.embeds:
        message = f"{_LIMITS}: the library keeps time steps within {least:g} and {most:g} in what it reads, but not in"
        raise parts.refuse("config-not-supported", f"{message} what it writes behind")
    return least, most
