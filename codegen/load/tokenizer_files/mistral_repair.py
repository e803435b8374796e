# SPDX-License-Identifier: Apache-2.0
"""The Split that `transformers` 5.23 puts in the place of the one in tokenizer.json, for large vocabularies of Mistral
that were saved with a wrong one: `_patch_mistral_regex` of its tokenization_utils_tokenizers.py."""

from __future__ import annotations

from typing import Any

from ..config import FILE as CONFIG_FILE
from ..files import CheckpointFolder
from ..refusal import refusal
from .tokenizer_config import FILE, asked

KEY = "fix_mistral_regex"
_ENTRIES = 100_000  # a vocabulary has more
_MODEL_TYPES = (None, "mistral", "mistral3", "voxtral", "ministral", "pixtral")
_SAVED_WELL = 5  # from this version on nothing is replaced
_SPLIT = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|"
    r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def check_repaired(folder: CheckpointFolder, config: dict[str, Any], described: dict[str, Any]) -> None:
    """Refuses a tokenizer.json of which `transformers` would replace the first Split by another."""
    if not asked(config, KEY) or not _is_large(described) or not folder.has(CONFIG_FILE):
        return
    model = folder.read_json(CONFIG_FILE)
    major = str(model.get("transformers_version") or "0").split(".")[0]
    if model.get("model_type") not in _MODEL_TYPES or (major.isdecimal() and int(major) >= _SAVED_WELL):
        return
    if _first_pattern(described.get("pre_tokenizer")) != _SPLIT:
        message = (
            f"'{KEY}': transformers replaces the Split of tokenizer.json; save the tokenizer with it, then load that"
        )
        raise refusal("tokenizer-setting", message, file=FILE)


def _is_large(described: dict[str, Any]) -> bool:
    model, added = described.get("model"), described.get("added_tokens")
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    sizes = (len(part) for part in (vocabulary, added) if isinstance(part, (dict, list)))
    return sum(sizes) > _ENTRIES


def _first_pattern(pre_tokenizer: object) -> object:
    """That of a Sequence's first step, where it is a Split by an expression."""
    steps = pre_tokenizer.get("pretokenizers") if isinstance(pre_tokenizer, dict) else None
    first = steps[0] if isinstance(steps, list) and steps else None
    pattern = first.get("pattern") if isinstance(first, dict) else None
    return pattern.get("Regex") if isinstance(pattern, dict) else None
