# SPDX-License-Identifier: Apache-2.0
"""The tokens of a GGUF file with their kinds, and those that stand around texts."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from ....frontends.shared.parts import MAX_VOCABULARY
from ....ir.tokenizer_spec import AddedToken
from ....load.refusal import shown
from ..metadata import Metadata

# `tokenizer.ggml.token_type`, numbered as SentencePiece does.
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
_KEY = "tokenizer.ggml."
_LONGEST = 1024
_ENDS = ("eos", "eot", "eom")
# Which the classes of `transformers` look for in texts, of whatever kind they are.
_FOUND_IN_TEXTS = ("bos", "eos", "unknown")


@dataclass(frozen=True)
class Tokens:
    """By id; what fills up the table behind the last one is left out."""

    texts: tuple[str, ...]
    kinds: tuple[int, ...]
    meta: Metadata

    def special(self, name: str) -> int | None:
        """The id of `bos`, `eos`, `unknown`, …; None where the file names none."""
        key = f"{_KEY}{name}_token_id"
        if not self.meta.has(key):
            return None
        index = self.meta.count(key, least=0)
        if index >= len(self.texts):
            raise self.meta.refuse("gguf-tokenizer", f"{key} is {index} of {len(self.texts)} tokens")
        return index

    def text_of(self, *names: str) -> str | None:
        """The text of the first of these that the file names."""
        found = (self.special(name) for name in names)
        return next((self.texts[index] for index in found if index is not None), None)

    @property
    def ends(self) -> list[int]:
        """Each with which a text ends."""
        return list(dict.fromkeys(index for name in _ENDS if (index := self.special(name)) is not None))

    def asked_ends(self, begin: bool, end: bool) -> dict[str, str]:
        """`bos` and `eos`, where a text is put between them; `begin` and `end` count where the file says nothing."""
        found = {}
        for name, usual in (("bos", begin), ("eos", end)):
            if self.meta.flag(f"{_KEY}add_{name}_token", usual):
                text = self.text_of(name)
                if text is None:
                    raise self.meta.refuse("gguf-key", f"{_KEY}add_{name}_token, and no {_KEY}{name}_token_id")
                found[name] = text
        return found

    def in_vocabulary(self) -> dict[str, int]:
        """Text -> id of those up to the last one that is no added token: `tokenizers` numbers added ones behind."""
        last = max((i for i, kind in enumerate(self.kinds) if kind not in (CONTROL, USER_DEFINED)), default=-1)
        return {text: index for index, text in enumerate(self.texts[: last + 1])}

    def added(self) -> list[AddedToken]:
        """Tokens that are found in texts before all else."""
        return [
            AddedToken(text, index, special=kind == CONTROL)
            for index, (text, kind) in enumerate(zip(self.texts, self.kinds, strict=True))
            if kind in (CONTROL, USER_DEFINED)
        ]

    def described(self, **parts: Any) -> dict[str, Any]:
        """A tokenizer.json of these tokens and `parts`."""
        added = [asdict(token) for token in self.added()]
        return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, **parts}


def read_tokens(meta: Metadata, rows: int) -> Tokens:
    """Of a file whose table of words has `rows`."""
    texts = meta.texts(f"{_KEY}tokens")
    if not texts or len(texts) > rows or rows > MAX_VOCABULARY:
        raise meta.refuse("gguf-tokenizer", f"{len(texts)} tokens, and {rows} rows of token_embd.weight")
    kinds = meta.numbers(f"{_KEY}token_type", [])
    kinds = kinds or [NORMAL] * len(texts)
    if len(kinds) != len(texts) or any(type(kind) is not int or not NORMAL <= kind <= BYTE for kind in kinds):
        raise meta.refuse("gguf-tokenizer", f"{_KEY}token_type is not a kind for each of {len(texts)} tokens")
    count = len(texts)
    while count and kinds[count - 1] == UNUSED:
        count -= 1
    texts, kinds = texts[:count], kinds[:count]
    seen: set[str] = set()
    for text in texts:
        if not 0 < len(text) <= _LONGEST or text in seen:
            message = f"the token {shown(text)} is empty, there twice, or of more than {_LONGEST} characters"
            raise meta.refuse("gguf-tokenizer", message)
        seen.add(text)
    found = Tokens(tuple(texts), tuple(kinds), meta)
    named = {found.special(name) for name in _FOUND_IN_TEXTS}
    return replace(found, kinds=tuple(CONTROL if i in named or k == UNKNOWN else k for i, k in enumerate(kinds)))
