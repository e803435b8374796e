# SPDX-License-Identifier: Apache-2.0
"""A tokenizer whose folder has tokenizer.json: it counts as it is, if nothing beside it changes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .files import CheckpointFolder
from .folder_tokens import read_tokens
from .refusal import refusal
from .template_json import without_segments
from .tokenizer_config import SPECIAL_TOKENS, check_unsupported, class_of, has_segments, read_config
from .tokenizer_json import FILE
from .tokenizer_spec import TokenizerSpec


def read_described_folder(
    folder: CheckpointFolder,
    described: dict[str, Any],
    class_in_config: object,
    usual_class: str,
    *,
    read: Callable[[dict[str, Any]], TokenizerSpec],
    model: str,
) -> TokenizerSpec:
    """`class_in_config` and `usual_class` are as in `TokenizerConfig`; `read` reads tokenizer.json, whose kind of model
    is `model`."""
    config = read_config(folder)
    check_unsupported(config)
    class_of(config, class_in_config, usual_class, supported=(), model=model)
    keys = {"bos_token": "", "eos_token": "", **SPECIAL_TOKENS}
    tokens = read_tokens(folder, config, described, keys, rebuilds=False)
    with_segments = has_segments(config, usual=False)
    spec = read(described if with_segments else without_segments(described))
    if not with_segments and spec.template.segments > 1:
        message = "the model is not told of the segments that pairs have here; TemplateProcessing can leave them out"
        raise refusal("tokenizer-template", message, file=FILE)
    tokens.check(spec)
    return replace(spec, notes=spec.notes + tokens.notes)
