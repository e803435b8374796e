# SPDX-License-Identifier: Apache-2.0
"""BigBird's PEGASUS with full attention, which the library, too, has for short texts where the configuration says
block-sparse: then longer ones are refused. It is mBART with other names, no norm behind the embedding and attention
without biases. Names as in `transformers`."""

from __future__ import annotations

from dataclasses import replace

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.generation_config import GenerationSettings
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ..bases.bart_family import Family
from ..encoders.big_bird import of_full_attention
from ..shared import encoder_decoder, parts
from ..shared.encoder_layer import BART_NAMES

MODEL_TYPE = "bigbird_pegasus"
# Of block-sparse attention, and of the first files.
_OTHER = (
    "attention_probs_dropout_prob",
    "block_size",
    "gradient_checkpointing",
    "num_random_blocks",
    "rescale_embeddings",
)
HARMLESS_KEYS = encoder_decoder.HARMLESS_KEYS | {*_OTHER}
_LAYER = replace(
    BART_NAMES,
    query="self_attn.self.query",
    key="self_attn.self.key",
    value="self_attn.self.value",
    attention_output="self_attn.output",
)
_FORM = encoder_decoder.Form(
    pre_norm=True,
    activation="gelu_new",
    scales_words=True,
    encoder=_LAYER,
    last_norm="layernorm_embedding",
    attention_bias=lambda config: config.flag("use_bias", False),
)


_FAMILY = Family(
    "BigBirdPegasusForConditionalGeneration",
    "TokenizersBackend",
    _FORM,
    encoder_decoder.positions_from_first,
    of_rows="BigBirdPegasus",
    end=1,
)


def read_limits(config: Config) -> Limits:
    """Of texts as `big_bird` has them."""
    return of_full_attention(config, _FAMILY.read_limits(config))


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint."""
    _check_full(checkpoint.config, max_tokens)
    return _FAMILY.build_graph(checkpoint, max_tokens)


def graph_of(
    config: Config,
    tensors: TensorFile,
    max_source: int,
    max_target: int,
    generation: GenerationSettings | None = None,
) -> Graph:
    """The graph of a writer."""
    _check_full(config, max_source)
    return _FAMILY.graph_of(config, tensors, max_source, max_target, generation)


def _check_full(config: Config, tokens: int) -> None:
    limits = read_limits(config)
    parts.check_max_tokens(tokens, limits.positions, limits.positions_key)
