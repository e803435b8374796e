# SPDX-License-Identifier: Apache-2.0
"""Phi 1 to 2: attention and feed-forward of the same normalized rows, biases everywhere, a part of each head turned.
Names as in `transformers`."""

from __future__ import annotations

from ...ir.graph import Attention, Embed, Layers, Op, Rotary, Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family, Names
from ..shared import parts
from ..shared.llama_parts import LlamaParts, read_sizes
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, WORDS, Stack
from ..shared.rotary import partial_angles, rotary_tables, said_in

MODEL_TYPE = "phi"
HARMLESS_KEYS = frozenset({"attention_dropout", "embd_pdrop", "resid_pdrop"})  # training's
_THETA, _PART, _EPSILON = 10_000.0, 0.5, 1e-5  # where the configuration does not say them


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    sizes = read_sizes(config, tensors, None)
    epsilon = parts.epsilon_of(config, default=_EPSILON)
    made = LlamaParts(tensors, prefix, sizes, epsilon, layer_norms=True)
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{WORDS}", (vocabulary, sizes.width))
    usual = config.number("rope_theta", _THETA), config.number("partial_rotary_factor", _PART)
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    angles, turned = partial_angles(*said_in(config), usual, positions, sizes.head_width)
    cosines, sines = rotary_tables("rotary", angles, tokens, turned)
    activation = parts.activation_of(config, default="gelu_new")
    heads = (sizes.heads, sizes.key_heads)
    layer: tuple[Op, ...] = (
        made.norm("norm", "input_layernorm"),
        *made.projections(bias=True),
        *(made.head_norms(("q_layernorm", "k_layernorm")) if config.flag("qk_layernorm", False) else ()),
        *(Rotary((cosines,), (sines,), count, of) for of, count in zip(("query", "key"), heads, strict=True)),
        Attention("query", "key", "value", "context", *heads, mask="causal"),
        made.linear("attention_output", "self_attn.dense", True, "context", "hidden", add="hidden"),
        made.linear("intermediate", "mlp.fc1", True, "normed", "inner", activation),
        made.linear("output", "mlp.fc2", True, "inner", "hidden", add="hidden"),
    )
    body = (Embed((Term(words, "ids"),), "hidden"), Layers("layer", sizes.layers, layer))
    return Stack((*body, made.final_norm("final_layernorm")), sizes.widths, words, sizes.width)


FAMILY = Family("Phi", "GPT2Tokenizer", _stack, names=Names(logits_bias="lm_head.bias"), tags="score")
