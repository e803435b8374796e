# SPDX-License-Identifier: Apache-2.0
"""mBART: BART with norms before the blocks and one behind the last layer of encoder and decoder. Names as in
`transformers`."""

from __future__ import annotations

from ..ir.graph import Graph
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.generation_config import GenerationSettings
from ..load.limits import Limits
from ..load.safetensors import TensorFile
from . import encoder_decoder
from .target import build_behind_encoder

MODEL_TYPE = "mbart"
_CLASS = "MBartForConditionalGeneration"
HARMLESS_KEYS = encoder_decoder.HARMLESS_KEYS
_FORM: dict[str, object] = {
    **dict.fromkeys(("normalize_before", "normalize_embedding", "add_final_layer_norm"), True),
    **dict.fromkeys(("static_position_embeddings", "do_blenderbot_90_layernorm"), False),
    "extra_pos_embeddings": 2,
}


def read_limits(config: Config) -> Limits:
    """As `writer_limits`."""
    return encoder_decoder.writer_limits(config, "MBartTokenizer")


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
    encoder_decoder.check_form(config, _FORM)
    positions, limits = encoder_decoder.learned_positions(config, tensors), (max_source, max_target)
    form = encoder_decoder.Form(embedding_norm=True, pre_norm=True)
    return encoder_decoder.build_encoder_decoder(config, tensors, limits, positions, form, generation)
