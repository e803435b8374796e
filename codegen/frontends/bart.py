# SPDX-License-Identifier: Apache-2.0
"""BART: learned positions, and a norm behind the embedding. Names as in `transformers`."""

from __future__ import annotations

from ..ir.graph import Graph, Term
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.generation_config import GenerationSettings
from ..load.limits import Limits
from ..load.safetensors import TensorFile
from . import parts
from .encoder_decoder import POSITIONS, build_encoder_decoder, position_count
from .target import check_writer

MODEL_TYPE = "bart"
_CLASS = "BartForConditionalGeneration"
_FIRST_POSITION = 2  # rows of the tables before the first token's
# Training's; the encoder's number of layers once more; those that the tokenizer reads, or the search.
_HARMLESS = """
    activation_dropout attention_dropout classif_dropout decoder_layerdrop dropout encoder_layerdrop init_std
    num_hidden_layers is_decoder add_bias_logits grapheme_chars phoneme_chars
"""
HARMLESS_KEYS = frozenset(_HARMLESS.split())


def read_limits(config: Config) -> Limits:
    """Positions are those of a text, and of what is written."""
    width, vocabulary = config.positive_int("d_model"), config.positive_int("vocab_size")
    return Limits(width, vocabulary, position_count(config), POSITIONS, "RobertaTokenizer", writes_texts=True)


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint. It writes as many tokens as the folder says, or as there are positions."""
    config, generation = checkpoint.config, checkpoint.generation
    check_writer(checkpoint, _CLASS)
    asked = None if generation is None else generation.max_tokens
    most = position_count(config) - 1 if asked is None else asked  # max_length of the library counts the first token
    return graph_of(config, checkpoint.tensors, max_tokens, most, generation)


def graph_of(
    config: Config,
    tensors: TensorFile,
    max_source: int,
    max_target: int,
    generation: GenerationSettings | None = None,
) -> Graph:
    """As `build_encoder_decoder`."""

    def positions(of: str, width: int) -> Term:
        rows = (position_count(config) + _FIRST_POSITION, width)
        table = parts.parameter(tensors, f"{of}_positions", f"model.{of}.embed_positions.weight", rows)
        return Term(table, "positions", _FIRST_POSITION)

    limits = max_source, max_target
    return build_encoder_decoder(config, tensors, limits, positions, embedding_norm=True, generation=generation)
