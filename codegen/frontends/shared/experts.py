# SPDX-License-Identifier: Apache-2.0
"""Mixtures of experts: what files call their parts, and the ops that are made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...ir.clamped_gate import ClampedGate
from ...ir.experts import ExpertLinear, Experts, ExpertShares, ExpertWeighing
from ...ir.graph import Add, Multiply, Norm, Op, Parameter
from ...ir.op import map_slots
from ...ir.parameter import Array
from ...load.config import Config
from ...load.safetensors import TensorFile
from . import parts
from .computed import Computed, below_each_other, columns_of_each, every_of, one_row, part_of_each, scaled
from .stacked import stacked_linears

_MOST_EXPERTS = 4096
# Training's, and what is returned beside the outputs.
HARMLESS_KEYS = frozenset({"output_router_logits", "router_aux_loss_coef", "router_jitter_noise"})
Sources = Callable[[str], list[str]]  # of a tensor's name below the layers, its name in each of them


@dataclass(frozen=True)
class OneByOne:
    """Names below a layer in a file that has tensors of each expert, `{}` its number."""

    router: str
    gate: str
    up: str
    down: str


@dataclass(frozen=True)
class Stacked:
    """The same of one with tensors of all: [experts, 2 * inner, width], gates first, and [experts, width, inner]."""

    router: str
    gate_and_up: str
    down: str


@dataclass(frozen=True)
class Transposed:
    """The same of one with [experts, width, 2 * inner], gates and up by turns, and [experts, inner, width], and with
    biases behind these names, also of the router."""

    router: str
    gate_and_up: str
    down: str


QWEN_NAMES = (
    OneByOne("mlp.gate", *(f"mlp.experts.{{}}.{of}_proj" for of in ("gate", "up", "down"))),
    Stacked("mlp.gate", "mlp.experts.gate_up_proj", "mlp.experts.down_proj"),
)


# Of the block that all rows go through, where such a family has one.
QWEN_SHARED = OneByOne("mlp.shared_expert_gate", *(f"mlp.shared_expert.{of}_proj" for of in ("gate", "up", "down")))


@dataclass(frozen=True)
class Shared:
    """A block that all rows go through, which counts as much as the sigmoid of a score of its own."""

    inner: int
    names: OneByOne


@dataclass(frozen=True)
class Beside:
    """A block that all rows go through and that counts as it is. Its gate and up are two linears of the file or, by one
    name, gates first, a single one."""

    inner: int
    gate_and_up: tuple[str, ...]
    down: str
    bias: bool = False

    @property
    def widths(self) -> dict[str, int]:
        """Of what the ops write."""
        return dict.fromkeys(("beside_gate", "beside"), self.inner)

    def ops(
        self, tensors: TensorFile, sources: Sources, width: int, activation: str, value: str, factor: float
    ) -> tuple[Op, ...]:
        """What adds to `hidden`, times `factor`, what is made of `value`."""
        shape, bias = (self.inner, width), self.bias
        made = (("beside_gate", "beside_gate", activation), ("beside_up", "beside", "none"))
        both: tuple[Op, ...]
        if len(self.gate_and_up) == 1:
            both = stacked_linears(tensors, sources(self.gate_and_up[0]), made, shape, value, bias=bias)
        else:
            both = tuple(
                parts.linear(tensors, name, sources(source), shape, value, out, activation_of, bias=bias)
                for source, (name, out, activation_of) in zip(self.gate_and_up, made, strict=True)
            )
        output = parts.linear(
            *(tensors, "beside_output", sources(self.down), (width, self.inner), "beside", "hidden"),
            residual="hidden",
            bias=bias,
        )
        last = output if factor == 1 else map_slots(output, lambda weights: scaled(weights, factor))
        return (*both, Multiply("beside_gate", "beside", "beside"), last)


@dataclass(frozen=True)
class Mixture:
    """What layers have in the place of a feed-forward block, but for the `dense` ones."""

    experts: int
    top: int
    inner: int
    weighing: ExpertWeighing
    names: tuple[OneByOne | Stacked | Transposed, ...] = QWEN_NAMES  # of the forms that a file may have
    clamped: ClampedGate | None = None  # in the place of the activation
    shared: Shared | None = None
    beside: Beside | None = None
    dense: frozenset[int] = frozenset()
    # Names below a layer of a bias that chooses them, empty: there is none; of which shape, without ones before, it is.
    chosen_by: tuple[str, ...] = ()
    bias_axes: int = 1
    shares: ExpertShares | None = None
    factor: float = 1.0  # of what the chosen ones add to the rows

    def widths(self, width: int) -> dict[str, int]:
        """Of what the ops write, where rows are so wide."""
        own = {"scores": self.experts, "mixed": width}
        own |= {} if self.shared is None else {"shared_score": 1, "shared": width}
        return own if self.beside is None else own | self.beside.widths

    def ops(
        self, tensors: TensorFile, sources: Sources, width: int, activation: str, value: str, factor: float = 1.0
    ) -> tuple[Op, ...]:
        """What adds to `hidden`, times `factor`, what is made of `value`."""
        of = _Of(tensors, sources, width, activation, value)
        form = next((form for form in self.names if of.has(form)), self.names[0])
        size = self.experts, self.inner
        if isinstance(form, OneByOne):
            linears = of.one_by_one(form, *size)
        else:
            linears = of.stacked(form, *size) if isinstance(form, Stacked) else of.transposed(form, *size)
        ops = of.mixed(
            *(form.router, linears, size[0], self.top, self.weighing),
            bias=isinstance(form, Transposed),
            clamped=self.clamped,
        )
        ops = tuple(self._chosen(op, tensors, sources) for op in ops)
        if self.shared is not None:
            linears = of.one_by_one(self.shared.names, 1, self.shared.inner, "shared")
            ops += of.mixed(
                self.shared.names.router, linears, 1, 1, "each", ("shared_router", "shared_score", "shared")
            )
        if factor != 1:
            ops = tuple(_scaled(op, factor) for op in ops)
        return ops if self.beside is None else ops + self.beside.ops(tensors, sources, width, activation, value, factor)

    def _chosen(self, op: Op, tensors: TensorFile, sources: Sources) -> Op:
        """The experts as this says, others as they are."""
        if not isinstance(op, Experts):
            return op
        op = replace(op, shares=self.shares)
        if self.chosen_by:
            shape = (1,) * (self.bias_axes - 1) + (self.experts,)
            usual, *older = (sources(name) for name in self.chosen_by)
            names = zip(usual, older[0] if older else [None] * len(usual), strict=True)
            arrays = (tensors.take(name, shape, legacy=legacy) for name, legacy in names)
            op = replace(op, bias=Parameter("expert_bias", tuple(one_row((array,)) for array in arrays)))
        return op if self.factor == 1 else _scaled(op, self.factor)


@dataclass(frozen=True)
class _Of:
    """Parts of some layers."""

    tensors: TensorFile
    sources: Sources
    width: int
    activation: str
    value: str

    def has(self, form: OneByOne | Stacked | Transposed) -> bool:
        """Whether the file's first layer is of this form."""
        name = f"{form.down.format(0)}.weight" if isinstance(form, OneByOne) else form.down
        return self.sources(name)[0] in self.tensors

    def mixed(
        self,
        router: str,
        linears: tuple[ExpertLinear, ...],
        experts: int,
        top: int,
        weighing: ExpertWeighing,
        names: tuple[str, str, str] = ("router", "scores", "mixed"),
        *,
        bias: bool = False,
        clamped: ClampedGate | None = None,
    ) -> tuple[Op, ...]:
        """Scores, which stay in floats whatever the recipe, for they decide, and the sum of the chosen experts."""
        name, scores, out = names
        size = experts, self.width
        return (
            parts.linear(self.tensors, name, self.sources(router), size, self.value, scores, exact=True, bias=bias),
            Experts(linears, experts, top, weighing, self.activation, scores, self.value, out, clamped),
            Add("hidden", out, "hidden"),
        )

    def one_by_one(self, form: OneByOne, experts: int, inner: int, name: str = "expert") -> tuple[ExpertLinear, ...]:
        """Gate, up and down."""

        def linear(of: str, source: str, outputs: int, inputs: int) -> ExpertLinear:
            by_expert = [self.sources(f"{source.format(i)}.weight") for i in range(experts)]
            size = outputs, inputs
            layers = ([self.tensors.take(each, size) for each in layer] for layer in zip(*by_expert, strict=True))
            arrays = tuple(layer[0] if experts == 1 else below_each_other(layer) for layer in layers)
            return ExpertLinear(f"{name}_{of}", Parameter(f"{name}_{of}_weight", arrays))

        return (
            linear("gate", form.gate, inner, self.width),
            linear("up", form.up, inner, self.width),
            linear("output", form.down, self.width, inner),
        )

    def stacked(self, form: Stacked, experts: int, inner: int) -> tuple[ExpertLinear, ...]:
        """The same."""
        both = [self.tensors.take(of, (experts, 2 * inner, self.width)) for of in self.sources(form.gate_and_up)]
        down = [self.tensors.take(of, (experts, self.width, inner)) for of in self.sources(form.down)]

        def linear(of: str, arrays: tuple[Array, ...]) -> ExpertLinear:
            return ExpertLinear(f"expert_{of}", Parameter(f"expert_{of}_weight", arrays))

        return (
            linear("gate", tuple(part_of_each(array, 0, 2) for array in both)),
            linear("up", tuple(part_of_each(array, 1, 2) for array in both)),
            linear("output", tuple(part_of_each(array, 0, 1) for array in down)),
        )

    def transposed(self, form: Transposed, experts: int, inner: int) -> tuple[ExpertLinear, ...]:
        """The same."""

        def linear(of: str, source: str, shape: tuple[int, int], part: int, count: int) -> ExpertLinear:
            inputs, outputs = shape
            weights = [self.tensors.take(each, (experts, inputs, outputs)) for each in self.sources(source)]
            biases = [self.tensors.take(each, (experts, outputs)) for each in self.sources(f"{source}_bias")]
            name = f"expert_{of}"
            return ExpertLinear(
                name,
                Parameter(f"{name}_weight", tuple(columns_of_each(each, part, count) for each in weights)),
                Parameter(f"{name}_bias", tuple(every_of(each, part, count) for each in biases)),
            )

        both = self.width, 2 * inner
        return (
            linear("gate", form.gate_and_up, both, 0, 2),
            linear("up", form.gate_and_up, both, 1, 2),
            linear("output", form.down, (inner, self.width), 0, 1),
        )


