# SPDX-License-Identifier: Apache-2.0
"""BLOOM: a norm behind the embedding, and scores that fall with the distance in the place of positions. Names as in
`transformers`."""

from __future__ import annotations

from ...ir.graph import Attention, Embed, Layers, Op, Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family, Names
from ..shared import parts
from ..shared.alibi import alibi
from ..shared.layer_parts import ATTENTION, LayerParts, width_in
from ..shared.llama_stack import Stack

MODEL_TYPE = "bloom"
# Training's, but for what _check_sums reads.
_UNREAD = """
    attention_dropout attention_softmax_in_fp32 bias_dropout_fusion hidden_dropout masked_softmax_fusion n_inner
    offset_alibi pretraining_tp skip_bias_add skip_bias_add_qkv slow_but_exact
"""
HARMLESS_KEYS = frozenset(_UNREAD.split())
_NAMES = Names("transformer.", words="word_embeddings.weight")
_OTHER_NAMES = {"n_layer": "num_hidden_layers", "n_head": "num_attention_heads"}  # of the library, for one thing
_WIDTH, _LAYERS, _HEADS, _EPSILON = 64, 2, 8, 1e-5  # where the configuration does not say them
_USUAL_TOKENS = 2048  # where no file says it: distances have no end, BLOOM was trained with these


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    _check_sums(config)
    layers_key, heads_key = (_named(config, key) for key in _OTHER_NAMES)
    width, heads = width_in(config, _WIDTH), config.positive_int(heads_key, _HEADS, maximum=parts.MAX_WIDTH)
    count = config.positive_int(layers_key, _LAYERS, maximum=parts.MAX_LAYERS)
    parts.check_heads(width, heads, heads_key=heads_key)
    parts.check_layers(tensors, count, layers_key)
    widths = dict.fromkeys(("hidden", "normed", "context", *ATTENTION), width) | {"inner": 4 * width}
    epsilon = parts.epsilon_of(config, "layer_norm_epsilon", _EPSILON)
    made = LayerParts(tensors, [f"{prefix}h.{i}." for i in range(count)], widths, epsilon)
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{_NAMES.words}", (vocabulary, width))
    added_to = "normed" if config.flag("apply_residual_connection_post_layernorm", False) else "hidden"
    layer: tuple[Op, ...] = (
        made.norm("attention_norm", "input_layernorm"),
        *made.projections("self_attention.query_key_value", heads),
        Attention(*ATTENTION, "context", heads, mask="causal", bias=alibi(heads, tokens)),
        made.linear("attention_output", "self_attention.dense", "context", "hidden", residual=added_to),
        made.norm("feed_forward_norm", "post_attention_layernorm"),
        made.linear("intermediate", "mlp.dense_h_to_4h", "normed", "inner", "gelu_tanh"),
        made.linear("output", "mlp.dense_4h_to_h", "inner", "hidden", residual=added_to),
    )
    norms = (("embedding_norm", "word_embeddings_layernorm"), ("final_norm", "ln_f"))
    behind, last = (
        parts.layer_norm(tensors, name, [f"{prefix}{source}"], width, epsilon, "hidden") for name, source in norms
    )
    body = (Embed((Term(words, "ids"),), "hidden"), behind, Layers("layer", count, layer), last)
    return Stack(body, widths, words, width)


def _check_sums(config: Config) -> None:
    """The library can add up as several machines would, and then leaves out what each would add once."""
    machines = config.positive_int("pretraining_tp", 1, maximum=parts.MAX_WIDTH)
    if machines > 1 and config.flag("slow_but_exact", False):
        message = f"slow_but_exact with pretraining_tp {machines}: transformers leaves biases out then"
        raise parts.refuse("config-not-supported", f"{message}; set slow_but_exact to false")


def _named(config: Config, key: str) -> str:
    """The one of a key's two names that the file has."""
    other = _OTHER_NAMES[key]
    if config.values.get(key) is None and config.values.get(other) is not None:
        return other
    parts.check_other_names(config, {key: other})
    return key


FAMILY = Family(
    "Bloom",
    "TokenizersBackend",
    _stack,
    tags="classifier",
    names=_NAMES,
    width_of=lambda config: width_in(config, _WIDTH),
    positions="seq_length",
    usual_positions=_USUAL_TOKENS,
    endless=True,
    tied=True,
)
