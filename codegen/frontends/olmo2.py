# SPDX-License-Identifier: Apache-2.0
"""OLMo 2: Llama's names, with norms behind the blocks, none before them, and norms of whole queries and keys. Names as
in `transformers`."""

from __future__ import annotations

from ..ir.graph import Add, Attention, Embed, Layers, Multiply, Op, Rotary, Term
from ..load.config import Config
from ..load.safetensors import TensorFile
from .shared import parts
from .shared.decoder_family import Family
from .shared.llama_parts import LlamaParts, read_sizes
from .shared.llama_stack import MAX_POSITIONS, POSITIONS, WORDS, Stack
from .shared.rotary import angles_of, rotary_tables

MODEL_TYPE = "olmo2"
HARMLESS_KEYS = frozenset({"attention_dropout"})  # training's
_THETA, _EPSILON = 10_000.0, 1e-5  # where the configuration does not say them


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    sizes = read_sizes(config, tensors, None)
    made = LlamaParts(tensors, prefix, sizes, parts.epsilon_of(config, "rms_norm_eps", _EPSILON))
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{WORDS}", (vocabulary, sizes.width))
    angles = angles_of(config, _THETA, config.positive_int(POSITIONS, maximum=MAX_POSITIONS))
    cosines, sines = rotary_tables("rotary", angles, tokens, sizes.head_width)
    activation = parts.activation_of(config, default="silu")
    bias = config.flag("attention_bias", False)
    heads = (sizes.heads, sizes.key_heads)
    layer: tuple[Op, ...] = (
        *made.projections(bias, "hidden"),
        *made.row_norms(),
        *(Rotary((cosines,), (sines,), count, of) for of, count in zip(("query", "key"), heads, strict=True)),
        Attention("query", "key", "value", "context", *heads, mask="causal"),
        made.linear("attention_output", "self_attn.o_proj", bias, "context", "normed"),
        made.norm("attention_output_norm", "post_attention_layernorm", "normed"),
        Add("hidden", "normed", "hidden"),
        *made.gate_and_up(False, activation, "hidden"),
        Multiply("gate", "inner", "inner"),
        made.linear("output", "mlp.down_proj", False, "inner", "normed"),
        made.norm("output_norm", "post_feedforward_layernorm", "normed"),
        Add("hidden", "normed", "hidden"),
    )
    body = (Embed((Term(words, "ids"),), "hidden"), Layers("layer", sizes.layers, layer), made.final_norm())
    return Stack(body, sizes.widths, words, sizes.width)


_FAMILY = Family("Olmo2", "TokenizersBackend", _stack)
read_limits = _FAMILY.read_limits
build_graph = _FAMILY.build_graph
graph_of = _FAMILY.graph_of
