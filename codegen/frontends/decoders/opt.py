# SPDX-License-Identifier: Apache-2.0
"""OPT: a decoder alone with learned positions, norms before the blocks or, the one of 350 million, behind them, and
words that may be narrower than the rows. Names as in `transformers`."""

from __future__ import annotations

from ...ir.graph import Embed, Layers, Linear, Node, Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family, Names
from ..shared import parts
from ..shared.encoder_layer import BART_NAMES, LayerShape, post_norm_layer, pre_norm_layer
from ..shared.llama_stack import POSITIONS, WORDS, Stack
from ..shared.masks import CAUSAL

MODEL_TYPE = "opt"
# Training's, and what older files say of its functions.
HARMLESS_KEYS = frozenset({"activation_dropout", "attention_dropout", "dropout", "init_std", "layerdrop", "prefix"})
_FIRST = 2  # of the positions that a text has
_EPSILON = 1e-5  # PyTorch's
_WIDTH = "word_embed_proj_dim"


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    shape, width = _shape(config), _width(config)
    hidden = shape.hidden
    count = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count)
    norm_before = config.flag("do_layer_norm_before", True)
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{WORDS}", (vocabulary, width))
    entries = config.positive_int(POSITIONS, maximum=parts.MAX_WIDTH) + _FIRST
    places = parts.parameter(tensors, "position_embeddings", f"{prefix}embed_positions.weight", (entries, hidden))
    place = Term(places, "positions", first=_FIRST)
    body: tuple[Node, ...] = (Embed((Term(words, "ids"), place), "hidden"),)
    if width != hidden:
        body = Embed((Term(words, "ids"),), "narrow"), Embed((place,), "hidden")
        body += (_linear(tensors, "project_in", prefix, (hidden, width), "narrow", "hidden", residual="hidden"),)
    layer_of = pre_norm_layer if norm_before else post_norm_layer
    prefixes = [f"{prefix}layers.{i}." for i in range(count)]
    body += (Layers("layer", count, layer_of(tensors, prefixes, BART_NAMES, shape)),)
    if norm_before and not config.flag("_remove_final_layer_norm", False):
        norm = f"{prefix}final_layer_norm"
        body += (parts.layer_norm(tensors, "final_norm", [norm], hidden, _EPSILON, "hidden"),)
    widths = shape.widths | ({"normed": hidden} if norm_before else {})
    if width == hidden:
        return Stack(body, widths, words, width)
    body += (_linear(tensors, "project_out", prefix, (width, hidden), "hidden", "projected"),)
    return Stack(body, widths | {"narrow": width, "projected": width}, words, width, "projected")


def _linear(
    tensors: TensorFile,
    name: str,
    prefix: str,
    shape: tuple[int, int],
    value: str,
    out: str,
    residual: str | None = None,
) -> Linear:
    return parts.linear(tensors, name, [f"{prefix}{name}"], shape, value, out, residual=residual, bias=False)


def _shape(config: Config) -> LayerShape:
    hidden = config.positive_int("hidden_size", maximum=parts.MAX_WIDTH)
    heads = config.positive_int("num_attention_heads", maximum=parts.MAX_WIDTH)
    parts.check_heads(hidden, heads)
    if not config.flag("layer_norm_elementwise_affine", True):
        raise parts.refuse("config-not-supported", "layer_norm_elementwise_affine is false: norms without weights")
    return LayerShape(
        hidden,
        heads,
        config.positive_int("ffn_dim", maximum=parts.MAX_WIDTH),
        parts.activation_of(config, "activation_function", "relu"),
        _EPSILON,
        linear_bias=config.flag("enable_bias", True),
        masks=CAUSAL,
    )


def _width(config: Config) -> int:
    """Of words, and of what is predicted from."""
    said = config.values.get(_WIDTH) is not None
    return config.positive_int(_WIDTH if said else "hidden_size", maximum=parts.MAX_WIDTH)


FAMILY = Family(
    "OPT",
    "GPT2Tokenizer",
    _stack,
    names=Names("model.decoder.", alone="decoder."),
    width_of=_width,
    tied=True,
    padding=1,
)
