# SPDX-License-Identifier: Apache-2.0
"""A class that has a decoder beside an encoder of images: its texts alone, read as the family of that decoder has them.
Where there are no images the library hands the rows of the words on to the decoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ...load.config import Asked, Config
from ...load.config_keys import check_keys
from ...load.generation_config import GenerationSettings
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ..shared import parts
from ..shared.checked_keys import with_checked_keys
from .decoder_family import Family, Names
from .text_half import NEW, left_aside, of_texts

# Of images, and a number of words, which the texts' part says.
HARMLESS_KEYS = frozenset(
    (
        *("vision_config", "image_token_id", "image_token_index", "image_seq_length", "vocab_size"),
        *(
            "projector_hidden_act",
            "multimodal_projector_bias",
            "vision_feature_layer",
            "vision_feature_select_strategy",
        ),
    )
)
_TIED = "tie_word_embeddings"
# What the library reads of the whole configuration, whatever the texts' part says.
_OF_LABELS = ("id2label", "label2id", "num_labels", "problem_type")
NAMES = Names("model.language_model.", alone="language_model.")
_OLDER_NAMES = replace(NAMES, older=("language_model.model.",))
_OLDER_LOGITS = "language_model.lm_head.weight"
OF_IMAGES = tuple(
    f"{prefix}{part}.*" for prefix in ("", "model.") for part in ("vision_tower", "multi_modal_projector")
)


@dataclass(frozen=True)
class DecoderHalf:
    """What such a class has of its own."""

    name: str  # of its classes
    texts: Mapping[str, ModuleType]  # by the model type of their configuration; the first where that says none
    tied: bool  # the words are the weights of the logits, where the configuration does not say it
    tied_keys: tuple[str, ...] = (_TIED,)  # by which it does; the first one that is there counts
    texts_tie: bool = False  # where the whole one says no, that of texts may say it
    usual: Mapping[str, Any] = field(default_factory=dict)  # what the first ones' need not say
    tokenizer_class: str | None = None  # where it is not that of the texts
    names: Names = _OLDER_NAMES
    older_logits: str | None = _OLDER_LOGITS  # what older files call those of `names`
    others: tuple[str, ...] = OF_IMAGES  # tensors that are not about texts
    tags: str | None = None  # what the file calls the linear of a token classifier, where there is such a class
    note: str = ""  # what is otherwise than in the library
    check: Callable[[Config], None] = lambda texts: None  # EtchError for what the texts' family would take otherwise

    def read_limits(self, config: Config) -> Limits:
        """Of its texts."""
        family, texts, _ = self._read(config)
        return family.read_limits(texts)

    def build_graph(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """The graph of a checkpoint; takes every tensor that is about texts exactly once."""
        family, texts, harmless = self._read(checkpoint.config)
        notes = self._left_aside(checkpoint.tensors)
        graph = family.build_graph(replace(checkpoint, config=texts), max_tokens)
        return with_checked_keys(texts, replace(graph, notes=graph.notes + notes), harmless)

    def graph_of(
        self,
        config: Config,
        tensors: TensorFile,
        max_source: int,
        max_target: int,
        generation: GenerationSettings | None = None,
    ) -> Graph:
        """As that of `Family`."""
        family, texts, harmless = self._read(config)
        notes = self._left_aside(tensors)
        graph = family.graph_of(texts, tensors, max_source, max_target, generation)
        return with_checked_keys(texts, replace(graph, notes=graph.notes + notes), harmless)

    def _left_aside(self, tensors: TensorFile) -> tuple[str, ...]:
        if self.older_logits is not None:
            tensors.stand_in(self.names.logits, self.older_logits)
        return (*left_aside(tensors, *self.others), *filter(None, (self.note,)))

    def _read(self, config: Config) -> tuple[Family, Config, frozenset[str]]:
        """The family of its texts, their part of the configuration, and keys of it that change nothing. Whether words
        are tied counts of the whole, as the library reads it, and so do the class and the labels."""
        first = next(iter(self.texts))
        said = of_texts(config, NEW)
        kind = said.text("model_type", first)
        texts = of_texts(config, NEW, self.usual) if kind == first else said
        if kind not in self.texts:
            message = f"text_config: model_type '{kind[:60]}' is not supported (supported: {', '.join(self.texts)})"
            raise parts.refuse("config-not-supported", message)
        check_keys(texts, may_decode=False)
        self.check(texts)
        of_whole = {key: config.values[key] for key in (*self.tied_keys, *_OF_LABELS) if key in config}
        if self.texts_tie and texts.values.get(_TIED):
            of_whole[_TIED] = True
        own = {key: value for key, value in texts.values.items() if key not in (*self.tied_keys, *_OF_LABELS)}
        values = {**own, **of_whole, "architectures": list(config.architectures)}
        front_end = self.texts[kind]
        family = replace(
            front_end.FAMILY,
            name=self.name,
            tokenizer_class=self.tokenizer_class or front_end.FAMILY.tokenizer_class,
            writer=f"{self.name}ForConditionalGeneration",
            first_writer="",
            names=self.names,
            tags=self.tags,
            tied=self.tied,
            tied_keys=self.tied_keys,
        )
        return family, replace(texts, values=Asked(values)), getattr(front_end, "HARMLESS_KEYS", frozenset())
