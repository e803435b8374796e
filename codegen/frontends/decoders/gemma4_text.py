# SPDX-License-Identifier: Apache-2.0
"""Gemma 4's texts, without experts: Gemma 3's layers with heads of another width where all tokens are seen, keys and
values that later layers read of earlier ones, and of each token a row for each layer. It writes, and makes no
embeddings. Names as in `transformers`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from ...ir.graph import Attention, Embed, Multiply, Norm, Op, Parameter, Term
from ...ir.renamed import Renaming
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.computed import repeated_value, same_values
from ..shared.gemma2_stack import NORMS, attention_bias
from ..shared.layer_kinds import (
    FULL,
    SLIDING,
    Seen,
    angles_by_kind,
    every_so_manyth,
    layer_kinds,
    seen_by_kind,
    tables_by_kind,
)
from ..shared.layer_words import LayerWords
from ..shared.llama_parts import LlamaParts, Sizes, read_sizes
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, WORDS, Stack, cap_of, masks_by_kind
from ..shared.periods import layers_of_kinds
from ..shared.rotary import PROPORTIONAL, proportional_angles

MODEL_TYPE = "gemma4_text"
# Training's; of experts, of which there are none.
HARMLESS_KEYS = frozenset({"attention_dropout", "moe_intermediate_size", "num_experts", "top_k_experts"})
# Where the configuration does not say them.
_HEADS, _KEY_HEADS, _HEAD_WIDTH, _FULL_HEAD_WIDTH, _WINDOW, _EVERY = 8, 4, 256, 512, 512, 6
_THETAS = {FULL: (None, 1_000_000.0), SLIDING: (None, 10_000.0)}
_ANGLES = {
    SLIDING: {"rope_type": "default", "rope_theta": 10_000.0},
    FULL: {"rope_type": PROPORTIONAL, "partial_rotary_factor": 0.25, "rope_theta": 1_000_000.0},
}
_BOTH_WAYS, _BY_LAYER, _SHARED, _CAP = (
    *("use_bidirectional_attention", "per_layer_config", "num_kv_shared_layers"),
    "final_logit_softcapping",
)
_OF_HEADS = ("query", "key", "value", "context")
_OWN = frozenset({"key", "value", "full_key", "full_value"})  # of a layer that is written token by token
_OF_KEYS = ("k_proj", "v_proj", "k_norm", "v_norm")


@dataclass(frozen=True)
class _Shape:
    """Of the layers."""

    kinds: tuple[str, ...]  # by layer
    sizes: dict[str, Sizes]  # by kind
    shared: int  # so many layers at the end have keys and values of those before them,
    wide: bool  # and feed-forward blocks that are twice as wide
    same: bool  # whether values are what keys are made of, where all tokens are seen

    @property
    def first_shared(self) -> int:
        return len(self.kinds) - self.shared

    def keys_of(self, layer: int) -> int:
        """The layer whose keys and values a layer reads."""
        before = [i for i in range(self.first_shared) if self.kinds[i] == self.kinds[layer]]
        return layer if layer < self.first_shared else before[-1]


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    _check(config)
    shape = _shape(config, tensors)
    first = shape.sizes[SLIDING]
    made = LlamaParts(tensors, prefix, first, parts.epsilon_of(config, "rms_norm_eps", 1e-6))
    activation = parts.activation_of(config, "hidden_activation", "gelu_pytorch_tanh")
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{WORDS}", (vocabulary, first.width))
    of_layers = LayerWords.read(config, made, vocabulary)
    seen, bias = _seen(config, shape, tokens), attention_bias(config)
    for layer in range(shape.first_shared, len(shape.kinds)):
        tensors.ignore(*(f"{prefix}layers.{layer}.self_attn.{of}.*" for of in _OF_KEYS))

    def ops_of(name: str, layers: tuple[int, ...]) -> tuple[Op, ...]:
        kind = shape.kinds[layers[0]]
        of_kind = replace(made, layers=layers, sizes=shape.sizes[kind])
        is_wide = shape.wide and layers[0] >= shape.first_shared
        if is_wide:
            of_kind = replace(of_kind, sizes=replace(of_kind.sizes, inner=2 * first.inner))
        renamed = {"inner": "wide_inner", "gate": "wide_gate"} if is_wide else {}
        keys = shape.keys_of(layers[0])
        if kind == FULL:
            renamed |= {value: f"full_{value}" for value in _OF_HEADS}
        if keys != layers[0]:
            renamed |= {value: f"layer_{keys}_{renamed.get(value, value)}" for value in ("key", "value")}
        ops = (
            *_attention(of_kind, seen[kind], bias, has_keys=keys == layers[0], same=shape.same and kind == FULL),
            *_feed_forward(of_kind, activation),
        )
        change = Renaming(lambda op: op, lambda value: renamed.get(value, value), lambda parameter: parameter)
        behind = () if of_layers is None else of_layers.added(of_kind, activation, layers[0])
        return (*map(change.op, ops), *behind, _scaled(of_kind))

    alone = of_layers is not None or shape.shared > 0  # then each layer has something that no other has
    names = tuple(f"{kind} {layer}" if alone else kind for layer, kind in enumerate(shape.kinds))
    layers, widths = layers_of_kinds(names, ops_of, _widths(shape), _OWN)
    before = () if of_layers is None else of_layers.before
    embed = Embed((Term(words, "ids", factor=first.width**0.5),), "hidden")
    widths |= {} if of_layers is None else of_layers.widths
    return Stack((embed, *before, *layers, made.final_norm()), widths, words, first.width)


def _check(config: Config) -> None:
    if config.flag("enable_moe_block", False):
        raise parts.refuse("config-not-supported", "enable_moe_block: experts beside a feed-forward block")
    if config.values.get(_BOTH_WAYS) not in (None, "vision"):  # of which texts alone have nothing
        raise parts.refuse("config-not-supported", f"{_BOTH_WAYS}: rows of texts that see all tokens")
    if config.embeds:
        raise parts.refuse("config-not-supported", f"embeddings of {MODEL_TYPE}: it writes texts only")


def _shape(config: Config, tensors: TensorFile) -> _Shape:
    kinds = list(layer_kinds(config, every_so_manyth(config, _EVERY)))
    kinds[-1] = FULL  # as the library has it, whatever the file says
    sizes = read_sizes(config, tensors, _HEAD_WIDTH, _HEADS, _KEY_HEADS)
    same = config.flag("attention_k_eq_v", False)
    shared = config.natural_int(_SHARED, 0, maximum=len(kinds) - 1)
    if shared and set(kinds[: len(kinds) - shared]) != set(kinds):
        raise parts.refuse("layers-out-of-range", f"{_SHARED} {shared}: no layer before them has keys of their kind")
    wide = config.flag("use_double_wide_mlp", False)
    return _Shape(tuple(kinds), {SLIDING: sizes, FULL: _full_sizes(config, sizes, kinds, same)}, shared, wide, same)


def _full_sizes(config: Config, sizes: Sizes, kinds: list[str], same: bool) -> Sizes:
    """Of layers that see all tokens: by a key of its own, or as newer files say it, by layer."""
    by_layer = config.values.get(_BY_LAYER)
    if by_layer is None:
        width = config.positive_int("global_head_dim", _FULL_HEAD_WIDTH, maximum=parts.MAX_WIDTH)
        key = "num_global_key_value_heads"
        other = same and config.values.get(key) is not None
        key_heads = config.positive_int(key, maximum=sizes.heads) if other else sizes.key_heads
    else:
        full = [str(layer) for layer, kind in enumerate(kinds) if kind == FULL]
        is_object = isinstance(by_layer, dict) and set(by_layer) <= set(full)
        said = [by_layer.get(layer, {}) for layer in full] if is_object else [None]
        if not isinstance(said[0], dict) or any(each != said[0] for each in said):
            raise parts.refuse("config-not-supported", f"{_BY_LAYER}: expected the same for each layer of {FULL}")
        if not set(said[0]) <= {"head_dim", "num_key_value_heads"}:
            raise parts.refuse("config-not-supported", f"{_BY_LAYER}: other keys than of heads")
        own = Config.from_json(said[0])
        width = own.positive_int("head_dim", sizes.head_width, maximum=parts.MAX_WIDTH)
        key_heads = own.positive_int("num_key_value_heads", sizes.key_heads, maximum=sizes.heads)
    parts.check_shared_heads(sizes.heads, width, key_heads)
    return replace(sizes, head_width=width, key_heads=key_heads)


def _seen(config: Config, shape: _Shape, tokens: int) -> dict[str, Seen]:
    """By kind."""
    if config.values.get("rope_parameters") is None:
        config = replace(config, values=config.values.changed("rope_parameters", _ANGLES))
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    found = {}
    for kind in sorted(set(shape.kinds)):
        width = shape.sizes[kind].head_width
        angles = angles_by_kind(config, _THETAS, positions, read=partial(proportional_angles, width=width))
        tables = tables_by_kind(angles, [kind], tokens, width)
        found[kind] = seen_by_kind([kind], tables, masks_by_kind(config, [kind], _WINDOW, tokens))
    return found


def _widths(shape: _Shape) -> dict[str, int]:
    sliding, full = shape.sizes[SLIDING].widths, shape.sizes[FULL].widths
    wide = {"wide_inner": 2 * sliding["inner"], "wide_gate": 2 * sliding["inner"]} if shape.wide else {}
    return sliding | {f"full_{value}": full[value] for value in _OF_HEADS} | wide


def _attention(made: LlamaParts, seen: Seen, bias: bool, *, has_keys: bool, same: bool) -> tuple[Op, ...]:
    heads, key_heads = made.sizes.heads, made.sizes.key_heads
    output = made.linear("attention_output", "self_attn.o_proj", bias, "context", "hidden", add="hidden")
    query = made.linear("query", "self_attn.q_proj", bias, "normed", "query")
    return (
        made.norm("attention_norm", "input_layernorm"),
        *(query, made.head_norm("query", "q_norm"), seen.turned("query", heads)),
        *(_keys(made, seen, bias, same) if has_keys else ()),
        Attention(
            *("query", "key", "value", "context", heads, key_heads, 1.0), mask=seen.masks.mask, window=seen.masks.window
        ),
        *made.added(output, NORMS.behind_attention),
    )


def _keys(made: LlamaParts, seen: Seen, bias: bool, same: bool) -> tuple[Op, ...]:
    """And values, which are normalized without a scale; where they are the `same`, of what keys are made of."""
    heads = made.sizes.key_heads
    ones = same_values("ones", made.sizes.head_width, 1.0)
    gamma = Parameter("value_norm_gamma", (ones,) * len(made.layers))
    source = "key" if same else "value"
    value_norm = Norm("value_norm", gamma, None, made.epsilon, source, "value", "rms", heads)
    value = () if same else (made.linear("value", "self_attn.v_proj", bias, "normed", "value"),)
    return (
        made.linear("key", "self_attn.k_proj", bias, "normed", "key"),
        *(*value, value_norm, made.head_norm("key", "k_norm"), seen.turned("key", heads)),
    )


def _feed_forward(made: LlamaParts, activation: str) -> tuple[Op, ...]:
    output = made.linear("output", "mlp.down_proj", False, "inner", "hidden", add="hidden")
    return (
        made.norm("feed_forward_norm", "pre_feedforward_layernorm"),
        *made.gate_and_up(False, activation),
        Multiply("gate", "inner", "inner"),
        *made.added(output, NORMS.behind_feed_forward),
    )


def _scaled(made: LlamaParts) -> Norm:
    """The rows behind a layer, times its number."""
    width = made.sizes.width
    numbers = [made.tensors.take(name, (1,)) for name in made.sources("layer_scalar")]
    gamma = Parameter("layer_scalar_gamma", tuple(repeated_value(number, width) for number in numbers))
    beta = Parameter("layer_scalar_beta", (same_values("zeros", width, 0.0),) * len(numbers))
    return Norm("layer_scalar", gamma, beta, None, "hidden", "hidden", "affine")


def _cap(config: Config) -> float | None:
    return None if config.values.get(_CAP) is None else cap_of(config, _CAP, 0.0)


FAMILY = Family(
    "Gemma4Text", "GemmaTokenizer", _stack, writer="Gemma4ForCausalLM", logits_cap=_cap, tied=True, padding=0
)
