# SPDX-License-Identifier: Apache-2.0
"""Cohere's Command-R7B: Command-R with windows of the past in most layers, of which the others know no positions. Names
as in `transformers`, which has no classifier of it."""

from __future__ import annotations

from ...load.config import Config
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import COHERE_TOKENIZER
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.layer_kinds import SLIDING, every_so_manyth, layer_kinds
from ..shared.llama_stack import Stack, causal_stack, masks_by_kind
from .cohere import cohere_form, logits_factor

MODEL_TYPE = "cohere2"
# Training's, the library's own cache's, and those of Cohere's files that the class does not read: what they say of
# layers and their norms is what it always does.
HARMLESS_KEYS = frozenset(
    (
        *("attention_dropout", "cache_implementation", "layer_switch", "model_max_length", "pretraining_tp"),
        *("order_of_interleaved_layers", "position_embedding_type", "rotary_pct", "sliding_window_pattern"),
        *("use_embedding_sharing", "use_gated_activation", "use_parallel_block", "use_parallel_embedding"),
        "use_qk_norm",
    )
)
_THETA, _WINDOW, _EVERY = 10_000.0, 4096, 4  # where the configuration does not say them


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    kinds = layer_kinds(config, every_so_manyth(config, _every(config)))
    if "sliding_window" in config and config.values.get("sliding_window") is None:
        raise parts.refuse("config-not-supported", "sliding_window null: the class has no mask of its layers then")
    masks = masks_by_kind(config, kinds, _WINDOW, tokens)
    turned = tuple(kind == SLIDING for kind in kinds)
    form = cohere_form(config, _THETA, head_norms=False, turned=turned)
    return causal_stack(config, tensors, prefix, vocabulary, tokens, form, masks)


def _every(config: Config) -> int:
    """Of how many layers one sees everything, where layer_types does not name them."""
    if config.values.get("layer_types") is not None:
        return _EVERY
    return config.positive_int("sliding_window_pattern", _EVERY, maximum=parts.MAX_LAYERS)


FAMILY = Family("Cohere2", COHERE_TOKENIZER, _stack, logits_factor=logits_factor, tied=True, padding=0)
