# SPDX-License-Identifier: Apache-2.0
"""GPT-J: attention and feed-forward of the same normalized rows, a part of each head turned, two neighbours at a time.
Names as in `transformers`."""

from __future__ import annotations

from ..ir.graph import Attention, Embed, Layers, Linear, Op, Rotary, Term
from ..load.config import Config
from ..load.safetensors import TensorFile
from .bases.decoder_family import Family, Names
from .gpt2 import OTHER_NAMES, POSITIONS, UNREAD
from .shared import parts
from .shared.llama_stack import MAX_POSITIONS, Stack
from .shared.pairs import by_halves
from .shared.rotary import Angles, rotary_tables

MODEL_TYPE = "gptj"
HARMLESS_KEYS = UNREAD | {"rotary", "scale_attn_weights"}  # these of the first files, which the class does not read
_NAMES = Names("transformer.", words="wte.weight", logits_bias="lm_head.bias")
_THETA = 10_000.0
_TURNED = 64  # values of a head, where the configuration does not say it


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    width = config.positive_int("n_embd", maximum=parts.MAX_WIDTH)
    heads = config.positive_int("n_head", maximum=parts.MAX_WIDTH)
    count = config.positive_int("n_layer", maximum=parts.MAX_LAYERS)
    config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    parts.check_other_names(config, OTHER_NAMES)
    parts.check_heads(width, heads, "n_embd", "n_head")
    parts.check_layers(tensors, count, "n_layer")
    layers = [f"{prefix}h.{i}." for i in range(count)]
    tensors.ignore(*(f"{prefix}h.*.attn.{of}" for of in ("bias", "masked_bias")))  # of older files: the mask
    widths = dict.fromkeys(("hidden", "normed", "query", "key", "value", "context"), width)
    widths |= {"inner": parts.inner_or_four_times(config, "n_inner", width)}
    epsilon = parts.epsilon_of(config, "layer_norm_epsilon", 1e-5)
    activation = parts.activation_of(config, "activation_function", "gelu_new")
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{_NAMES.words}", (vocabulary, width))
    turned = _turned(config, width // heads)
    cosines, sines = rotary_tables("rotary", Angles(_THETA), tokens, turned)

    def linear(
        name: str, of: str, value: str, out: str, activation: str = "none", bias: bool = False, add: str | None = None
    ) -> Linear:
        sources, shape = [f"{layer}{of}" for layer in layers], (widths[out], widths[value])
        return parts.linear(tensors, name, sources, shape, value, out, activation, residual=add, bias=bias)

    layer: tuple[Op, ...] = (
        parts.layer_norm(tensors, "norm", [f"{layer}ln_1" for layer in layers], width, epsilon, "hidden", "normed"),
        by_halves(linear("query", "attn.q_proj", "normed", "query"), width // heads, turned),
        by_halves(linear("key", "attn.k_proj", "normed", "key"), width // heads, turned),
        linear("value", "attn.v_proj", "normed", "value"),
        *(Rotary((cosines,), (sines,), heads, value) for value in ("query", "key")),
        Attention("query", "key", "value", "context", heads, mask="causal"),
        linear("attention_output", "attn.out_proj", "context", "hidden", add="hidden"),
        linear("intermediate", "mlp.fc_in", "normed", "inner", activation, bias=True),
        linear("output", "mlp.fc_out", "inner", "hidden", bias=True, add="hidden"),
    )
    body = (
        Embed((Term(words, "ids"),), "hidden"),
        Layers("layer", count, layer),
        parts.layer_norm(tensors, "final_norm", [f"{prefix}ln_f"], width, epsilon, "hidden"),
    )
    return Stack(body, widths, words, width)


def _turned(config: Config, width: int) -> int:
    """How many of a head's values are."""
    turned = config.positive_int("rotary_dim", _TURNED)
    if turned > width or turned % 2:
        message = f"rotary_dim {turned} of a head's {width} values: an even number of them is needed"
        raise parts.refuse("rotary-not-supported", message)
    return turned


_FAMILY = Family(
    "GPTJ",
    "GPT2Tokenizer",
    _stack,
    names=_NAMES,
    width_of=lambda config: config.positive_int("n_embd"),
    positions=POSITIONS,
)
read_limits = _FAMILY.read_limits
build_graph = _FAMILY.build_graph
graph_of = _FAMILY.graph_of
