# SPDX-License-Identifier: Apache-2.0
"""A tokenizer whose folder has tokenizer.json: it counts as it is, if nothing beside it changes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ....ir.tokenizer_spec import TokenizerSpec
from ...files import CheckpointFolder
from ...refusal import refusal
from ..folder_tokens import FolderTokens, read_tokens
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import check_segments, check_unsupported, class_of, has_segments, read_config
from ..tokenizer_json.fields import FILE
from ..tokenizer_json.template import without_segments
from ..word_piece_tokens import SPECIAL_TOKENS


@dataclass(frozen=True)
class RebuiltClass:
    """A class of `transformers` that makes other parts than tokenizer.json has, maybe."""

    special_tokens: dict[str, object]  # by their keys, with their defaults
    different: Callable[[dict[str, Any], TokenizerSpec, FolderTokens], Iterable[str]]  # parts, by tokenizer_config.json
    settle: Callable[[TokenizerSpec], TokenizerSpec] = lambda spec: spec  # what is done otherwise here, with a note
    of_class: Mapping[str, object] = field(default_factory=dict)  # fields that are the class's, whatever the file has


def read_described_folder(
    folder: CheckpointFolder,
    described: dict[str, Any],
    class_in_config: object,
    usual_class: str,
    *,
    read: Callable[[dict[str, Any]], TokenizerSpec],
    model: str,
    classes: Mapping[str, RebuiltClass | None] | None = None,
) -> TokenizerSpec:
    """`class_in_config` and `usual_class` are as in `WordPieceConfig`; `read` reads tokenizer.json, whose kind of model
    is `model`; `classes` by their names: None for those of which `transformers` 5 does not read such a file."""
    config = read_config(folder)
    check_unsupported(config, has_template=True)
    name = class_of(config, class_in_config, usual_class, supported=tuple(classes or ()), model=model)
    rebuilt = (classes or {}).get(name)
    usual = {"bos_token": "", "eos_token": "", **SPECIAL_TOKENS}
    keys = usual if rebuilt is None else rebuilt.special_tokens
    tokens = read_tokens(folder, config, described, keys, rebuilds=rebuilt is not None)
    of_class = {} if rebuilt is None else rebuilt.of_class
    other = [key for key, value in of_class.items() if described.get(key) != value]
    described = {**described, **of_class}
    with_segments = has_segments(config, usual=False)
    spec = read(described if with_segments else without_segments(described))
    check_segments(spec, with_segments=with_segments)
    tokens.check(spec)
    is_unread = rebuilt is None and name in (classes or {})
    notes = (f"{name} of transformers 5 does not read {model}: {FILE} counts, as tokenizers reads it",) * is_unread
    if rebuilt is not None:
        if tokens.of(described["model"]["vocab"]) != sorted(spec.added_tokens, key=lambda token: token.id):
            raise refusal("tokenizer-conflict", f"{CONFIG_FILE} lists other added tokens", file=FILE)
        different = rebuilt.different(config, spec, tokens)
        notes = tuple(f"{name} of transformers has another {part}: {FILE} counts" for part in different)
        notes += tuple(f"{key} is that of {name}, not what {FILE} says" for key in other)
        spec = rebuilt.settle(spec)
    return replace(spec, notes=spec.notes + tokens.notes + notes)
