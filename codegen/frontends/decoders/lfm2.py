# SPDX-License-Identifier: Apache-2.0
"""LFM2, made for edge devices: layers of attention as Llama's, with norms of each head's queries and keys, and layers
of a gated short convolution, all with a gated feed-forward block. Names as in `transformers`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ...ir.convolutions import MOST_TAPS
from ...ir.graph import Attention, CausalConvolution, Embed, Multiply, Node, Op, Parameter, Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.computed import depthwise
from ..shared.experts import Mixture
from ..shared.layer_kinds import FULL, Seen, layer_kinds
from ..shared.llama_parts import LlamaParts, read_sizes
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, WORDS, Rotation, Stack
from ..shared.periods import layers_of_kinds
from ..shared.rotary import angles_of
from ..shared.stacked import stacked_linears

MODEL_TYPE = "lfm2"
HARMLESS_KEYS = frozenset(  # of the first files, before the library knew the family: it reads none of them
    {"block_dim", "block_mlp_init_scale", "block_norm_eps", "block_out_init_scale", "block_use_swiglu"}
    | {"block_use_xavier_init", "conv_dim", "conv_dim_out", "conv_use_xavier_init", "num_heads", "use_pos_enc"}
    | {"full_attn_idxs", "intermediate_size"}  # where layer_types and block_ff_dim say more
)
CONVOLUTION = "conv"
_MIXED = ", mixed"  # behind the kind of a layer with experts
# Where the configuration does not say them.
_HEADS, _KEY_HEADS, _INNER, _MULTIPLE, _TAPS, _THETA, _EPSILON = 32, 8, 12_288, 256, 3, 1e6, 1e-5
_OWN = frozenset(("key", "value", "gated"))  # of a layer that is written token by token


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    return stack(config, tensors, prefix, vocabulary, tokens, _inner(config), _kinds(config))


def stack(
    config: Config,
    tensors: TensorFile,
    prefix: str,
    vocabulary: int,
    tokens: int,
    inner: int,
    kinds: tuple[str, ...],
    mixture: Mixture | None = None,
) -> Stack:
    """Of layers of these kinds, whose feed-forward blocks are `inner` wide, or a mixture of experts."""
    sizes = read_sizes(config, tensors, None, _HEADS, _KEY_HEADS, inner)
    made = LlamaParts(tensors, prefix, sizes, parts.epsilon_of(config, "norm_eps", _EPSILON))
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    seen = Rotation(angles_of(config, _THETA, positions), tokens).seen(sizes.head_width)

    def attention(of_kind: LlamaParts, _: str) -> tuple[Op, ...]:
        return _attention(of_kind, seen)

    return lfm_stack(config, made, vocabulary, kinds, {}, attention, taps=_TAPS, mixture=mixture)


def lfm_stack(
    config: Config,
    made: LlamaParts,
    vocabulary: int,
    kinds: Sequence[str],
    widths: Mapping[str, int],
    attention: Callable[[LlamaParts, str], tuple[Op, ...]],
    *,
    taps: int,
    norms: tuple[str | None, str | None] = (None, None),
    mixture: Mixture | None = None,
) -> Stack:
    """Of layers of these `kinds`, one of them convolutions; `attention` makes the ops of others, whose own values have
    `widths`. `taps` where the configuration does not say it; `norms` are of what both blocks add to the rows, which is
    not that of a `mixture` of experts, though."""
    words = parts.parameter(made.tensors, "word_embeddings", f"{made.prefix}{WORDS}", (vocabulary, made.sizes.width))

    def ops_of(kind: str, layers: tuple[int, ...]) -> tuple[Op, ...]:
        of_kind, kind = replace(made, layers=layers), kind.removesuffix(_MIXED)
        block = _convolution(of_kind, config, taps, norms[0]) if kind == CONVOLUTION else attention(of_kind, kind)
        if mixture is None or layers[0] in mixture.dense:
            return (*block, *_feed_forward(of_kind, norms[1]))
        mixed = mixture.ops(made.tensors, of_kind.sources, made.sizes.width, "silu", "normed")
        return (*block, of_kind.norm("feed_forward_norm", "ffn_norm"), *mixed)

    gates = dict.fromkeys(("gated", "output_gate", "convolved"), made.sizes.width)
    if mixture is not None:
        kinds = [kind if layer in mixture.dense else f"{kind}{_MIXED}" for layer, kind in enumerate(kinds)]
        gates |= mixture.widths(made.sizes.width)
    layers, all_widths = layers_of_kinds(kinds, ops_of, {**made.sizes.widths, **gates, **widths}, _OWN)
    body: tuple[Node, ...] = (Embed((Term(words, "ids"),), "hidden"), *layers, made.final_norm("embedding_norm"))
    return Stack(body, all_widths, words, made.sizes.width)


def _kinds(config: Config) -> tuple[str, ...]:
    """Of each layer."""
    layers = range(config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS))
    attend = config.values.get("full_attn_idxs")
    if attend is None:
        attend = list(layers)
    if not isinstance(attend, list) or not all(type(layer) is int for layer in attend):
        raise parts.refuse("layers-out-of-range", "full_attn_idxs: expected a list of layers")
    kinds = layer_kinds(config, tuple(FULL if i in attend else CONVOLUTION for i in layers), (FULL, CONVOLUTION))
    return with_attention(kinds)


def with_attention(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """EtchError where no layer has it."""
    if set(kinds) == {CONVOLUTION}:
        raise parts.refuse("layers-out-of-range", "no layer has attention: one at least is supported")
    return kinds


def _attention(made: LlamaParts, seen: Seen) -> tuple[Op, ...]:
    """With norms of each head's queries and keys."""
    heads, key_heads = made.sizes.heads, made.sizes.key_heads
    return (
        made.norm("operator_norm", "operator_norm"),
        *made.projections(bias=False),
        *made.head_norms(("q_layernorm", "k_layernorm")),
        *(seen.turned("query", heads), seen.turned("key", key_heads)),
        Attention("query", "key", "value", "context", heads, key_heads, mask=seen.masks.mask),
        made.linear("attention_output", "self_attn.out_proj", False, "context", "hidden", add="hidden"),
    )


