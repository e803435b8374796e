# SPDX-License-Identifier: Apache-2.0
"""What config.json says of a single task, `task_specific_params`: how the texts of it are written, and a prefix that is
read before each of them. Pipelines of `transformers` before version 5 took it for the task that they were made for,
over all other settings; no model asks for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tokenizers import Tokenizer

from ..ir.normalizer_spec import CharsmapNormalizer, NoNormalizer
from ..ir.template_spec import TemplatePart
from ..ir.tokenizer_spec import METASPACE, MetaspaceSegmenter, TokenizerSpec
from .config import Config
from .refusal import refusal, shown

_KEY = "task_specific_params"


@dataclass(frozen=True)
class TaskParams:
    """Of one task; empty where the file has none."""

    place: str  # file and keys, as messages name them
    generation: Mapping[str, Any]  # as generation_config.json has them
    prefix: str


def read_task_params(config: Config, task: str) -> TaskParams:
    """`task` as the library's pipelines are called."""
    place = f"{_KEY}.{task}"
    values = config.values.get(_KEY)
    for name, value in ((_KEY, values), (place, (values or {}).get(task) if isinstance(values, dict) else None)):
        if value is not None and not isinstance(value, dict):
            raise refusal("config-type", f"'{name}' must be an object, got {shown(value)}", file=config.file)
    generation = dict((values or {}).get(task) or {})
    prefix = generation.pop("prefix", None)
    if prefix is not None and not isinstance(prefix, str):
        raise refusal("config-type", f"'{place}.prefix' must be a text, got {shown(prefix)}", file=config.file)
    return TaskParams(f"{config.file} ({place})", generation, prefix or "")


def with_prefix(spec: TokenizerSpec, params: TaskParams) -> TokenizerSpec:
    """The tokenizer that reads the prefix before every text: its tokens are as fixed as special ones, and no text is so
    long that they would be cut.

    Read together, prefix and text have these tokens and the text's only where words are what stands between white
    space, each read by itself as if it were the first, and the prefix ends with a space. Others are refused.
    """
    if not params.prefix:
        return spec
    processor = json.loads(spec.json or "{}").get("post_processor") or {}
    words, normalizer = spec.segmenter, spec.normalizer
    apart = isinstance(words, MetaspaceSegmenter) and words.split and words.split_whitespace
    always = isinstance(words, MetaspaceSegmenter) and words.prepend == "always"
    plain = isinstance(normalizer, NoNormalizer) or (
        isinstance(normalizer, CharsmapNormalizer) and normalizer.run_content in (None, " ", METASPACE)
    )
    template = processor.get("type") == "TemplateProcessing"
    if not (apart and always and plain and template and params.prefix.endswith(" ")):
        message = f"the prefix {shown(params.prefix)} would not be read by itself: remove it, and write it before texts"
        raise refusal("generation-not-supported", message, file=params.place)
    read = Tokenizer.from_str(spec.json).encode(params.prefix, add_special_tokens=False)
    parts = tuple(TemplatePart(number, 0) for number in read.ids)
    return replace(
        spec,
        template=replace(spec.template, single=(*parts, *spec.template.single)),
        prefix=params.prefix,
        json=_with_special(spec.json, read.ids, read.tokens),
        notes=(*spec.notes, f"{params.place}: {shown(params.prefix)} is read before every text"),
    )


def _with_special(text: str, ids: list[int], tokens: list[str]) -> str:
    """tokenizer.json with these tokens before a text, as one special token that stands for them."""
    described = json.loads(text)
    processor, name = described["post_processor"], " ".join(tokens)
    processor["special_tokens"][name] = {"id": name, "ids": ids, "tokens": tokens}
    processor["single"].insert(0, {"SpecialToken": {"id": name, "type_id": 0}})
    return json.dumps(described, ensure_ascii=False)
