# SPDX-License-Identifier: Apache-2.0
"""Nomic's BERT with experts (Nussbaum and Duderstadt, 2025, arXiv:2502.07972), as nomic-embed-text-v2-moe: in every
second layer, or every so many, each row goes through the two best of eight feed-forward blocks.

`transformers` has no class for it; keys and names are those of the code that comes with the checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...ir.experts import ExpertLinear, Experts
from ...ir.graph import Add, Attention, Graph, Linear, Node, Norm, Op, Parameter, Rotary
from ...ir.parameter import Array
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ..shared import parts
from ..shared.computed import transposed_parts
from ..shared.experts import plus
from ..shared.periods import layers_of_kinds
from ..shared.rotary import Angles, check_pairs, rotary_tables
from ..shared.stacked import stacked_linears
from . import bert_like
from .architecture import ENCODER_ENDING, check_class
from .heads import Encoder, FamilyHeads, graph_with_head
from .nomic_keys import POSITIONS, check_neutral, vocabulary_of
from .rotary_bert import embed

_NAME = "NomicBert"
_ENCODER = f"{_NAME}{ENCODER_ENDING}"
# What asks for another computation, and what it is when it does not.
_NEUTRAL: dict[str, tuple[object, ...]] = {
    "expert_choice_router": (False,),
    "ffn_div": (1,),
    "moe_normalize_expert_weights": (False,),
    "num_shared_experts": (0,),
}
_LAYERS = "n_layer"
_DENSE, _MIXED = "dense", "mixed"  # kinds of layers
_PREFIX = "encoder.layers."


def has_experts(config: Config) -> bool:
    """Whether the configuration is of this form."""
    return config.values.get("num_experts") not in (None, 0)


def read_limits(config: Config) -> Limits:
    """By its own keys."""
    width, positions = config.positive_int("n_embd"), config.positive_int(POSITIONS, maximum=1 << 20)
    return Limits(width, vocabulary_of(config), positions, POSITIONS, "XLMRobertaTokenizer")


@dataclass(frozen=True)
class _Shape:
    hidden: int
    heads: int
    inner: int
    experts: int
    top: int
    activation: str
    epsilon: float
    attention_bias: bool
    inner_bias: bool
    output_bias: bool

    @property
    def widths(self) -> dict[str, int]:
        """Of the values of a layer."""
        rows = dict.fromkeys(("hidden", "query", "key", "value", "context", "mixed"), self.hidden)
        return rows | {"inner": self.inner, "scores": self.experts}


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_class(config, _ENCODER)
    if checkpoint.sentence is None:
        message = f"{_ENCODER} gives one vector per token: modules.json of sentence-transformers is missing"
        raise parts.refuse("modules-missing", f"{message}; or say it with --pooling mean")
    bert_like.check_encoder_only(config)
    check_neutral(config, _NEUTRAL)
    limits, shape = read_limits(config), _read_shape(config)
    parts.check_max_tokens(max_tokens, limits.positions, POSITIONS)
    segments = config.natural_int("type_vocab_size", 2, maximum=256)
    angles = Angles(_theta(config))
    cosines, sines = rotary_tables("rotary", angles, max_tokens, shape.hidden // shape.heads)
    turned = tuple(Rotary((cosines,), (sines,), shape.heads, value) for value in ("query", "key"))
    kinds = _kinds(config)
    parts.check_layers(tensors, len(kinds), _LAYERS)

    def ops_of(kind: str, layers: tuple[int, ...]) -> tuple[Op, ...]:
        return _layer(tensors, shape, turned, kind == _MIXED, [f"{_PREFIX}{layer}." for layer in layers])

    layers, widths = layers_of_kinds(kinds, ops_of, shape.widths, frozenset())
    body: tuple[Node, ...] = (
        embed(tensors, "", limits.vocabulary, segments, shape.hidden),
        parts.layer_norm(tensors, "embedding_norm", ["emb_ln"], shape.hidden, shape.epsilon, "hidden"),
        *layers,
    )
    encoder = Encoder(body, widths, limits.vocabulary, max(segments, 1))
    heads = FamilyHeads(left_out=("pooler.dense.weight", "pooler.dense.bias"))
    return graph_with_head(checkpoint, max_tokens, _NAME, encoder, heads)


def _read_shape(config: Config) -> _Shape:
    hidden = config.positive_int("n_embd", maximum=parts.MAX_WIDTH)
    heads = config.positive_int("n_head", maximum=parts.MAX_WIDTH)
    parts.check_heads(hidden, heads, "n_embd", "n_head")
    check_pairs(hidden // heads)
    experts = config.positive_int("num_experts", maximum=parts.MAX_WIDTH)
    return _Shape(
        hidden=hidden,
        heads=heads,
        inner=parts.inner_or_four_times(config, "n_inner", hidden),
        experts=experts,
        top=config.positive_int("moe_top_k", 1, maximum=experts),
        activation=parts.activation_of(config, "activation_function", "gelu"),
        epsilon=parts.epsilon_of(config, "layer_norm_epsilon", 1e-5),
        attention_bias=config.flag("qkv_proj_bias", True),
        inner_bias=config.flag("mlp_fc1_bias", True),
        output_bias=config.flag("mlp_fc2_bias", True),
    )


def _theta(config: Config) -> float:
    theta = config.number("rotary_emb_base", 10_000.0)
    if not 1 < theta <= 1e12:
        raise parts.refuse("config-out-of-range", f"rotary_emb_base {theta:g}: expected more than 1, at most 1e12")
    return theta


def _kinds(config: Config) -> tuple[str, ...]:
    """Of each layer: the second one of every so many has experts."""
    count = config.positive_int(_LAYERS, maximum=parts.MAX_LAYERS)
    every = config.natural_int("moe_every_n_layers", 0, maximum=parts.MAX_LAYERS)
    if every < 2 or count < 2:
        message = f"moe_every_n_layers {every} of {count} layers: none would have experts"
        raise parts.refuse("config-not-supported", f"{message}, though num_experts says some")
    return tuple(_MIXED if layer % every == 1 else _DENSE for layer in range(count))


def _layer(
    tensors: TensorFile, shape: _Shape, turned: Sequence[Rotary], mixed: bool, prefixes: Sequence[str]
) -> tuple[Op, ...]:
    """Attention, then a feed-forward block or experts; norms behind both."""
    hidden = shape.hidden

    def sources(name: str) -> list[str]:
        return [f"{prefix}{name}" for prefix in prefixes]

    def norm(name: str, source: str) -> Norm:
        return parts.layer_norm(tensors, name, sources(source), hidden, shape.epsilon, "hidden")

    def added(name: str, source: str, value: str, width: int, bias: bool) -> Linear:
        size = (hidden, width)
        return parts.linear(tensors, name, sources(source), size, value, "hidden", residual="hidden", bias=bias)

    projected = tuple((name, name, "none") for name in ("query", "key", "value"))
    inputs, inner = sources("attn.Wqkv"), shape.inner
    block: tuple[Op, ...]
    if mixed:
        block = _experts(tensors, shape, sources)
    else:
        size = (inner, hidden)
        block = (
            parts.linear(
                *(tensors, "intermediate", sources("mlp.fc1"), size, "hidden", "inner", shape.activation),
                bias=shape.inner_bias,
            ),
            added("output", "mlp.fc2", "inner", inner, shape.output_bias),
        )
    return (
        *stacked_linears(tensors, inputs, projected, (hidden, hidden), "hidden", bias=shape.attention_bias),
        *turned,
        Attention("query", "key", "value", "context", shape.heads),
        added("attention_output", "attn.out_proj", "context", hidden, shape.attention_bias),
        norm("attention_norm", "norm1"),
        *block,
        norm("output_norm", "norm2"),
    )


def _experts(tensors: TensorFile, shape: _Shape, sources: Callable[[str], list[str]]) -> tuple[Op, ...]:
    """What is chosen, what that makes of the rows, and a bias of them all, which no expert's weight counts for."""
    hidden, inner, experts = shape.hidden, shape.inner, shape.experts
    size = (experts * inner, hidden)

    def linear(name: str, weights: tuple[Array, ...]) -> ExpertLinear:
        return ExpertLinear(name, Parameter(f"{name}_weight", weights))

    first, second = (
        tuple(tensors.take(name, size) for name in sources(f"mlp.experts.mlp.{of}")) for of in ("w1", "w2")
    )
    linears = (
        linear("expert_intermediate", first),
        linear("expert_output", tuple(transposed_parts(array, experts) for array in second)),
    )
    biases = tuple(tensors.take(name, (hidden,)) for name in sources("mlp.experts.bias"))
    router = sources("mlp.router.layer")
    return (
        parts.linear(tensors, "router", router, (experts, hidden), "hidden", "scores", exact=True, bias=False),
        Experts(linears, experts, shape.top, "all", shape.activation, "scores", "hidden", "mixed"),
        plus("expert_bias", "mixed", biases),
        Add("hidden", "mixed", "hidden"),
    )
