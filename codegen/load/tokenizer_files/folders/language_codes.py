# SPDX-License-Identifier: Apache-2.0
"""The code of its language beside a text, as the tokenizers of mBART and NLLB put it there: a setting of the folder,
whatever tokenizer.json says."""

from __future__ import annotations

from typing import Any

from ....ir.template_spec import Template, TemplatePart
from ....ir.tokenizer_spec import TokenizerSpec
from ...refusal import refusal, shown
from ..folder_tokens import FolderTokens
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import content_of
from ..tokenizer_json.fields import FILE as JSON_FILE


def code_and_end(config: dict[str, Any], spec: TokenizerSpec, tokens: FolderTokens, usual: str) -> tuple[int, int]:
    """The ids that the settings ask for, `usual` the code where none does; refused where tokenizer.json puts other
    tokens around a text."""
    ids = {piece: i for i, piece in enumerate(spec.model.pieces) if isinstance(piece, str)}
    ids |= {token.content: token.id for token in spec.added_tokens}
    around = {text for text, number in ids.items() if number in spec.template.special_ids}
    code = content_of(config.get("src_lang") or usual, "src_lang", CONFIG_FILE)
    end = tokens.special["eos_token"]
    for key, text in (("src_lang", code), ("eos_token", end)):
        if text not in around:
            put = " ".join(sorted(around))
            message = f"{key} is {shown(text)}, {JSON_FILE} puts {shown(put)} around a text"
            raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
    return ids[code], ids[end]


def template_around(code: int, end: int, *, code_first: bool) -> Template:
    """Of one text and of two, the code before them or behind their end."""

    def parts(*texts: Any) -> tuple[TemplatePart, ...]:
        around = (code, *texts, end) if code_first else (*texts, end, code)
        return tuple(TemplatePart(content, 0) for content in around)

    return Template(parts("A"), parts("A", "B"))
