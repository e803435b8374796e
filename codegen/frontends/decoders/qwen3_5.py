# SPDX-License-Identifier: Apache-2.0
"""Qwen 3.5 as it is published, beside an encoder of images: its texts alone, read as `qwen3_5_text` has them. Names as
in `transformers`."""

from __future__ import annotations

from dataclasses import replace

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ...load.config import Asked, Config
from ...load.config_keys import check_keys
from ...load.generation_config import GenerationSettings
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_QWEN3_5
from ..bases.decoder_family import Names
from ..bases.text_half import NEW, of_texts
from ..shared.checked_keys import with_checked_keys
from .qwen3_5_text import FAMILY as TEXTS
from .qwen3_5_text import HARMLESS_KEYS as _OF_TEXTS

MODEL_TYPE = "qwen3_5"
# Of images; a number of words, which the texts' part says.
HARMLESS_KEYS = frozenset(
    {"image_token_id", "video_token_id", "vision_config", "vision_end_token_id", "vision_start_token_id", "vocab_size"}
)
_WRITER = "Qwen3_5ForConditionalGeneration"
_TIED = "tie_word_embeddings"
# What the library reads of the whole configuration, whatever the texts' part says.
_OF_LABELS = ("id2label", "label2id", "num_labels", "problem_type")
_FAMILY = replace(
    TEXTS,
    name="Qwen3_5",
    tokenizer_class=AS_QWEN3_5,
    writer=_WRITER,
    names=Names("model.language_model.", alone="language_model."),
    tags="score",
)


def read_limits(config: Config) -> Limits:
    """Of its texts."""
    return _FAMILY.read_limits(_texts(config))


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor that is about texts exactly once."""
    texts = _texts(checkpoint.config)
    graph = _FAMILY.build_graph(replace(checkpoint, config=texts), max_tokens)
    return with_checked_keys(texts, graph, _OF_TEXTS)


def graph_of(
    config: Config,
    tensors: TensorFile,
    max_source: int,
    max_target: int,
    generation: GenerationSettings | None = None,
) -> Graph:
    """As that of `decoder_family`."""
    texts = _texts(config)
    return with_checked_keys(texts, _FAMILY.graph_of(texts, tensors, max_source, max_target, generation), _OF_TEXTS)


def _texts(config: Config) -> Config:
    """Its part of the configuration; whether words are tied counts of the whole, as the library reads it, and so do
    the class and the labels."""
    texts = of_texts(config, NEW)
    check_keys(texts, may_decode=False)
    of_whole = {_TIED: config.flag(_TIED, False), "architectures": list(config.architectures)}
    labels = {key: config.values[key] for key in _OF_LABELS if key in config}
    own = {key: value for key, value in texts.values.items() if key not in _OF_LABELS}
    return replace(texts, values=Asked({**own, **labels, **of_whole}))
