# SPDX-License-Identifier: Apache-2.0
"""BART: learned positions, and a norm behind the embedding. Names as in `transformers`."""

from __future__ import annotations

from ..ir.graph import Graph, Term
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.generation_config import GenerationSettings
from ..load.limits import Limits
from ..load.safetensors import TensorFile
from . import encoder_decoder, parts

MODEL_TYPE = "bart"
_CLASS = "BartForConditionalGeneration"
_FIRST_POSITION = 2  # rows of the tables before the first token's
# What the tokenizer reads.
HARMLESS_KEYS = encoder_decoder.HARMLESS_KEYS | {"grapheme_chars", "phoneme_chars"}


def read_limits(config: Config) -> Limits:
    """As `writer_limits`."""
    return encoder_decoder.writer_limits(config, "RobertaTokenizer")


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """As `build_writer`."""
    return encoder_decoder.build_writer(checkpoint, _CLASS, graph_of, max_tokens)


def graph_of(
    config: Config,
    tensors: TensorFile,
    max_source: int,
    max_target: int,
    generation: GenerationSettings | None = None,
) -> Graph:
    """As `build_encoder_decoder`."""

    def positions(of: str, width: int) -> Term:
        rows = (encoder_decoder.position_count(config) + _FIRST_POSITION, width)
        table = parts.parameter(tensors, f"{of}_positions", f"model.{of}.embed_positions.weight", rows)
        return Term(table, "positions", _FIRST_POSITION)

    limits = max_source, max_target
    return encoder_decoder.build_encoder_decoder(
        config, tensors, limits, positions, embedding_norm=True, generation=generation
    )
