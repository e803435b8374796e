# SPDX-License-Identifier: Apache-2.0
"""The text of tokens that a model writes, as the `tokenizers` wheel decodes them: what its program spells."""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Tokenizer

from ..ir.byte_pieces import BYTE_PIECES, bytes_of
from ..ir.target_tokenizer import TargetTokenizer


class Speller:
    """Makes texts of tokens."""

    def __init__(self, target: TargetTokenizer) -> None:
        self._tokenizer = Tokenizer.from_str(target.spec.json)
        self._special = {token.id for token in target.spec.added_tokens if token.special}
        self._drops_last_spaces = target.decoder.drops_last_spaces
        self._drops_malformed = target.decoder.drops_malformed
        self._byte_fallback = target.decoder.byte_fallback

    def text(self, ids: Sequence[int], before: Sequence[int] = ()) -> str:
        """What is written behind the tokens of a prompt, without a last character of it that is cut; none where it
        begins a text of its own."""
        prompt = list(before)
        while (shown := self._decoded(prompt)).endswith("\ufffd"):
            prompt.pop()
        text = self._decoded([*prompt, *ids])[len(shown) :]
        return text.rstrip(" ") if self._drops_last_spaces else text

    def may_change(self, last: int) -> bool:
        """Whether the text of tokens of which this is the last one may be another where more follow: bytes that are
        written one by one are characters if all that stand side by side are UTF-8, and one U+FFFD each otherwise."""
        return self._byte_fallback and self._tokenizer.id_to_token(last) in BYTE_PIECES

    def _decoded(self, ids: Sequence[int]) -> str:
        if not self._drops_malformed:
            return self._tokenizer.decode(list(ids), skip_special_tokens=True)
        tokens = (self._tokenizer.id_to_token(i) for i in ids if i not in self._special)
        return b"".join(bytes_of(token) for token in tokens if token is not None).decode(errors="ignore")