def _scaled(op: Op, factor: float) -> Op:
    """What experts add to the rows, times a number."""
    if not isinstance(op, Experts):
        return op
    last = map_slots(op.linears[-1], lambda weights: scaled(weights, factor))
    return replace(op, linears=(*op.linears[:-1], last))


def counts_of(
    config: Config,
    keys: tuple[str, ...],
    usual: tuple[int | None, int | None],
    top_keys: tuple[str, ...] = ("num_experts_per_tok",),
) -> tuple[int, int]:
    """How many experts there are, and how many a row goes through, each by the first of some names of one key that is
    said; `usual` where nothing says it, None: it has to be."""
    experts = config.positive_int(_said_name(config, keys), usual[0], maximum=_MOST_EXPERTS)
    return experts, config.positive_int(_said_name(config, top_keys), usual[1], maximum=experts)


def _said_name(config: Config, keys: tuple[str, ...]) -> str:
    """The first of some names of one key that is said; all that are say the same."""
    said = [key for key in keys if config.values.get(key) is not None]
    for key in said:
        if config.values[key] != config.values[said[0]]:
            raise parts.refuse(
                "config-value", f"{key} is not what {said[0]} says, though both are one: make them agree"
            )
    return said[0] if said else keys[0]


def normalized(config: Config, *, usual: bool = False) -> ExpertWeighing:
    """Whether weights of chosen experts add up to 1; `usual` where the configuration does not say it."""
    return "chosen" if config.flag("norm_topk_prob", usual) else "all"


