# SPDX-License-Identifier: Apache-2.0
"""The `sacremoses` library, of which words by Moses' rules are asked, and what these rules know of a language."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import Any

from ..refusal import refusal

LIBRARY = "sacremoses"
_LANGUAGE = "en"


@cache
def moses_tokenizer() -> Any:
    """Of English; needed for models whose tokenizer parts texts so only. Its abbreviations are Moses' own, under the
    LGPL: they are read where they are installed."""
    try:
        from sacremoses import MosesTokenizer
    except ImportError:
        message = f"its words are by Moses' rules, which {LIBRARY} has: install it (pip install '.[moses]')"
        raise refusal("library-missing", message) from None
    return MosesTokenizer(lang=_LANGUAGE)


def moses_words(text: str) -> list[str]:
    """As BioGptTokenizer asks for them."""
    return moses_tokenizer().tokenize(text, aggressive_dash_splits=True, return_str=False, escape=True)


def library_version() -> str:
    """For reports."""
    return f"{LIBRARY} {version(LIBRARY)}"
