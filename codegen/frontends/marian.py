# SPDX-License-Identifier: Apache-2.0
"""Marian's translators in opus-mt's layout: sinusoids, no norm behind the embedding. Names as in `transformers`."""

from __future__ import annotations

from ..ir.graph import Graph
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.generation_config import GenerationSettings
from ..load.limits import Limits
from ..load.safetensors import TensorFile
from . import encoder_decoder, parts
from .target import build_behind_encoder

MODEL_TYPE = "marian"
HARMLESS_KEYS = encoder_decoder.HARMLESS_KEYS
_CLASS = "MarianMTModel"
# What a folder may say and none of these models does.
_FLAGS = {
    **dict.fromkeys(("share_encoder_decoder_embeddings", "static_position_embeddings", "tie_word_embeddings"), True),
    **dict.fromkeys(("normalize_embedding", "normalize_before", "add_final_layer_norm"), False),
}


def read_limits(config: Config) -> Limits:
    """As `writer_limits`."""
    return encoder_decoder.writer_limits(config, "MarianTokenizer")


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
    _check_form(config)
    # Computed below; older files have them.
    tensors.ignore(*map(encoder_decoder.position_table, ("encoder", "decoder")))
    positions, limits = encoder_decoder.computed_positions(config), (max_source, max_target)
    form = encoder_decoder.Form()
    return encoder_decoder.build_encoder_decoder(config, tensors, limits, positions, form, generation)


def _check_form(config: Config) -> None:
    for key, value in _FLAGS.items():
        if config.flag(key, value) is not value:
            raise parts.refuse("generation-not-supported", f"{key} is {str(not value).lower()}")
    vocabulary = config.positive_int("vocab_size")
    written = config.values.get("decoder_vocab_size")
    if written is not None and written != vocabulary:
        message = f"decoder_vocab_size is not vocab_size, {vocabulary}: source and target have one vocabulary"
        raise parts.refuse("generation-not-supported", message)
