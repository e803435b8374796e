# SPDX-License-Identifier: Apache-2.0
"""Which template a folder has, and what it may ask for, as `transformers` 5.23 reads both."""

from __future__ import annotations

from typing import Any

from ..files import CheckpointFolder
from ..tokenizer_files.tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_files.tokenizer_config import SPECIAL_TOKENS_FILE

FILE, MORE = "chat_template.jinja", "additional_chat_templates"
_KEY, _DEFAULT = "chat_template", "default"
SPECIAL_TOKENS = tuple(f"{name}_token" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))


def template_of(folder: CheckpointFolder) -> tuple[str, str] | None:
    """(text, where it is) of what is taken where nobody names one: a file counts over tokenizer_config.json."""
    if folder.has(FILE):
        return _decoded(folder, FILE), FILE
    if folder.is_folder(MORE) and any(name.endswith(".jinja") for name in folder.names(MORE)):
        name = f"{MORE}/{_DEFAULT}.jinja"
        return (_decoded(folder, name), name) if folder.has(name) else None
    said = (folder.read_json_if_present(CONFIG_FILE) or {}).get(_KEY)
    if isinstance(said, list):
        named = (each for each in said if isinstance(each, dict) and each.get("name") == _DEFAULT)
        said = next((each.get("template") for each in reversed(list(named))), None)
    return (said, CONFIG_FILE) if isinstance(said, str) else None


def _decoded(folder: CheckpointFolder, name: str) -> str:
    return folder.read(name).decode("utf-8", "replace")


def special_tokens(folder: CheckpointFolder) -> tuple[dict[str, str], frozenset[str]]:
    """(texts by their keys, keys of which no file says anything: what the class makes of them is not known here)."""
    said: dict[str, Any] = dict(folder.read_json_if_present(CONFIG_FILE) or {})
    for key, value in (folder.read_json_if_present(SPECIAL_TOKENS_FILE) or {}).items():
        said.setdefault(key, value)
    texts: dict[str, str] = {}
    for key in SPECIAL_TOKENS:
        value = said.get(key)
        content = value.get("content") if isinstance(value, dict) else value
        if isinstance(content, str):
            texts[key] = content
    return texts, frozenset(key for key in SPECIAL_TOKENS if key not in said)
