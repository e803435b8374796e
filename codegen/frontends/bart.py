# SPDX-License-Identifier: Apache-2.0
"""BART: learned positions, and a norm behind the embedding. Names as in `transformers`."""

from __future__ import annotations

from ..ir.graph import Graph, Term
from ..load.config import Config
from ..load.generation_config import GenerationSettings
from ..load.safetensors import TensorFile
from . import parts
from .encoder_decoder import build_encoder_decoder, position_count

_FIRST_POSITION = 2  # rows of the tables before the first token's


def build_graph(
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
