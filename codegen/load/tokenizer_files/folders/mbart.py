# SPDX-License-Identifier: Apache-2.0
"""mBART's tokenizer.json beside what its class in `transformers` 5.23 makes of the folder's files: the code of a text's
language and the token at its end are settings there, the other parts the class's own."""

from __future__ import annotations

from typing import Any

from ....ir.normalizer_spec import CharsmapNormalizer
from ....ir.tokenizer_spec import MetaspaceSegmenter, TokenizerSpec
from ...refusal import refusal
from ..folder_tokens import FolderTokens
from ..tokenizer_json.fields import FILE as JSON_FILE
from .language_codes import code_and_end, template_around

_MBART_50 = "MBart50Tokenizer"
CLASSES = ("MBartTokenizer", _MBART_50)
_LANGUAGE = "en_XX"  # where no file says it
_UNKNOWN = 3
_ENDS = (False, False)  # of a text, whose white space stays


def mbart_differences(config: dict[str, Any], name: str, spec: TokenizerSpec, tokens: FolderTokens) -> tuple[str, ...]:
    """Notes of what the class makes otherwise; what it is told to make otherwise is refused."""
    code, end = code_and_end(config, spec, tokens, _LANGUAGE)
    if spec.unigram.unknown_id != _UNKNOWN or spec.unigram.byte_fallback:
        message = f"{name} of transformers has the unknown piece {_UNKNOWN} and no byte fallback"
        raise refusal("tokenizer-conflict", f"{message}, {JSON_FILE} something else", file=JSON_FILE)
    is_50 = name == _MBART_50
    charsmap = spec.normalizer.charsmap if is_50 and isinstance(spec.normalizer, CharsmapNormalizer) else None
    normalizer = CharsmapNormalizer(_ENDS, charsmap, _ENDS, " " if is_50 else None)
    parts = [
        ("normalizer", spec.normalizer == normalizer),
        ("pre_tokenizer", spec.segmenter == MetaspaceSegmenter("always", split=True, split_whitespace=not is_50)),
        ("post_processor", spec.template == template_around(code, end, code_first=is_50)),
    ]
    return tuple(f"{name} of transformers has another {part}: {JSON_FILE} counts" for part, same in parts if not same)
