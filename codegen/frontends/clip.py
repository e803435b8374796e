# SPDX-License-Identifier: Apache-2.0
"""The texts' half of a whole CLIP: `CLIPModel.get_text_features` of `transformers`. What looks at images is left
aside."""

from __future__ import annotations

from dataclasses import replace

from ..ir.graph import Graph
from ..load.config import Asked, Config
from ..load.config_keys import check_keys, unused_keys
from ..load.folder import Checkpoint
from ..load.limits import Limits
from . import clip_text_model
from .bases.architecture import check_class
from .shared import parts
from .shared.embedding_head import check_no_rows

MODEL_TYPE = "clip"
_CLASS = "CLIPModel"
_TEXT, _OLD_TEXT = "text_config", "text_config_dict"
# Of images, and of how alike a text and an image are.
_NOT_OF_TEXTS = ("vision_config", "vision_config_dict", "logit_scale_init_value", "initializer_factor")
HARMLESS_KEYS = frozenset((_TEXT, _OLD_TEXT, *_NOT_OF_TEXTS))
_OF_IMAGES = ("vision_model.*", "visual_projection.weight", "logit_scale")


def read_limits(config: Config) -> Limits:
    """Of its texts."""
    return clip_text_model.read_limits(_of_texts(config))


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that is about texts exactly once."""
    config, tensors = checkpoint.config, checkpoint.tensors
    check_class(config, _CLASS)
    check_no_rows(checkpoint, _CLASS)
    texts = _of_texts(config)
    check_keys(texts, may_decode=False)
    end = clip_text_model.end_of_texts(texts, checkpoint.tokenizer)
    limits = clip_text_model.read_limits(texts)
    body, widths = clip_text_model.rows_of(texts, tensors, "text_model.", max_tokens)
    outputs = clip_text_model.projection_width(config)
    head, head_widths, result = clip_text_model.text_embedding(tensors, limits.width, outputs, end)
    unused = tensors.ignore(*_OF_IMAGES)
    tensors.finish()
    notes = (f"not used: {len(unused)} tensors that are not about texts",) if unused else ()
    notes += unused_keys(texts, clip_text_model.HARMLESS_KEYS)
    widths |= head_widths
    return Graph(widths, body + head, (result,), limits.vocabulary, parts.SEGMENTS, max_tokens, notes)


def _of_texts(config: Config) -> Config:
    """The library takes all from the older key where there is one, and then from no other, not even defaults."""
    for key in (_OLD_TEXT, _TEXT):
        values = config.values.get(key)
        if values is not None:
            if not isinstance(values, dict):
                raise parts.refuse("config-type", f"'{key}' must be an object")
            return replace(config, values=Asked(values))
    return replace(config, values=Asked({}))
