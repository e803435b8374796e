# SPDX-License-Identifier: Apache-2.0
"""The text of tokens that a model writes, as the `tokenizers` wheel decodes them, or `sacremoses` joins their words:
what its program spells."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tokenizers import Tokenizer

from ..ir.byte_pieces import bytes_of
from ..ir.target_tokenizer import TargetTokenizer
from .joined_words import JoinedWords

_BYTE = re.compile(r"<0x[+0-9A-Fa-f][0-9A-Fa-f]>")  # as the wheel reads them


class Speller:
    """Makes texts of tokens."""

    def __init__(self, target: TargetTokenizer) -> None:
        self._tokenizer = Tokenizer.from_str(target.spec.json)
        self._special = {token.id for token in target.spec.added_tokens if token.special}
        self._drops_last_spaces = target.decoder.drops_last_spaces
        self._drops_malformed = target.decoder.drops_malformed
        self._byte_fallback = target.decoder.byte_fallback
        self._words = None if target.decoder.moses is None else JoinedWords(target)
        pieces = self._tokenizer.get_vocab().items() if self._byte_fallback else ()
        plain = (number for piece, number in pieces if number not in self._special and not _BYTE.fullmatch(piece))
        self._no_byte = min(plain, default=0)

    def text(self, ids: Sequence[int], before: Sequence[int] = ()) -> str:
        """What is written behind the tokens of a prompt, without a last character of it that is cut; none where it
        begins a text of its own. Bytes that it ends with are its own characters, whatever bytes follow."""
        if self._words is not None:
            return self._words.text(ids, before)
        prompt = self._without_last_bytes(before)
        while (shown := self._decoded(prompt)).endswith("\ufffd"):
            prompt.pop()
        text = self._decoded([*prompt, *ids])[len(shown) :]
        return text.rstrip(" ") if self._drops_last_spaces else text

    def may_change(self, ids: Sequence[int]) -> bool:
        """Whether the text of tokens may be another where more follow: bytes that are written one by one are
        characters if all that stand side by side are UTF-8, and one U+FFFD each otherwise, and what is skipped between
        them parts them not; words may be joined."""
        if self._words is not None:
            return self._words.may_change(ids)
        last = next((i for i in reversed(ids) if i not in self._special), None)
        return last is not None and self._is_byte(last)

    def _without_last_bytes(self, prompt: Sequence[int]) -> list[int]:
        """The prompt with a token that is none in the place of the bytes that it ends with."""
        kept = [i for i in prompt if i not in self._special]
        count = len(kept)
        while count and self._is_byte(kept[count - 1]):
            count -= 1
        return kept if count == len(kept) else [*kept[:count], self._no_byte]

    def _is_byte(self, number: int) -> bool:
        return self._byte_fallback and _BYTE.fullmatch(self._tokenizer.id_to_token(number) or "") is not None

    def _decoded(self, ids: Sequence[int]) -> str:
        if not self._drops_malformed:
            return self._tokenizer.decode(list(ids), skip_special_tokens=True)
        tokens = (self._tokenizer.id_to_token(i) for i in ids if i not in self._special)
        return b"".join(bytes_of(token) for token in tokens if token is not None).decode(errors="ignore")
