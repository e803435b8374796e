# SPDX-License-Identifier: Apache-2.0
"""The texts' half of a class that has an encoder of texts beside one of images or sound, as its `get_text_features` of
`transformers` has it. The other half is left aside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ...ir.graph import Graph, Head, Node
from ...load.config import Asked, Config
from ...load.config_keys import check_keys, unused_keys
from ...load.folder import Checkpoint
from ..shared import parts
from ..shared.embedding_head import check_no_rows
from .architecture import check_class

TEXT_MODEL, PROJECTION = "text_model.", "text_projection"  # as files call them
_OF_IMAGES = ("vision_model.*", "visual_projection.*", "logit_scale", "logit_bias")
_TEXT, _OLD_TEXT = "text_config", "text_config_dict"
NEW, OLD_OR_NEW = (_TEXT,), (_OLD_TEXT, _TEXT)
# Of images, and of how alike a text and an image are.
HARMLESS_KEYS = frozenset(
    (_TEXT, _OLD_TEXT, "vision_config", "vision_config_dict", "logit_scale_init_value", "initializer_factor")
)


@dataclass(frozen=True)
class TextHalf:
    """What such a class makes of a text."""

    body: tuple[Node, ...]
    widths: dict[str, int]
    result: Head
    vocabulary: int


def half_graph(
    checkpoint: Checkpoint,
    max_tokens: int,
    name: str,
    build: Callable[[Config], TextHalf],
    harmless: frozenset[str],
    *,
    keys: tuple[str, ...] = OLD_OR_NEW,
) -> Graph:
    """The graph of a checkpoint of the class `name`; takes every tensor that is about texts exactly once.
    `harmless` are keys of its texts' configuration, which is below the first of `keys`."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_class(config, name)
    check_no_rows(checkpoint, name)
    texts = of_texts(config, keys)
    check_keys(texts, may_decode=False)
    half = build(texts)
    unused = tensors.ignore(*_OF_IMAGES)
    tensors.finish()
    notes = (f"not used: {len(unused)} tensors that are not about texts",) if unused else ()
    notes += unused_keys(texts, harmless)
    return Graph(half.widths, half.body, (half.result,), half.vocabulary, parts.SEGMENTS, max_tokens, notes)


def of_texts(config: Config, keys: tuple[str, ...] = OLD_OR_NEW) -> Config:
    """The library takes all from the older key where there is one, and then from no other, not even defaults."""
    for key in keys:
        values = config.values.get(key)
        if values is not None:
            if not isinstance(values, dict):
                raise parts.refuse("config-type", f"'{key}' must be an object")
            return replace(config, values=Asked(values))
    return replace(config, values=Asked({}))


def projection_width(config: Config) -> int:
    """Of the file that says it: of a whole class not that of its encoder."""
    return config.positive_int("projection_dim", 512, maximum=parts.MAX_WIDTH)
