# SPDX-License-Identifier: Apache-2.0
"""Qwen 3.5 as it is published, beside an encoder of images: its texts alone, read as a family of texts has them. Names
as in `transformers`."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ...load.config import Asked, Config
from ...load.config_keys import check_keys
from ...load.generation_config import GenerationSettings
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ...load.tokenizer_files.tokenizer_config import AS_QWEN3_5
from ..shared.checked_keys import with_checked_keys
from .decoder_family import Family, Names
from .text_half import NEW, of_texts

# Of images; a number of words, which the texts' part says.
HARMLESS_KEYS = frozenset(
    {"image_token_id", "video_token_id", "vision_config", "vision_end_token_id", "vision_start_token_id", "vocab_size"}
)
_TIED = "tie_word_embeddings"
# What the library reads of the whole configuration, whatever the texts' part says.
_OF_LABELS = ("id2label", "label2id", "num_labels", "problem_type")


def family_of_texts(texts: Family, name: str, tags: str | None = None) -> Family:
    """As the file of a whole one has its tensors; `name` is that of its classes, `tags` as of `Family`."""
    return replace(
        texts,
        name=name,
        tokenizer_class=AS_QWEN3_5,
        writer=f"{name}ForConditionalGeneration",
        names=Names("model.language_model.", alone="language_model."),
        tags=tags,
    )


@dataclass(frozen=True)
class Whole:
    """A family of whole ones."""

    texts: Family
    harmless: Set[str]  # keys of the texts' part

    def read_limits(self, config: Config) -> Limits:
        """Of its texts."""
        return self.texts.read_limits(_texts(config))

    def build_graph(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """The graph of a checkpoint; takes every tensor that is about texts exactly once."""
        texts = _texts(checkpoint.config)
        graph = self.texts.build_graph(replace(checkpoint, config=texts), max_tokens)
        return with_checked_keys(texts, graph, self.harmless)

    def graph_of(
        self,
        config: Config,
        tensors: TensorFile,
        max_source: int,
        max_target: int,
        generation: GenerationSettings | None = None,
    ) -> Graph:
        """As that of `decoder_family`."""
        texts = _texts(config)
        graph = self.texts.graph_of(texts, tensors, max_source, max_target, generation)
        return with_checked_keys(texts, graph, self.harmless)


def _texts(config: Config) -> Config:
    """Its part of the configuration; whether words are tied counts of the whole, as the library reads it, and so do
    the class and the labels."""
    texts = of_texts(config, NEW)
    check_keys(texts, may_decode=False)
    of_whole = {_TIED: config.flag(_TIED, False), "architectures": list(config.architectures)}
    labels = {key: config.values[key] for key in _OF_LABELS if key in config}
    own = {key: value for key, value in texts.values.items() if key not in _OF_LABELS}
    return replace(texts, values=Asked({**own, **labels, **of_whole}))
