# SPDX-License-Identifier: Apache-2.0
"""What libraries that know nothing of special tokens lack of a tokenizer: added tokens are found first, and what lies
between them goes to the library; the template, and cutting. Called as a tokenizer of the `tokenizers` library."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from ..ir.tokenizer_spec import TokenizerSpec


class ComposedToken(NamedTuple):
    id: int
    begin: int  # in the text, of characters
    end: int
    begins_word: bool


@dataclass(frozen=True)
class ComposedEncoding:
    """As of the `tokenizers` library, what is asked for here; offsets are those that the library tells."""

    ids: list[int]
    type_ids: list[int]
    sequence_ids: list[int | None]  # 0: of the first text
    offsets: list[tuple[int, int]]
    word_ids: list[int | None]
    overflowing: list[int]  # ids that are cut off


class ComposedTokenizer(ABC):
    """Of texts one by one: there is no batch to gain by."""

    normalizer = None  # added tokens are found in texts as they are
    pre_tokenizer = None  # nor are words told

    def __init__(self, spec: TokenizerSpec) -> None:
        self.encode_special_tokens = False  # True: special tokens are ordinary text
        self._most: int | None = None  # tokens of a text
        self._strategy = "longest_first"  # how pairs are cut
        self._spec = spec

    @abstractmethod
    def token_to_id(self, text: str) -> int | None:
        """None where the text has no id of its own."""

    @abstractmethod
    def ids_in_word(self, word: str) -> list[int]:
        """Of a word as the model takes it."""

    @abstractmethod
    def _segment(self, text: str, begin: int) -> Iterator[ComposedToken]:
        """What is between added tokens; `begin` is its place."""

    def enable_truncation(self, max_length: int, strategy: str = "longest_first") -> None:
        """Texts keep so many tokens; of pairs the longest is cut first, or only the first one."""
        assert strategy in ("longest_first", "only_first")
        self._most, self._strategy = max_length, strategy

    def no_truncation(self) -> None:
        """Texts keep all their tokens."""
        self._most = None

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Those of the template around a text, or two."""
        parts = self._spec.template.pair if is_pair else self._spec.template.single
        return sum(isinstance(part.content, int) for part in parts)

    @property
    def truncation(self) -> dict[str, Any]:
        """As of the `tokenizers` library, what is asked for here."""
        return {"max_length": self._most, "strategy": self._strategy}

    def encode_batch(
        self, texts: Sequence[str | tuple[str, str]], add_special_tokens: bool = True
    ) -> list[ComposedEncoding]:
        """Each, a text or a pair, as `encode` does it."""
        each = ((text,) if isinstance(text, str) else text for text in texts)
        return [self.encode(*one, add_special_tokens=add_special_tokens) for one in each]

    def encode(self, text: str, pair: str | None = None, *, add_special_tokens: bool = True) -> ComposedEncoding:
        """A text or two in the template, or without its special tokens; two are cut as by `tokenizers`. ValueError
        where only the first is to be cut and nothing would be left of it."""
        whole = self._spec.template.single if pair is None else self._spec.template.pair
        template = [part for part in whole if add_special_tokens or not isinstance(part.content, int)]
        tokens = {"A": list(self._tokens(text)), "B": [] if pair is None else list(self._tokens(pair))}
        cut: list[ComposedToken] = []
        if self._most is not None:
            room = max(self._most - sum(isinstance(part.content, int) for part in template), 0)
            first, second = len(tokens["A"]), len(tokens["B"])
            if self._strategy == "longest_first" or pair is None or first + second <= room:
                lengths = _cut_lengths(first, second, room)
            elif second < room:
                lengths = room - second, second
            else:
                raise ValueError("nothing of the first text would be left")
            for name, length in zip("AB", lengths, strict=True):
                tokens[name], more = tokens[name][:length], tokens[name][length:]
                cut += more
        ids: list[int] = []
        segments: list[int] = []
        sequences: list[int | None] = []
        offsets: list[tuple[int, int]] = []
        words: list[int | None] = []
        for part in template:
            if isinstance(part.content, int):
                some, sequence = [ComposedToken(part.content, 0, 0, False)], None
                words.append(None)
            else:
                some, sequence = tokens[part.content], "AB".index(part.content)
                words += list(accumulate((token.begins_word for token in some), initial=-1))[1:]
            ids += [token.id for token in some]
            segments += [part.segment] * len(some)
            sequences += [sequence] * len(some)
            offsets += [(token.begin, token.end) for token in some]
        return ComposedEncoding(ids, segments, sequences, offsets, words, [token.id for token in cut])

    def _tokens(self, text: str) -> Iterator[ComposedToken]:
        hides = self.encode_special_tokens
        added = {token.content: token for token in self._spec.added_tokens if not (token.special and hides)}
        begin = 0
        if added:
            longest_first = sorted(added, key=len, reverse=True)
            for match in re.finditer("|".join(map(re.escape, longest_first)), text):
                token, before, behind = added[match[0]], text[begin : match.start()], text[match.end() :]
                before = before.rstrip() if token.lstrip else before
                end = match.end() + (len(behind) - len(behind.lstrip()) if token.rstrip else 0)
                yield from self._segment(before, begin)
                yield ComposedToken(token.id, begin + len(before), end, begins_word=True)
                begin = end
        yield from self._segment(text[begin:], begin)


def _cut_lengths(first: int, second: int, room: int) -> tuple[int, int]:
    """What is left of two texts together in `room` tokens."""
    if first + second <= room:
        return first, second
    shorter = min(first, second)
    longer = max(shorter, room - shorter)
    if shorter + longer > room:
        shorter, longer = room // 2, room - room // 2
    return (longer, shorter) if first > second else (shorter, longer)
