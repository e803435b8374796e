# SPDX-License-Identifier: Apache-2.0
"""The text of tokens whose words Moses' rules join, by the `sacremoses` library as BioGptTokenizer and FSMTTokenizer of
`transformers` 5.23 ask it: what a program with `etch::MosesDecoder` spells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tokenizers import Tokenizer

from ..ir.target_tokenizer import TargetTokenizer
from ..load.tokenizer_files.moses_library import joined_words

_DASH = "@-@"


class JoinedWords:
    """Makes texts of tokens."""

    def __init__(self, target: TargetTokenizer) -> None:
        assert target.decoder.moses is not None
        self._language = target.decoder.moses
        self._token = Tokenizer.from_str(target.spec.json).id_to_token
        self._absent, self._end = target.decoder.absent, target.decoder.space
        self._special = {token.id for token in target.spec.added_tokens if token.special}

    def text(self, ids: Iterable[int], before: Iterable[int] = ()) -> str:
        """What is written behind the tokens of a prompt, which reads as if it ended there: what is added to its last
        word is added as it is."""
        prompt, written = self._pieces(before), self._pieces(ids)
        goes_on = bool(prompt.strip()) and not prompt[-1].isspace() and not written[:1].isspace()
        if goes_on:
            prompt += " a"  # of no rule
        elif self._begins_with_dash(prompt, written):
            prompt += " a "
        return self._joined(prompt + written)[len(self._joined(prompt)) :]

    def may_change(self, ids: Sequence[int]) -> bool:
        """Whether the text of these may be another where more follow: of a word that goes on, or that is not spelled
        with letters or digits, which a dash could join to the next one."""
        pieces = self._pieces(ids)
        return bool(pieces) and not (pieces[-1].isspace() and self._joined(pieces)[-1:].isalnum())

    def _pieces(self, ids: Iterable[int]) -> str:
        """Words with white space between them."""
        tokens = (self._token(i) for i in ids if i not in self._special)
        texts = (self._absent if token is None else token for token in tokens)
        return "".join(text.replace(" ", "").replace(self._end, " ") for text in texts)

    def _joined(self, pieces: str) -> str:
        return joined_words(pieces.split(), self._language)

    def _begins_with_dash(self, prompt: str, written: str) -> bool:
        """Whether the first word written joins the prompt's last one with a dash: where none before it has done so."""
        words = prompt.split()
        if not words or written.split()[:1] != [_DASH]:
            return False
        return re.sub(f" {_DASH} ", "-", f" {' '.join(words)} ").endswith(" ")
