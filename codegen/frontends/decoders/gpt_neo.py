# SPDX-License-Identifier: Apache-2.0
"""GPT-Neo, which the models of TinyStories are: GPT-2's shape with scores that are not scaled, and layers of two kinds,
some seeing all that is before, the others a window of it. Names as in `transformers`."""

from __future__ import annotations

from ...ir.graph import Embed, Layers, Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family, Names
from ..shared import parts
from ..shared.encoder_layer import LayerNames, LayerShape, pre_norm_layer
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, Stack
from ..shared.masks import Masks, masks_of_past

MODEL_TYPE = "gpt_neo"
# Of the library, for one thing.
_OTHER_NAMES = {"num_heads": "num_attention_heads", "num_layers": "num_hidden_layers"}
# Training's; those of other heads; what attention_layers says better.
_HARMLESS = """
    attention_dropout embed_dropout resid_dropout summary_activation summary_first_dropout summary_proj_to_labels
    summary_type summary_use_proj task_specific_params attention_types
"""
HARMLESS_KEYS = frozenset(_HARMLESS.split())
_NAMES = Names("transformer.", words="wte.weight")
_LAYER = LayerNames(
    query="attn.attention.q_proj",
    key="attn.attention.k_proj",
    value="attn.attention.v_proj",
    attention_output="attn.attention.out_proj",
    attention_norm="ln_1",
    intermediate="mlp.c_fc",
    output="mlp.c_proj",
    output_norm="ln_2",
)
_GLOBAL, _LOCAL = "global", "local"
_TYPES = [[[_GLOBAL, _LOCAL], 12]]  # where the configuration does not say them
_WINDOW = 256  # the same


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    count = config.positive_int("num_layers", maximum=parts.MAX_LAYERS)
    positions = config.positive_int(POSITIONS, maximum=MAX_POSITIONS)
    parts.check_other_names(config, _OTHER_NAMES)
    parts.check_layers(tensors, count, "num_layers")
    shape = _shape(config, _masks(config, count, tokens))
    made_here = ("bias", "masked_bias")  # of older files: the masks
    tensors.ignore(*(f"{prefix}h.*.attn.attention.{of}" for of in made_here))
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{_NAMES.words}", (vocabulary, shape.hidden))
    places = parts.parameter(tensors, "position_embeddings", f"{prefix}wpe.weight", (positions, shape.hidden))
    body = (
        Embed((Term(words, "ids"), Term(places, "positions")), "hidden"),
        Layers("layer", count, pre_norm_layer(tensors, [f"{prefix}h.{i}." for i in range(count)], _LAYER, shape)),
        parts.layer_norm(tensors, "final_norm", [f"{prefix}ln_f"], shape.hidden, shape.epsilon, "hidden"),
    )
    return Stack(body, shape.widths | {"normed": shape.hidden}, words, shape.hidden)


def _shape(config: Config, masks: Masks) -> LayerShape:
    width = config.positive_int("hidden_size", maximum=parts.MAX_WIDTH)
    heads = config.positive_int("num_heads", maximum=parts.MAX_WIDTH)
    parts.check_heads(width, heads, heads_key="num_heads")
    return LayerShape(
        width,
        heads,
        parts.inner_or_four_times(config, "intermediate_size", width),
        parts.activation_of(config, "activation_function", "gelu_new"),
        parts.epsilon_of(config, "layer_norm_epsilon", 1e-5),
        input_bias=False,
        masks=masks,
        scale=1.0,
    )


def _masks(config: Config, layers: int, tokens: int) -> Masks:
    window = config.positive_int("window_size", _WINDOW, maximum=MAX_POSITIONS)
    return masks_of_past([window if kind == _LOCAL else None for kind in _kinds(config, layers)], tokens)


def _kinds(config: Config, layers: int) -> tuple[str, ...]:
    """Of each layer: the list of them counts for the library over the patterns that it is made of."""
    if "attention_layers" in config:
        key, kinds = "attention_layers", config.strings("attention_layers")
    else:
        key, patterns = "attention_types", config.values.get("attention_types")
        kinds = _repeated(_TYPES if patterns is None else patterns)
    if len(kinds) != layers or not set(kinds) <= {_GLOBAL, _LOCAL}:
        raise parts.refuse("layers-out-of-range", f"{key}: expected {layers} of {_GLOBAL} or {_LOCAL}")
    return kinds


def _repeated(patterns: object) -> tuple[str, ...]:
    """Of [kinds, how many times] each, one after the other."""
    found: list[object] = []
    for pattern in patterns if isinstance(patterns, list) else [None]:
        kinds, times = pattern if isinstance(pattern, list) and len(pattern) == 2 else (None, None)
        if not isinstance(kinds, list) or not isinstance(times, int) or len(kinds) * times > parts.MAX_LAYERS:
            message = "attention_types: expected lists of kinds of layers and how many times they come"
            raise parts.refuse("config-value", message)
        found += kinds * times
    return tuple(map(str, found))


FAMILY = Family("GPTNeo", "GPT2Tokenizer", _stack, names=_NAMES, tied=True, own_masks=True, tags="classifier")
