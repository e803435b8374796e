# SPDX-License-Identifier: Apache-2.0
"""The texts' half of a class that has an encoder of texts beside one of images or sound, as its `get_text_features` of
`transformers` has it. The other half is left aside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from ...ir.graph import Graph, Head, Node
from ...load.checkpoint import Checkpoint
from ...load.config import Asked, Config
from ...load.config_keys import check_keys
from ...load.safetensors import TensorFile
from ..shared import parts
from ..shared.checked_keys import with_checked_keys
from ..shared.embedding_head import check_no_rows
from .architecture import check_class

TEXT_MODEL, PROJECTION = "text_model.", "text_projection"  # as files call them
_OF_OTHERS = (
    *("vision_model.*", "visual_projection.*", "audio_model.*", "audio_projection.*"),
    *("logit_scale", "logit_scale_a", "logit_scale_t", "logit_bias", "temperature"),
)
_TEXT, _OLD_TEXT = "text_config", "text_config_dict"
_NOTHING: Mapping[str, Any] = MappingProxyType({})
NEW, OLD_OR_NEW = (_TEXT,), (_OLD_TEXT, _TEXT)
# Of images or sound, and of how alike a text and one of these are.
HARMLESS_KEYS = frozenset(
    (
        *(_TEXT, _OLD_TEXT, "vision_config", "vision_config_dict", "audio_config", "initializer_factor"),
        *("logit_scale_init_value", "temperature_init_value"),
    )
)


@dataclass(frozen=True)
class TextHalf:
    """What such a class makes of a text."""

    body: tuple[Node, ...]
    widths: dict[str, int]
    result: Head
    vocabulary: int
    segments: int = parts.SEGMENTS


@dataclass(frozen=True)
class Whole:
    """A class that has such a half."""

    name: str
    holders: tuple[str, ...] = ()  # others that have it whole, as a part of theirs
    base: str = ""  # as their files call it, where they do not by its model type
    others: tuple[str, ...] = ()  # tensors that are not about texts, beside those of most


def half_graph(
    checkpoint: Checkpoint,
    max_tokens: int,
    whole: Whole,
    build: Callable[[Config], TextHalf],
    harmless: frozenset[str],
    *,
    keys: tuple[str, ...] = OLD_OR_NEW,
    usual: Mapping[str, Any] = _NOTHING,
) -> Graph:
    """The graph of a checkpoint of the class `whole`; takes every tensor that is about texts exactly once.
    `harmless` are keys of its texts' configuration, which is below the first of `keys`, `usual` what that need not
    say."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_class(config, whole.name, *whole.holders)
    check_no_rows(checkpoint, whole.name)
    texts = of_texts(config, keys, usual)
    check_keys(texts, may_decode=False)
    tensors.below(whole.base or f"{config.model_type}.")
    half = build(texts)
    notes = left_aside(tensors, *_OF_OTHERS, *whole.others)
    tensors.finish()
    graph = Graph(half.widths, half.body, (half.result,), half.vocabulary, half.segments, max_tokens, notes)
    return with_checked_keys(texts, graph, harmless)


def left_aside(tensors: TensorFile, *patterns: str) -> tuple[str, ...]:
    """A note on the tensors whose names match one of these, which are not about texts."""
    unused = tensors.ignore(*patterns)
    return (f"not used: {len(unused)} tensors that are not about texts",) if unused else ()


def of_texts(config: Config, keys: tuple[str, ...] = OLD_OR_NEW, usual: Mapping[str, Any] = _NOTHING) -> Config:
    """The library takes all from the older key where there is one, and then from no other, not even defaults."""
    for key in keys:
        values = config.values.get(key)
        if values is not None:
            if not isinstance(values, dict):
                raise parts.refuse("config-type", f"'{key}' must be an object")
            return replace(config, values=Asked({**usual, **values}))
    return replace(config, values=Asked(usual))


def projection_width(config: Config, usual: int = 512) -> int:
    """Of the file that says it: of a whole class not that of its encoder."""
    return config.positive_int("projection_dim", usual, maximum=parts.MAX_WIDTH)
