# SPDX-License-Identifier: Apache-2.0
"""The prompts of config_sentence_transformers.json: what its `encode` writes before a text, by what the text is for."""

from __future__ import annotations

from ..ir.prompts import NO_PROMPTS, Prompts
from .files import CheckpointFolder
from .refusal import refusal, shown
from .sentence_files import SETTINGS_FILE, setting_refusal

MAX_PROMPTS = 256
MAX_BYTES = 1 << 14  # of a name, or of a text


def read_prompts(folder: CheckpointFolder, model_type: str) -> Prompts:
    """Those of the file, whose other settings are checked."""
    values = folder.read_json_if_present(SETTINGS_FILE) or {}
    if values.get("model_type", model_type) != model_type:
        raise setting_refusal("model_type", values["model_type"], SETTINGS_FILE)
    count = values.get("truncate_dim")
    if type(count) is int and model_type == "SentenceTransformer":
        message = f"'truncate_dim': {count}: remove it, and generate with --dimensions {count}"
        raise refusal("sentence-setting", message, file=SETTINGS_FILE)
    if count is not None:
        raise setting_refusal("truncate_dim", count, SETTINGS_FILE)
    prompts = values.get("prompts", {})
    if not isinstance(prompts, dict) or not all(text is None or isinstance(text, str) for text in prompts.values()):
        raise refusal("config-type", f"'prompts' must map names to texts, got {shown(prompts)}", file=SETTINGS_FILE)
    texts = {name: text for name, text in prompts.items() if text is not None}
    if len(texts) > MAX_PROMPTS:
        raise _refuse(f"{len(texts)} prompts are too many")
    for part in (part for each in texts.items() for part in each):
        if len(part.encode("utf-8", "surrogatepass")) > MAX_BYTES:
            raise _refuse(f"a prompt is too long: {shown(part)}")
    default = values.get("default_prompt_name")
    if default is not None and (not isinstance(default, str) or default not in texts):
        raise _refuse(f"there is no default prompt {shown(default)}")
    if not any(texts.values()):  # as version 6 writes them for a model that knows none
        return NO_PROMPTS
    return Prompts(tuple(texts.items()), default if default is not None and texts[default] else None)


def prompts_notes(prompts: Prompts) -> tuple[str, ...]:
    """Of a model that embeds, whose program and header have them."""
    used = _names(prompts)
    if not used:
        return ()
    usual = "" if prompts.usual is None else f", {shown(prompts.usual)} unless told otherwise"
    written = f"embed-NAME --prompt writes one before a text{usual}, calls do not"
    return (f"{SETTINGS_FILE} has prompts ({used}): {written}",)


def settings_notes(folder: CheckpointFolder, model_type: str) -> tuple[str, ...]:
    """Of the file, where callers alone write prompts, as `check_none_is_usual`."""
    prompts = read_prompts(folder, model_type)
    check_none_is_usual(prompts)
    used = _names(prompts)
    if not used:
        return ()
    return (f"{SETTINGS_FILE} has prompts ({used}): put before a text by the caller, never by etch",)


def check_none_is_usual(prompts: Prompts) -> None:
    """EtchError where the library writes one before every text."""
    if prompts.usual is not None:
        message = f"the default prompt {shown(prompts.usual)} is not supported: write it before texts, and remove it"
        raise _refuse(message)


def _names(prompts: Prompts) -> str:
    """The first few that are not empty."""
    return ", ".join(sorted(name for name, text in prompts.texts if text)[:5])


def _refuse(message: str) -> Exception:
    return refusal("sentence-prompt", message, file=SETTINGS_FILE)
