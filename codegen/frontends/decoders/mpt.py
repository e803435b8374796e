# SPDX-License-Identifier: Apache-2.0
"""MPT: no biases at all, and scores that fall with the distance in the place of positions. Names as in
`transformers`."""

from __future__ import annotations

from ...ir.graph import Attention, Embed, Layers, Linear, Norm, Op, Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family, Names
from ..shared import parts
from ..shared.alibi import alibi
from ..shared.layer_parts import ATTENTION
from ..shared.llama_stack import MAX_POSITIONS, Stack
from ..shared.stacked import stacked_linears

MODEL_TYPE = "mpt"
# Training's, and what the library's class does not read.
_UNREAD = """
    emb_pdrop embedding_fraction expansion_ratio init_config init_device learned_pos_emb logit_scale no_bias norm_type
    resid_pdrop verbose
"""
HARMLESS_KEYS = frozenset(_UNREAD.split())
_OTHER_NAMES = {"n_heads": "num_attention_heads", "d_model": "hidden_size", "n_layers": "num_hidden_layers"}
_NAMES = Names("transformer.", words="wte.weight")
_POSITIONS = "max_seq_len"
_WIDTH, _HEADS, _LAYERS, _TOKENS = 2048, 16, 24, 2048  # where the configuration does not say them
_EPSILON, _LEAST_SLOPE = 1e-5, 8


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    width = _width(config)
    heads = config.positive_int("n_heads", _HEADS, maximum=parts.MAX_WIDTH)
    count = config.positive_int("n_layers", _LAYERS, maximum=parts.MAX_LAYERS)
    config.positive_int(_POSITIONS, _TOKENS, maximum=MAX_POSITIONS)
    parts.check_other_names(config, _OTHER_NAMES)
    parts.check_heads(width, heads, "d_model", "n_heads")
    parts.check_layers(tensors, count, "n_layers")
    scale = _score_scale(config)
    epsilon = parts.epsilon_of(config, "layer_norm_epsilon", _EPSILON)
    widths = dict.fromkeys(("hidden", "normed", "context", *ATTENTION), width) | {"inner": 4 * width}
    layers = [f"{prefix}blocks.{i}." for i in range(count)]
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{_NAMES.words}", (vocabulary, width))

    def norm(name: str, of: str) -> Norm:
        sources = [f"{layer}{of}" for layer in layers]
        return parts.layer_norm(tensors, name, sources, width, epsilon, "hidden", "normed", bias=False)

    def linear(name: str, of: str, value: str, out: str, activation: str = "none", add: str | None = None) -> Linear:
        sources, shape = [f"{layer}{of}" for layer in layers], (widths[out], widths[value])
        return parts.linear(tensors, name, sources, shape, value, out, activation, residual=add, bias=False)

    made = [(name, name, "none") for name in ATTENTION]
    layer: tuple[Op, ...] = (
        norm("attention_norm", "norm_1"),
        *stacked_linears(
            tensors, [f"{layer}attn.Wqkv" for layer in layers], made, (width, width), "normed", bias=False
        ),
        Attention(*ATTENTION, "context", heads, scale=scale, mask="causal", bias=alibi(heads, tokens)),
        linear("attention_output", "attn.out_proj", "context", "hidden", add="hidden"),
        norm("feed_forward_norm", "norm_2"),
        linear("intermediate", "ffn.up_proj", "normed", "inner", "gelu"),
        linear("output", "ffn.down_proj", "inner", "hidden", add="hidden"),
    )
    body = (
        Embed((Term(words, "ids"),), "hidden"),
        Layers("layer", count, layer),
        parts.layer_norm(tensors, "final_norm", [f"{prefix}norm_f"], width, epsilon, "hidden", bias=False),
    )
    return Stack(body, widths, words, width)


def _score_scale(config: Config) -> float | None:
    """What scores are multiplied by where a key says it. EtchError where the library would not do what another does."""
    asked = config.values.get("attn_config")
    if asked is not None and not isinstance(asked, dict):
        raise parts.refuse("config-value", "attn_config: expected an object")
    settings = Config.from_json(asked or {})
    if not settings.flag("alibi", True):
        raise parts.refuse("config-not-supported", "attn_config: alibi is false, which the library does not read")
    if settings.values.get("clip_qkv"):
        raise parts.refuse("config-not-supported", "attn_config: clip_qkv: queries, keys and values that are cut off")
    for key in ("prefix_lm", "qk_ln"):
        if settings.flag(key, False):
            raise parts.refuse("config-not-supported", f"attn_config: {key} is true, which the library does not read")
    if settings.number("alibi_bias_max", _LEAST_SLOPE) != _LEAST_SLOPE:
        message = f"attn_config: alibi_bias_max is not {_LEAST_SLOPE}, which the library does not read"
        raise parts.refuse("config-not-supported", message)
    return None if settings.values.get("softmax_scale") is None else settings.number("softmax_scale")


def _width(config: Config) -> int:
    return config.positive_int("d_model", _WIDTH, maximum=parts.MAX_WIDTH)


FAMILY = Family(
    "Mpt",
    "GPTNeoXTokenizer",
    _stack,
    tags="classifier",
    first_writer="MPTForCausalLM",
    names=_NAMES,
    width_of=_width,
    positions=_POSITIONS,
    usual_positions=_TOKENS,
    tied=True,
)
