# SPDX-License-Identifier: Apache-2.0
"""Llama's shape: rms norms before the blocks, positions by turning queries and keys, queries that share keys, a gate,
no biases. Names as in `transformers`."""

from __future__ import annotations

from ..errors import printable
from ..ir.graph import (
    Attention,
    Embed,
    Graph,
    Head,
    Layers,
    Linear,
    Multiply,
    Norm,
    Op,
    Parameter,
    Rotary,
    Term,
)
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.generation_config import GenerationSettings
from ..load.limits import Limits
from ..load.safetensors import TensorFile
from ..tasks.generation import Generation
from . import parts
from .rotary import rotary_tables
from .target import build_target, check_writer, room_behind

MODEL_TYPE = "llama"
_CLASS = "LlamaForCausalLM"
_WORDS, _LOGITS = "model.embed_tokens.weight", "lm_head.weight"
_POSITIONS = "max_position_embeddings"
_MAX_POSITIONS = 1 << 20
_MAX_THETA = 1e12
HARMLESS_KEYS = frozenset({"attention_dropout", "pretraining_tp"})  # training's


def read_limits(config: Config) -> Limits:
    """Positions are those of a text and of what is written behind it."""
    width, vocabulary = config.positive_int("hidden_size"), config.positive_int("vocab_size")
    positions = config.positive_int(_POSITIONS, maximum=_MAX_POSITIONS)
    return Limits(width, vocabulary, positions, _POSITIONS, "LlamaTokenizer", writes_texts=True, has_encoder=False)


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint. It writes as many tokens as the folder says, or as there are positions left."""
    check_writer(checkpoint, _CLASS)
    room = room_behind(checkpoint, max_tokens, checkpoint.config.positive_int(_POSITIONS))
    return graph_of(checkpoint.config, checkpoint.tensors, max_tokens, room, checkpoint.generation)


def graph_of(
    config: Config,
    tensors: TensorFile,
    max_source: int,
    max_target: int,
    generation: GenerationSettings | None = None,
) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file exactly once. A target of at most `max_target` tokens,
    its end included, stands behind a text of at most `max_source`."""
    width = config.positive_int("hidden_size", maximum=parts.MAX_WIDTH)
    heads = config.positive_int("num_attention_heads", maximum=parts.MAX_WIDTH)
    key_heads = config.positive_int("num_key_value_heads", heads, maximum=heads)
    inner = config.positive_int("intermediate_size", maximum=parts.MAX_WIDTH)
    count = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    vocabulary = config.positive_int("vocab_size", maximum=parts.MAX_VOCABULARY)
    positions = config.positive_int(_POSITIONS, maximum=_MAX_POSITIONS)
    parts.check_max_tokens(max_source + max_target - 1, positions, _POSITIONS)
    parts.check_layers(tensors, count)
    for key in ("attention_bias", "mlp_bias"):
        if config.flag(key, False):
            raise parts.refuse("config-not-supported", f"{key} is true")
    if "head_dim" not in config:
        parts.check_heads(width, heads)
    head_width = config.positive_int("head_dim", width // heads, maximum=parts.MAX_WIDTH)
    if heads % key_heads or head_width % 2:
        message = (
            f"{heads} heads of {head_width} values on {key_heads} of keys: a multiple and an even number are needed"
        )
        raise parts.refuse("heads-do-not-divide", message)
    widths = dict.fromkeys(("hidden", "normed"), width) | dict.fromkeys(("query", "context"), heads * head_width)
    widths |= dict.fromkeys(("key", "value"), key_heads * head_width)
    widths |= dict.fromkeys(("gate", "inner"), inner) | {"logits": vocabulary}
    epsilon = parts.epsilon_of(config, "rms_norm_eps", 1e-6)
    prefixes = [f"model.layers.{i}." for i in range(count)]

    def norm(name: str, sources: list[str]) -> Norm:
        gammas = tuple(tensors.take(f"{source}.weight", (width,)) for source in sources)
        return Norm(name, Parameter(f"{name}_gamma", gammas), None, epsilon, "hidden", "normed", "rms")

    def linear(name: str, of: str, value: str, out: str, activation: str = "none", add: str | None = None) -> Linear:
        sources = [f"{prefix}{of}" for prefix in prefixes]
        shape = (widths[out], widths[value])
        return parts.linear(tensors, name, sources, shape, value, out, activation, residual=add, bias=False)

    tensors.ignore("model.layers.*.self_attn.rotary_emb.inv_freq")  # of older files: made below
    words = parts.parameter(tensors, "word_embeddings", _WORDS, (vocabulary, width))
    cosines, sines = rotary_tables("rotary", _theta(config), max_source + max_target - 1, head_width)
    turned = tuple(Rotary((cosines,), (sines,), n, of) for of, n in (("query", heads), ("key", key_heads)))
    layer: tuple[Op, ...] = (
        norm("attention_norm", [f"{prefix}input_layernorm" for prefix in prefixes]),
        linear("query", "self_attn.q_proj", "normed", "query"),
        linear("key", "self_attn.k_proj", "normed", "key"),
        linear("value", "self_attn.v_proj", "normed", "value"),
        *turned,
        Attention("query", "key", "value", "context", heads, key_heads, mask="causal"),
        linear("attention_output", "self_attn.o_proj", "context", "hidden", add="hidden"),
        norm("feed_forward_norm", [f"{prefix}post_attention_layernorm" for prefix in prefixes]),
        linear("gate", "mlp.gate_proj", "normed", "gate", parts.activation_of(config, default="silu")),
        linear("up", "mlp.up_proj", "normed", "inner"),
        Multiply("gate", "inner", "inner"),
        linear("output", "mlp.down_proj", "inner", "hidden", add="hidden"),
    )
    projection = words
    if config.flag("tie_word_embeddings", False):
        parts.check_copies(tensors, _WORDS, (_LOGITS,))
    else:
        projection = parts.parameter(tensors, "vocabulary_weight", _LOGITS, (vocabulary, width))
    repeat = (
        Embed((Term(words, "ids"),), "hidden"),
        Layers("layer", count, layer),
        norm("final_norm", ["model.norm"]),
        Linear("logits", projection, None, "normed", "logits"),
    )
    tensors.finish()
    return Graph(
        widths,
        (),
        (Head(Generation(vocabulary, max_target), "logits"),),
        vocabulary,
        1,
        max_source,
        repeat=repeat,
        target=build_target(config, generation, vocabulary, max_target, has_encoder=False),
    )


def _theta(config: Config) -> float:
    """Of the angles: in files of today in an object of its own, which may ask for another kind of them."""
    theta = config.number("rope_theta", 10_000.0)
    scaling = config.values.get("rope_scaling")
    asked = config.values.get("rope_parameters", scaling)
    if asked is not None:
        kind = asked.get("rope_type", asked.get("type", "default")) if isinstance(asked, dict) else None
        other = sorted(set(asked) - {"rope_type", "type", "rope_theta"}) if isinstance(asked, dict) else []
        if kind != "default" or other:
            key = "rope_parameters" if "rope_parameters" in config else "rope_scaling"
            what = f"has {', '.join(map(printable, other))}" if other else f"is of type {printable(str(kind))}"
            raise parts.refuse("config-not-supported", f"'{key}' {what}: only the usual angles are made, of rope_theta")
        theta = asked.get("rope_theta", theta)
    if isinstance(theta, bool) or not isinstance(theta, int | float) or not 1 < theta <= _MAX_THETA:
        raise parts.refuse("config-out-of-range", f"rope_theta: expected 1 to {_MAX_THETA:g}")
    return float(theta)
