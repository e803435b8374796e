# SPDX-License-Identifier: Apache-2.0
"""Falcon: attention and feed-forward of the same rows, or of rows with a norm each, or one behind the other; heads that
share keys and values, some or all of them. Names as in `transformers`."""

from __future__ import annotations

from ...ir.graph import Attention, Embed, Layers, Norm, Op, Rotary, Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family, Names
from ..shared import parts
from ..shared.layer_parts import ATTENTION, LayerParts, width_in
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, Stack
from ..shared.rotary import angles_of, check_head_dim, rotary_tables

MODEL_TYPE = "falcon"
# Training's, and one that the class does not read.
HARMLESS_KEYS = frozenset({"attention_dropout", "hidden_dropout", "apply_residual_connection_post_layernorm"})
_NAMES = Names("transformer.", words="word_embeddings.weight")
_WIDTH, _THETA, _POSITIONS, _EPSILON = 4544, 10_000.0, 2048, 1e-5  # where the configuration does not say them
_NEW, _PARALLEL = "new_decoder_architecture", "parallel_attn"
_NORMS, _KEY_HEADS = "num_ln_in_parallel_attn", "num_kv_heads"


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    if _says(config, "alibi", False):
        message = "alibi: the library rounds these biases to bfloat16 by position, and not by distance"
        raise parts.refuse("config-not-supported", message)
    width = width_in(config, _WIDTH)
    heads = config.positive_int("num_attention_heads", 71, maximum=parts.MAX_WIDTH)
    count = config.positive_int("num_hidden_layers", 32, maximum=parts.MAX_LAYERS)
    parts.check_heads(width, heads)
    parts.check_layers(tensors, count)
    key_heads, of_head = _key_heads(config, heads), width // heads
    parts.check_shared_heads(heads, of_head, key_heads)
    check_head_dim(config, of_head)
    widths = dict.fromkeys(("hidden", "normed", "rows", "query", "context"), width)
    widths |= dict.fromkeys(("key", "value"), key_heads * of_head)
    widths |= {"inner": parts.inner_or_four_times(config, "ffn_hidden_size", width)}
    positions = config.positive_int(POSITIONS, _POSITIONS, maximum=MAX_POSITIONS)
    cosines, sines = rotary_tables("rotary", angles_of(config, _THETA, positions), tokens, of_head)
    epsilon = parts.epsilon_of(config, "layer_norm_epsilon", _EPSILON)
    prefixes, bias = [f"{prefix}h.{i}." for i in range(count)], _says(config, "bias", False)
    made = LayerParts(tensors, prefixes, widths, epsilon)
    activation = parts.activation_of(config, "activation", "gelu")
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{_NAMES.words}", (vocabulary, width))
    before, between, rows = _norms(config, made)
    layer: tuple[Op, ...] = (
        *before,
        *made.projections("self_attention.query_key_value", key_heads, heads // key_heads, bias=bias),
        Rotary((cosines,), (sines,), heads, "query"),
        Rotary((cosines,), (sines,), key_heads, "key"),
        Attention(*ATTENTION, "context", heads, key_heads, mask="causal"),
        made.linear("attention_output", "self_attention.dense", "context", "hidden", residual="hidden", bias=bias),
        *between,
        made.linear("intermediate", "mlp.dense_h_to_4h", rows, "inner", activation, bias=bias),
        made.linear("output", "mlp.dense_4h_to_h", "inner", "hidden", residual="hidden", bias=bias),
    )
    body = (
        Embed((Term(words, "ids"),), "hidden"),
        Layers("layer", count, layer),
        parts.layer_norm(tensors, "final_norm", [f"{prefix}ln_f"], width, epsilon, "hidden"),
    )
    return Stack(body, widths, words, width)


def _norms(config: Config, made: LayerParts) -> tuple[tuple[Norm, ...], tuple[Norm, ...], str]:
    """Those before attention, those between it and feed-forward, and the rows that the latter reads: where both are
    parallel, attention has added nothing to them yet."""
    parallel, norms = _says(config, _PARALLEL, True), config.values.get(_NORMS)
    if norms is not None:
        norms = config.positive_int(_NORMS, maximum=2)
    if _says(config, _NEW, False):
        if not parallel:
            raise parts.refuse("config-not-supported", f"{_PARALLEL} is false with {_NEW}: the class lacks a norm then")
        norms = norms or 2
    elif norms == 2 and parallel:
        raise parts.refuse("config-not-supported", f"{_NORMS} 2 without {_NEW}: the class lacks a norm then")
    if parallel and norms == 2:
        each = made.norm("feed_forward_norm", "ln_mlp", "rows"), made.norm("attention_norm", "ln_attn")
        return each, (), "rows"
    first = made.norm("attention_norm", "input_layernorm")
    if parallel:
        return (first,), (), "normed"
    return (first,), (made.norm("feed_forward_norm", "post_attention_layernorm"),), "normed"


def _key_heads(config: Config, heads: int) -> int:
    """How many heads of keys and values there are."""
    if not _says(config, _NEW, False) and _says(config, "multi_query", True):
        return 1
    found = heads if config.values.get(_KEY_HEADS) is None else config.positive_int(_KEY_HEADS, maximum=heads)
    if found != heads and not _says(config, _NEW, False):
        raise parts.refuse("config-not-supported", f"{_KEY_HEADS} is not {heads}, and neither {_NEW} nor multi_query")
    return found


def _says(config: Config, key: str, usual: bool) -> bool:
    """Null is no."""
    return (key not in config and usual) or (config.values.get(key) is not None and config.flag(key))


FAMILY = Family(
    "Falcon",
    "TokenizersBackend",
    _stack,
    tags="classifier",
    names=_NAMES,
    width_of=lambda config: width_in(config, _WIDTH),
    usual_positions=_POSITIONS,
    tied=True,
)
