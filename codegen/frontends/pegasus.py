# SPDX-License-Identifier: Apache-2.0
"""PEGASUS: mBART without a norm behind the embedding, and with Marian's sinusoids, where the file has no tables that
count in their place. Names as in `transformers`."""

from __future__ import annotations

from ..ir.graph import Graph, Term
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.generation_config import GenerationSettings
from ..load.limits import Limits
from ..load.safetensors import TensorFile
from . import encoder_decoder
from .target import build_behind_encoder

MODEL_TYPE = "pegasus"
# Of positions that are learned.
HARMLESS_KEYS = encoder_decoder.HARMLESS_KEYS | {"extra_pos_embeddings"}
_CLASS = "PegasusForConditionalGeneration"
_FORM: dict[str, object] = {
    **dict.fromkeys(("normalize_before", "add_final_layer_norm", "static_position_embeddings"), True),
    **dict.fromkeys(("normalize_embedding", "do_blenderbot_90_layernorm"), False),
}


def read_limits(config: Config) -> Limits:
    """As `writer_limits`."""
    return encoder_decoder.writer_limits(config, "PegasusTokenizer")


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
    stored, computed = encoder_decoder.learned_positions(config, tensors, 0), encoder_decoder.computed_positions(config)

    def positions(of: str, width: int) -> Term:
        has_table = encoder_decoder.position_table(of) in tensors
        return stored(of, width) if has_table else computed(of, width)

    limits, form = (max_source, max_target), encoder_decoder.Form(pre_norm=True)
    return encoder_decoder.build_encoder_decoder(config, tensors, limits, positions, form, generation)