def _convolution(made: LlamaParts, config: Config, taps: int, norm: str | None) -> tuple[Op, ...]:
    """A gate before the convolution and one behind it."""
    bias, width, taps = config.flag("conv_bias", False), made.sizes.width, config.natural_int("conv_L_cache", taps)
    if not 2 <= taps <= MOST_TAPS:
        raise parts.refuse("config-out-of-range", f"conv_L_cache {taps}: expected 2 to {MOST_TAPS}")
    inputs = (
        ("input_gate", "gated", "none"),
        ("output_gate", "output_gate", "none"),
        ("convolution_input", "convolved", "none"),
    )
    kernels = tuple(made.tensors.take(f"{of}.weight", (width, 1, taps)) for of in made.sources("conv.conv"))
    biases = tuple(made.tensors.take(f"{of}.bias", (width,)) for of in made.sources("conv.conv") if bias)
    output = parts.linear(
        *(made.tensors, "convolution_output", made.sources("conv.out_proj"), (width, width), "convolved", "hidden"),
        residual="hidden",
        bias=bias,
    )
    return (
        made.norm("operator_norm", "operator_norm"),
        *stacked_linears(made.tensors, made.sources("conv.in_proj"), inputs, (width, width), "normed", bias=bias),
        Multiply("gated", "convolved", "gated"),
        CausalConvolution(
            "convolution",
            Parameter("convolution_weight", tuple(map(depthwise, kernels))),
            Parameter("convolution_bias", biases) if bias else None,
            "gated",
            "convolved",
        ),
        Multiply("output_gate", "convolved", "convolved"),
        *made.added(output, norm),
    )


def _feed_forward(made: LlamaParts, norm: str | None) -> tuple[Op, ...]:
    return (
        made.norm("feed_forward_norm", "ffn_norm"),
        made.linear("gate", "feed_forward.w1", False, "normed", "gate", "silu"),
        made.linear("up", "feed_forward.w3", False, "normed", "inner"),
        Multiply("gate", "inner", "inner"),
        *made.added(made.linear("output", "feed_forward.w2", False, "inner", "hidden", add="hidden"), norm),
    )


def _inner(config: Config) -> int:
    """The width of feed-forward blocks: two thirds of what is said, times a factor, up to the next multiple."""
    key = "block_ff_dim" if "block_ff_dim" in config else "intermediate_size"
    inner = config.positive_int(key, _INNER, maximum=parts.MAX_WIDTH)
    if not config.flag("block_auto_adjust_ff_dim", True):
        return inner
    inner = int(2 * inner / 3)
    if "block_ffn_dim_multiplier" not in config or config.values.get("block_ffn_dim_multiplier") is not None:
        multiple = config.positive_int("block_multiple_of", _MULTIPLE, maximum=parts.MAX_WIDTH)
        factor = config.number("block_ffn_dim_multiplier", 1.0)
        if not 0 < factor * inner <= parts.MAX_WIDTH:
            raise parts.refuse("config-out-of-range", f"block_ffn_dim_multiplier {factor:g} of {inner}")
        inner = -(-int(factor * inner) // multiple) * multiple
    if not 0 < inner <= parts.MAX_WIDTH:
        raise parts.refuse("config-out-of-range", f"{key} makes feed-forward blocks of {inner} values")
    return inner


FAMILY = Family(
    "Lfm2", "TokenizersBackend", _stack, tied=True, tied_keys=("tie_embedding", "tie_word_embeddings"), padding=0
)
