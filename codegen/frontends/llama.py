# SPDX-License-Identifier: Apache-2.0
"""Llama's shape: rms norms before the blocks, positions by turning queries and keys, queries that share keys, a gate.
Names as in `transformers`."""

from __future__ import annotations

from ..ir.graph import Graph, Head, Linear
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.generation_config import GenerationSettings
from ..load.limits import Limits
from ..load.safetensors import TensorFile
from ..tasks.generation import Generation
from . import parts
from .llama_stack import WORDS, Biases, Rotation, llama_stack
from .rotary import angles_of
from .target import build_decoder_alone, build_target

MODEL_TYPE = "llama"
_CLASS = "LlamaForCausalLM"
_LOGITS = "lm_head.weight"
_POSITIONS = "max_position_embeddings"
_MAX_POSITIONS = 1 << 20
_THETA = 10_000.0
HARMLESS_KEYS = frozenset({"attention_dropout", "pretraining_tp"})  # training's


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
    return build_decoder(config, tensors, (max_source, max_target), Biases.said_in(config), generation)


def build_decoder(
    config: Config,
    tensors: TensorFile,
    limits: tuple[int, int],
    biases: Biases,
    generation: GenerationSettings | None,
) -> Graph:
    """The same of a family with biases of its own; `limits` are `max_source` and `max_target`."""
    max_source, max_target = limits
    vocabulary = config.positive_int("vocab_size", maximum=parts.MAX_VOCABULARY)
    positions = config.positive_int(_POSITIONS, maximum=_MAX_POSITIONS)
    tokens = max_source + max_target - 1
    parts.check_max_tokens(tokens, positions, _POSITIONS)
    rotation = Rotation(angles_of(config, _THETA, positions), tokens)
    stack = llama_stack(config, tensors, "model.", vocabulary, rotation, biases, "causal")
    projection = stack.words
    if config.flag("tie_word_embeddings", False):
        parts.check_copies(tensors, f"model.{WORDS}", (_LOGITS,))
    else:
        projection = parts.parameter(tensors, "vocabulary_weight", _LOGITS, projection.shape)
    tensors.finish()
    return Graph(
        stack.widths | {"logits": vocabulary},
        (),
        (Head(Generation(vocabulary, max_target), "logits"),),
        vocabulary,
        1,
        max_source,
        repeat=(*stack.body, Linear("logits", projection, None, "hidden", "logits")),
        target=build_target(config, generation, vocabulary, max_target, has_encoder=False),
    )
