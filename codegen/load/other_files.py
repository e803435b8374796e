# SPDX-License-Identifier: Apache-2.0
"""Which files of a folder belong to a checkpoint beside its weights."""

from __future__ import annotations

import re

from ..names import MANIFEST

_NAMES = re.compile(
    r"[\w.-]+\.(?:json|txt|model|spm|codes|md)|(?:additional_chat_templates/)?[\w.-]+\.jinja"
    r"|(?:LICEN[CS]E|NOTICE)[\w.-]*|artifact\.metadata"
)


def is_other_file(name: str) -> bool:
    """Configuration, tokenizer, chat templates, terms; not the index of shards, which belongs to the weights, and no
    manifest."""
    return _NAMES.fullmatch(name) is not None and not name.endswith(".index.json") and name != MANIFEST
