# SPDX-License-Identifier: Apache-2.0
"""mBART's tokenizer.json beside what its class in `transformers` 5.23 makes of the folder's files: the code of a text's
language and the token at its end are settings there, the other parts the class's own."""

from __future__ import annotations

from typing import Any

from .folder_tokens import FolderTokens
from .refusal import refusal, shown
from .tokenizer_config import FILE as CONFIG_FILE
from .tokenizer_config import content_of
from .tokenizer_json import FILE as JSON_FILE
from .tokenizer_spec import CharsmapNormalizer, MetaspaceSegmenter, Template, TemplatePart, TokenizerSpec

_MBART_50 = "MBart50Tokenizer"
CLASSES = ("MBartTokenizer", _MBART_50)
_LANGUAGE = "en_XX"  # where no file says it
_UNKNOWN = 3
_ENDS = (False, False)  # of a text, whose white space stays


def mbart_differences(config: dict[str, Any], name: str, spec: TokenizerSpec, tokens: FolderTokens) -> tuple[str, ...]:
    """Notes of what the class makes otherwise; what it is told to make otherwise is refused."""
    ids = {piece: i for i, piece in enumerate(spec.model.pieces) if isinstance(piece, str)}
    ids |= {token.content: token.id for token in spec.added_tokens}
    around = {text for text, number in ids.items() if number in spec.template.special_ids}
    code = content_of(config.get("src_lang") or _LANGUAGE, "src_lang", CONFIG_FILE)
    end = tokens.special["eos_token"]
    for key, text in (("src_lang", code), ("eos_token", end)):
        if text not in around:
            put = " ".join(sorted(around))
            message = f"{key} is {shown(text)}, {JSON_FILE} puts {shown(put)} around a text"
            raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
    if spec.model.unknown_id != _UNKNOWN or spec.model.byte_fallback:
        message = f"{name} of transformers has the unknown piece {_UNKNOWN} and no byte fallback"
        raise refusal("tokenizer-conflict", f"{message}, {JSON_FILE} something else", file=JSON_FILE)
    is_50 = name == _MBART_50
    charsmap = spec.normalizer.charsmap if is_50 and isinstance(spec.normalizer, CharsmapNormalizer) else None
    normalizer = CharsmapNormalizer(_ENDS, charsmap, _ENDS, " " if is_50 else None)
    parts = [
        ("normalizer", spec.normalizer == normalizer),
        ("pre_tokenizer", spec.segmenter == MetaspaceSegmenter("always", split=True, split_whitespace=not is_50)),
        ("post_processor", spec.template == _template(ids[code], ids[end], code_first=is_50)),
    ]
    return tuple(f"{name} of transformers has another {part}: {JSON_FILE} counts" for part, same in parts if not same)


def _template(code: int, end: int, *, code_first: bool) -> Template:
    def parts(*texts: Any) -> tuple[TemplatePart, ...]:
        around = (code, *texts, end) if code_first else (*texts, end, code)
        return tuple(TemplatePart(content, 0) for content in around)

    return Template(parts("A"), parts("A", "B"))
