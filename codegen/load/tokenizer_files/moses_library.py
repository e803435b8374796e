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
_CODES = {ENGLISH: "en", "french": "fr", "german": "de", "russian": "ru"}


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


@cache
def moses_detokenizer(language: str) -> Any:
    """Of a language, where `moses_tokenizer` is there."""
    from sacremoses import MosesDetokenizer

    return MosesDetokenizer(lang=_CODES[language])


def joined_words(words: list[str], language: str) -> str:
    """As BioGptTokenizer and FSMTTokenizer ask for a text."""
    return moses_detokenizer(language).detokenize(words)


def moses_words(text: str) -> list[str]:
    """As BioGptTokenizer asks for them."""
    return moses_tokenizer().tokenize(text, aggressive_dash_splits=True, return_str=False, escape=True)


def normalized_moses_words(text: str, spec: NormalizedMosesSegmenter) -> list[str]:
    """As XLMTokenizer, FlaubertTokenizer and FSMTTokenizer ask for them."""
    text = text.lower() if spec.lowers and not spec.folds_words else text
    text = _normalizer(spec.language).normalize(text)
    text = "".join(c for c in text if not is_control(c))
    settings = {"aggressive_dash_splits": spec.escapes, "escape": spec.escapes}
    words = moses_tokenizer(spec.language).tokenize(text, return_str=False, **settings)
    return folded(" ".join(words)).split(" ") if spec.folds_words else words


@cache
def _normalizer(language: str) -> Any:
    from sacremoses import MosesPunctNormalizer

    return MosesPunctNormalizer(lang=_CODES[language], pre_replace_unicode_punct=True)


def is_east_asian(character: str) -> bool:
    """Whether MosesDetokenizer puts no space between this and another such character."""
    from sacremoses.util import is_cjk

    return bool(is_cjk(character))


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
