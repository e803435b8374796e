# SPDX-License-Identifier: Apache-2.0
"""GPT-NeoX, which Pythia is: layer norms, a part of each head turned, attention and feed-forward of the same rows.
Names as in `transformers`."""

from __future__ import annotations

from ...ir.graph import Attention, Embed, Layers, Op, Rotary, Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family, Names
from ..shared import parts
from ..shared.layer_parts import ATTENTION, LayerParts, sizes_in
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, Stack
from ..shared.rotary import Angles, check_head_dim, partial_angles, rotary_tables, said_in

MODEL_TYPE = "gpt_neox"
# Training's, and one that the class does not read.
HARMLESS_KEYS = frozenset({"attention_dropout", "hidden_dropout", "classifier_dropout", "is_decoder"})
_NAMES = Names("gpt_neox.", "embed_in.weight", "embed_out.weight")
_THETA, _PART, _EPSILON = 10_000.0, 0.25, 1e-5  # where the configuration does not say them


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    width, heads, inner, count = sizes_in(config, tensors)
    epsilon = parts.epsilon_of(config, "layer_norm_eps", _EPSILON)
    tensors.ignore(*(f"{prefix}layers.*.attention.{of}" for of in ("bias", "masked_bias")))  # of older files
    widths = dict.fromkeys(("hidden", "normed", "rows", "context", *ATTENTION), width) | {"inner": inner}
    made = LayerParts(tensors, [f"{prefix}layers.{i}." for i in range(count)], widths, epsilon)
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{_NAMES.words}", (vocabulary, width))
    angles, turned = _angles(config, width // heads)
    cosines, sines = rotary_tables("rotary", angles, tokens, turned)
    activation = parts.activation_of(config, default="gelu")
    bias = config.flag("attention_bias", True)
    norm = made.norm("feed_forward_norm", "post_attention_layernorm", "rows")
    attention: tuple[Op, ...] = (
        made.norm("attention_norm", "input_layernorm"),
        *made.projections("attention.query_key_value", heads, bias=bias),
        *(Rotary((cosines,), (sines,), heads, of) for of in ("query", "key")),
        Attention(*ATTENTION, "context", heads, mask="causal"),
        made.linear("attention_output", "attention.dense", "context", "hidden", bias=bias, residual="hidden"),
    )
    both = (norm, *attention) if config.flag("use_parallel_residual", True) else (*attention, norm)
    layer = (
        *both,
        made.linear("intermediate", "mlp.dense_h_to_4h", "rows", "inner", activation),
        made.linear("output", "mlp.dense_4h_to_h", "inner", "hidden", residual="hidden"),
    )
    body = (
        Embed((Term(words, "ids"),), "hidden"),
        Layers("layer", count, layer),
        parts.layer_norm(tensors, "final_norm", [f"{prefix}final_layer_norm"], width, epsilon, "hidden"),
    )
    return Stack(body, widths, words, width)


def _angles(config: Config, width: int) -> tuple[Angles, int]:
    """And how many values of a head are turned by them."""
    check_head_dim(config, width)
    usual = config.number("rotary_emb_base", _THETA), config.number("rotary_pct", _PART)
    return partial_angles(*said_in(config), usual, config.positive_int(POSITIONS, maximum=MAX_POSITIONS), width)


FAMILY = Family("GPTNeoX", "GPTNeoXTokenizer", _stack, names=_NAMES, tags="classifier")
