# SPDX-License-Identifier: Apache-2.0
"""Llama's shape: rms norms before the blocks, positions by turning queries and keys, queries that share keys, a gate.
Names as in `transformers`."""

from __future__ import annotations

from dataclasses import dataclass

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
from .rotary import angles_of, rotary_tables
from .target import build_decoder_alone, build_target

MODEL_TYPE = "llama"
_CLASS = "LlamaForCausalLM"
_WORDS, _LOGITS = "model.embed_tokens.weight", "lm_head.weight"
_POSITIONS = "max_position_embeddings"
_MAX_POSITIONS = 1 << 20
_THETA = 10_000.0
HARMLESS_KEYS = frozenset({"attention_dropout", "pretraining_tp"})  # training's


@dataclass(frozen=True)
class Biases:
    """Which linears of a layer have one."""

    attention_inputs: bool  # queries, keys and values
    attention_output: bool
    feed_forward: bool


def read_limits(config: Config) -> Limits:
    """Positions are those of a text and of what is written behind it."""
    return limits_of(config, "LlamaTokenizer")


def limits_of(config: Config, tokenizer_class: str) -> Limits:
    """The same of a family with another tokenizer."""
    width, vocabulary = config.positive_int("hidden_size"), config.positive_int("vocab_size")
    positions = config.positive_int(_POSITIONS, maximum=_MAX_POSITIONS)
    return Limits(width, vocabulary, positions, _POSITIONS, tokenizer_class, writes_texts=True, has_encoder=False)


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint. It writes as many tokens as the folder says, or as there are positions left."""
    return build_decoder_alone(checkpoint, _CLASS, graph_of, max_tokens, read_limits(checkpoint.config).positions)


def graph_of(
    config: Config,
    tensors: TensorFile,
    max_source: int,
    max_target: int,
    generation: GenerationSettings | None = None,
) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file exactly once. A target of at most `max_target` tokens,
    its end included, stands behind a text of at most `max_source`."""
    attention = config.flag("attention_bias", False)
    biases = Biases(attention, attention, config.flag("mlp_bias", False))
    return build_decoder(config, tensors, (max_source, max_target), biases, generation)


def build_decoder(
    config: Config,
    tensors: TensorFile,
    limits: tuple[int, int],
    biases: Biases,
    generation: GenerationSettings | None,
) -> Graph:
    """The same of a family with biases of its own; `limits` are `max_source` and `max_target`."""
    max_source, max_target = limits
    width = config.positive_int("hidden_size", maximum=parts.MAX_WIDTH)
    heads = config.positive_int("num_attention_heads", maximum=parts.MAX_WIDTH)
    key_heads = config.positive_int("num_key_value_heads", heads, maximum=heads)
    inner = config.positive_int("intermediate_size", maximum=parts.MAX_WIDTH)
    count = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
    vocabulary = config.positive_int("vocab_size", maximum=parts.MAX_VOCABULARY)
    positions = config.positive_int(_POSITIONS, maximum=_MAX_POSITIONS)
    parts.check_max_tokens(max_source + max_target - 1, positions, _POSITIONS)
    parts.check_layers(tensors, count)
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

    def linear(
        name: str, of: str, bias: bool, value: str, out: str, activation: str = "none", add: str | None = None
    ) -> Linear:
        sources = [f"{prefix}{of}" for prefix in prefixes]
        shape = (widths[out], widths[value])
        return parts.linear(tensors, name, sources, shape, value, out, activation, residual=add, bias=bias)

    tensors.ignore("model.layers.*.self_attn.rotary_emb.inv_freq")  # of older files: made below
    words = parts.parameter(tensors, "word_embeddings", _WORDS, (vocabulary, width))
    activation = parts.activation_of(config, default="silu")
    angles = angles_of(config, _THETA, positions)
    cosines, sines = rotary_tables("rotary", angles, max_source + max_target - 1, head_width)
    turned = tuple(Rotary((cosines,), (sines,), n, of) for of, n in (("query", heads), ("key", key_heads)))
    layer: tuple[Op, ...] = (
        norm("attention_norm", [f"{prefix}input_layernorm" for prefix in prefixes]),
        linear("query", "self_attn.q_proj", biases.attention_inputs, "normed", "query"),
        linear("key", "self_attn.k_proj", biases.attention_inputs, "normed", "key"),
        linear("value", "self_attn.v_proj", biases.attention_inputs, "normed", "value"),
        *turned,
        Attention("query", "key", "value", "context", heads, key_heads, mask="causal"),
        linear("attention_output", "self_attn.o_proj", biases.attention_output, "context", "hidden", add="hidden"),
        norm("feed_forward_norm", [f"{prefix}post_attention_layernorm" for prefix in prefixes]),
        linear("gate", "mlp.gate_proj", biases.feed_forward, "normed", "gate", activation),
        linear("up", "mlp.up_proj", biases.feed_forward, "normed", "inner"),
        Multiply("gate", "inner", "inner"),
        linear("output", "mlp.down_proj", biases.feed_forward, "inner", "hidden", add="hidden"),
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
