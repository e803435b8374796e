# SPDX-License-Identifier: Apache-2.0
"""The `sacremoses` library, of which words by Moses' rules are asked, and what these rules know of a language."""

from __future__ import annotations

import unicodedata
from functools import cache
from importlib.metadata import version
from typing import Any

from ...ir.tokenizer_spec import NormalizedMosesSegmenter
from ..refusal import refusal

LIBRARY = "sacremoses"
ENGLISH = "english"
_CODES = {ENGLISH: "en", "french": "fr"}


@cache
def moses_tokenizer(language: str = ENGLISH) -> Any:
    """Of a language; needed for models whose tokenizer parts texts so only. Its abbreviations are Moses' own, under the
    LGPL: they are read where they are installed."""
    try:
        from sacremoses import MosesTokenizer
    except ImportError:
        message = f"its words are by Moses' rules, which {LIBRARY} has: install it (pip install '.[moses]')"
        raise refusal("library-missing", message) from None
    return MosesTokenizer(lang=_CODES[language])


def moses_words(text: str) -> list[str]:
    """As BioGptTokenizer asks for them."""
    return moses_tokenizer().tokenize(text, aggressive_dash_splits=True, return_str=False, escape=True)


def normalized_moses_words(text: str, spec: NormalizedMosesSegmenter) -> list[str]:
    """As XLMTokenizer and FlaubertTokenizer ask for them."""
    is_english = spec.language == ENGLISH
    text = text.lower() if spec.lowers and not is_english else text
    text = _normalizer(spec.language).normalize(text)
    text = "".join(c for c in text if not is_control(c))
    words = moses_tokenizer(spec.language).tokenize(text, return_str=False, escape=False)
    return folded(" ".join(words)).split(" ") if spec.lowers and is_english else words


@cache
def _normalizer(language: str) -> Any:
    from sacremoses import MosesPunctNormalizer

    return MosesPunctNormalizer(lang=_CODES[language], pre_replace_unicode_punct=True)


def is_control(character: str) -> bool:
    """Of any category of such: what is not printed, not assigned, or has private use."""
    return unicodedata.category(character).startswith("C")


def folded(text: str) -> str:
    """In lower case, without accents."""
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(c for c in decomposed if unicodedata.category(c) != "Mn").lower()


def library_version() -> str:
    """For reports."""
    return f"{LIBRARY} {version(LIBRARY)}"