def dense_layers(config: Config) -> frozenset[int]:
    """Those without experts: all but every so many, and those that are named."""
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    step = config.positive_int("decoder_sparse_step", 1, maximum=parts.MAX_LAYERS)
    named = config.values.get("mlp_only_layers")
    named = [] if named is None else named
    if not isinstance(named, list) or not all(type(layer) is int for layer in named):
        raise parts.refuse("layers-out-of-range", "mlp_only_layers: expected a list of layers")
    dense = frozenset(layer for layer in range(layers) if layer in named or (layer + 1) % step)
    if len(dense) == layers:
        raise parts.refuse("config-not-supported", "mlp_only_layers, decoder_sparse_step: no layer has experts")
    return dense


def first_dense(config: Config, key: str, usual: int) -> frozenset[int]:
    """The first layers, without experts, as many as a key says."""
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    count = config.natural_int(key, usual)
    if count >= layers:
        raise parts.refuse("config-not-supported", f"{key} {count}: no layer has experts")
    return frozenset(range(count))


def dense_by_kind(config: Config, usual: frozenset[int]) -> frozenset[int]:
    """Those that mlp_layer_types calls so, `usual` where it is not said."""
    if config.values.get("mlp_layer_types") is None:
        return usual
    layers = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    kinds = config.strings("mlp_layer_types")
    if len(kinds) != layers or not {"sparse"} <= set(kinds) <= {"sparse", "dense"}:
        message = f"mlp_layer_types: expected {layers} of sparse or dense, one sparse at least"
        raise parts.refuse("layers-out-of-range", message)
    return frozenset(layer for layer, kind in enumerate(kinds) if kind == "dense")


def plus(name: str, value: str, biases: tuple[Array, ...]) -> Norm:
    """A bias of the rows of `value`, in place: a norm that divides nothing and multiplies by 1."""
    width = biases[0].shape[0]
    ones = Computed(f"{name} of ones", (width,), lambda: np.ones(width, np.float32))
    gamma = Parameter(f"{name}_gamma", (ones,) * len(biases))
    return Norm(name, gamma, Parameter(f"{name}_beta", biases), None, value, value, kind="affine")
