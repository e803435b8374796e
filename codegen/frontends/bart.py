# SPDX-License-Identifier: Apache-2.0
"""BART: learned positions, and a norm behind the embedding. Names as in `transformers`."""

from __future__ import annotations

from ..ir.graph import Graph
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.generation_config import GenerationSettings
from ..load.limits import Limits
from ..load.safetensors import TensorFile
from . import encoder_decoder
from .target import build_behind_encoder

MODEL_TYPE = "bart"
_CLASS = "BartForConditionalGeneration"
# What the tokenizer reads.
HARMLESS_KEYS = encoder_decoder.HARMLESS_KEYS | {"grapheme_chars", "phoneme_chars"}


def read_limits(config: Config) -> Limits:
    """As `writer_limits`."""
    return encoder_decoder.writer_limits(config, "RobertaTokenizer")


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """As `build_behind_encoder`."""
    return build_behind_encoder(checkpoint, _CLASS, graph_of, max_tokens, read_limits(checkpoint.config).positions)


def graph_of(
    config: Config,
    tensors: TensorFile,
    max_source: int,
    max_target: int,
    generation: GenerationSettings | None = None,
) -> Graph:
    """As `build_encoder_decoder`."""
    positions, limits = encoder_decoder.learned_positions(config, tensors), (max_source, max_target)
    form = encoder_decoder.Form(embedding_norm=True)
    return encoder_decoder.build_encoder_decoder(config, tensors, limits, positions, form, generation)
