# SPDX-License-Identifier: Apache-2.0
"""Texts to steps, and rows with masks to the share that is found."""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from common.batches import by_tokens, longest_first, pad
from masking import Step, hide, loss_of
from tokenizers import Encoding, Tokenizer
from transformers import BertForMaskedLM, BertForPreTraining

_EVALUATED_TOKENS = 4096  # of a batch that is measured
_SPECIALS = 5  # pieces before those that may be drawn

Model = BertForMaskedLM | BertForPreTraining


class Lesson:
    """Texts to pre-train on; with `pairs` two halves of a text, or of two."""

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[str], *, pairs: bool) -> None:
        self.max_tokens = tokenizer.truncation["max_length"]
        self.cls, self.sep, self.mask = (tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]", "[MASK]"))
        self.pieces = range(_SPECIALS, tokenizer.get_vocab_size())
        self.pairs = pairs
        self.ids = [e.ids[1:-1] for e in tokenizer.encode_batch(list(texts))]
        self.lengths = [len(ids) for ids in self.ids]

    def loss(self, model: Model, batch: list[int]) -> torch.Tensor:
        """Of the batch as it is shown this time: PyTorch's generator draws."""
        return loss_of(model, self.step(batch))

    def step(self, batch: list[int]) -> Step:
        """Drawn anew each time."""
        follows = (torch.rand(len(batch)) < 0.5).tolist() if self.pairs else None
        rows, segments = [], []
        for n, i in enumerate(batch):
            first, second = self.ids[i], []
            if follows is not None:
                middle = len(first) // 2
                first, second = first[:middle], first[middle:]
                if not follows[n]:
                    other = self.ids[int(torch.randint(len(self.ids), ()))]
                    second = other[len(other) // 2 :]
                second = [*second[: self.max_tokens - 3 - len(first)], self.sep]
            rows.append([self.cls, *first, self.sep, *second])
            segments.append([0] * (len(first) + 2) + [1] * len(second))
        ids, mask = pad(rows)
        words = (mask == 1) & (ids != self.cls) & (ids != self.sep)
        shown, targets = hide(ids, words, self.mask, self.pieces)
        order = None if follows is None else torch.tensor([int(not one) for one in follows])
        return Step(shown, mask, pad(segments)[0], targets, order)


def masked_rows(tokenizer: Tokenizer, texts: Sequence[str], share: float, seed: int) -> list[tuple[str, str]]:
    """(pieces with `;` between, the text with a mask for each of them), as `fill-mask-NAME --evaluate` reads them:
    words that are one piece, so that a text with masks has as many tokens; texts without such a word are left out."""
    rng = random.Random(seed)
    rows = []
    for text in texts:
        encoding = tokenizer.encode(text)
        chosen = [i for i in _whole_words(encoding) if rng.random() < share]
        shown = text
        for i in reversed(chosen):
            begin, end = encoding.offsets[i]
            shown = f"{shown[:begin]}[MASK]{shown[end:]}"
        again = tokenizer.encode(shown)
        if chosen and [i for i, token in enumerate(again.tokens) if token == "[MASK]"] == chosen:
            rows.append((";".join(encoding.tokens[i] for i in chosen), " ".join(shown.split())))
    return rows


def _whole_words(encoding: Encoding) -> list[int]:
    """Tokens that are words by themselves, of letters and digits only."""
    words = encoding.word_ids
    return [i for i, word in enumerate(words) if words.count(word) == 1 and encoding.tokens[i].isalnum()]


@torch.inference_mode()
def found(model: Model, tokenizer: Tokenizer, rows: Sequence[tuple[str, str]]) -> float:
    """Share of the masks whose likeliest piece is the right one."""
    model.eval()
    mask_id = tokenizer.token_to_id("[MASK]")
    ids = [e.ids for e in tokenizer.encode_batch([text for _, text in rows])]
    lengths = [len(row) for row in ids]
    right = total = 0
    for batch in by_tokens(lengths, longest_first(lengths), _EVALUATED_TOKENS):
        padded, mask = pad([ids[i] for i in batch])
        states = model.bert(padded, attention_mask=mask).last_hidden_state
        best = model.cls.predictions(states[padded == mask_id]).argmax(1).tolist()
        wanted = [piece for i in batch for piece in rows[i][0].split(";")]
        right += sum(tokenizer.id_to_token(i) == piece for i, piece in zip(best, wanted, strict=True))
        total += len(wanted)
    return right / total
