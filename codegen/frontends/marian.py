# SPDX-License-Identifier: Apache-2.0
"""Marian's translators in opus-mt's layout: sinusoids, no norm behind the embedding. Names as in `transformers`."""

from __future__ import annotations

from functools import cache

from ..ir.graph import Graph, Parameter, Term
from ..load.config import Config
from ..load.generation_config import GenerationSettings
from ..load.safetensors import TensorFile
from . import parts
from .encoder_decoder import build_encoder_decoder, position_count
from .sinusoids import halved_sinusoids


def graph_of(
    config: Config,
    tensors: TensorFile,
    max_source: int,
    max_target: int,
    generation: GenerationSettings | None = None,
) -> Graph:
    """As `build_encoder_decoder`."""
    if not config.flag("share_encoder_decoder_embeddings", True):
        raise parts.refuse("generation-not-supported", "share_encoder_decoder_embeddings is false")
    if config.flag("normalize_embedding", False):
        raise parts.refuse("generation-not-supported", "normalize_embedding is true")
    # Computed below; older files have them.
    tensors.ignore("model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight")
    count = position_count(config)

    @cache
    def table(width: int) -> Parameter:
        return halved_sinusoids("position_embeddings", count, width)

    return build_encoder_decoder(
        config,
        tensors,
        (max_source, max_target),
        lambda of, width: Term(table(width), "positions"),
        embedding_norm=False,
        generation=generation,
    )
