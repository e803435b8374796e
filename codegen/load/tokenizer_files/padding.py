# SPDX-License-Identifier: Apache-2.0
"""Texts that are padded for a model that reads the padding: which token that is, and where it stands, as
`padding="max_length"` of `transformers` 5.23 takes it from the files of a folder."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...ir.template_spec import Padding
from ...ir.tokenizer_spec import TokenizerSpec
from ..files import CheckpointFolder
from ..refusal import refusal, shown
from .folder_tokens import read_tokens, with_vocabulary
from .tokenizer_config import FILE as CONFIG_FILE
from .tokenizer_config import GEMMA_TOKENIZER, SIGLIP2_TOKENIZER, class_name, listed, read_config
from .tokenizer_json.fields import FILE as JSON_FILE
from .tokenizer_json.fields import PADDING_NOTE

_SIDE, _NAMES, _MASK = "padding_side", "model_input_names", "attention_mask"
# What classes have where no file says it: a token, and the side of texts.
_USUAL: dict[str | None, tuple[str, str]] = dict.fromkeys((GEMMA_TOKENIZER, SIGLIP2_TOKENIZER), ("<pad>", "left"))


def padded(
    folder: CheckpointFolder, spec: TokenizerSpec, tokens: int, class_in_config: object, usual_class: str
) -> TokenizerSpec:
    """The tokenizer, padding every text to so many tokens; the last two are as in `WordPieceConfig`."""
    config = read_config(folder)
    described = folder.read_json_if_present(JSON_FILE)
    of_json = (described or {}).get("padding")
    if not isinstance(of_json, dict):
        of_json = {}
    usual, side = _USUAL.get(class_name(config, class_in_config, usual_class), (None, "right"))
    given = config.get(_SIDE)
    if given is None:
        side = str(of_json.get("direction", side)).lower()
    elif given not in ("left", "right"):
        raise refusal("config-type", f"{_SIDE} must be left or right, got {shown(given)}", file=CONFIG_FILE)
    if (given or side) != "right":
        message = f"texts are padded on the left, which is not supported: the model reads {_SIDE} right"
        raise refusal("tokenizer-setting", message, file=CONFIG_FILE)
    _check_no_mask(config)
    described = with_vocabulary(described, spec)
    named = read_tokens(folder, config, described, {"pad_token": usual}, rebuilds=usual is not None)
    text = named.special.get("pad_token", of_json.get("pad_token"))
    ids = {token.content: token.id for token in spec.added_tokens}
    if not isinstance(text, str) or text not in ids:
        message = f"pad_token {shown(text)} is no token of the tokenizer: there is nothing that texts are padded with"
        raise refusal("missing-special-token", message, file=CONFIG_FILE)
    note = f"texts are padded to {tokens} tokens with {shown(text)}, which are read: each costs as much as a whole one"
    return replace(
        spec,
        template=replace(spec.template, padding=Padding(ids[text], tokens)),
        notes=(*(other for other in spec.notes if other != PADDING_NOTE), note),
    )


def _check_no_mask(config: dict[str, Any]) -> None:
    """With a mask of padding, which classes make unless they are told not to, the library computes something else."""
    names = config.get(_NAMES)
    if names is None or _MASK in listed(names, _NAMES, CONFIG_FILE):
        message = f"{_NAMES} must be a list without {_MASK}, as in published files: the model reads padding"
        raise refusal("tokenizer-setting", message, file=CONFIG_FILE)
