# SPDX-License-Identifier: Apache-2.0
"""What the frozen encoder made of some texts, in float16: it runs once, whatever the number of epochs, and where there
is a folder to keep that in, once for all runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from common.batches import by_tokens, longest_first, pad
from safetensors.torch import load_file, save_file
from tokenizers import Encoding, Tokenizer
from transformers import PreTrainedModel

ENCODED_TOKENS = 4096  # of a batch that is encoded
_CHUNK = 256  # rows that are encoded, and kept, together


@dataclass(frozen=True)
class Cache:
    """A folder of chunks, each under the digest of what it was made of."""

    folder: Path
    encoder: str  # says which encoder it was, and where texts are cut

    def place(self, ids: list[list[int]]) -> Path:
        """The file of a chunk."""
        digest = hashlib.sha256(f"{self.encoder} {json.dumps(ids)}".encode()).hexdigest()
        return self.folder / f"{digest[:24]}.safetensors"


class Features:
    """Rows of tokens [tokens, width] of each text, and its label."""

    def __init__(
        self,
        encoder: PreTrainedModel,
        tokenizer: Tokenizer,
        texts: Sequence[str],
        labels: list[int],
        cache: Cache | None = None,
    ) -> None:
        encodings = tokenizer.encode_batch(list(texts))
        self.labels = torch.tensor(labels)
        self.lengths = [len(e.ids) for e in encodings]
        self.cut = sum(bool(e.overflowing) for e in encodings)
        self.rows: list[torch.Tensor] = []
        for begin in range(0, len(encodings), _CHUNK):
            chunk = encodings[begin : begin + _CHUNK]
            rows = _encoded(encoder, chunk) if cache is None else _kept(encoder, chunk, cache)
            self.rows += rows.split(self.lengths[begin : begin + _CHUNK])

    def texts(self, batch: Sequence[int]) -> list[torch.Tensor]:
        """Rows of some texts."""
        return [self.rows[i].float() for i in batch]


def _kept(encoder: PreTrainedModel, chunk: Sequence[Encoding], cache: Cache) -> torch.Tensor:
    """Those of the file, which is written where there is none."""
    place = cache.place([e.ids for e in chunk])
    if place.exists():
        return load_file(place)["rows"]
    rows = _encoded(encoder, chunk)
    cache.folder.mkdir(parents=True, exist_ok=True)
    beside = place.with_suffix(".new")
    save_file({"rows": rows}, beside)
    beside.replace(place)
    return rows


@torch.inference_mode()
def _encoded(encoder: PreTrainedModel, chunk: Sequence[Encoding]) -> torch.Tensor:
    """The rows of all texts one after the other, in float16."""
    lengths = [len(e.ids) for e in chunk]
    found: list[torch.Tensor] = [torch.empty(0)] * len(chunk)
    for batch in by_tokens(lengths, longest_first(lengths), ENCODED_TOKENS):
        padded, mask = pad([chunk[i].ids for i in batch])
        kinds = {"token_type_ids": pad([chunk[i].type_ids for i in batch])[0]}
        takes = kinds if getattr(encoder.config, "type_vocab_size", 0) > 1 else {}
        states = encoder(padded, attention_mask=mask, **takes).last_hidden_state.half()
        for i, of_text in zip(batch, states, strict=True):
            found[i] = of_text[: lengths[i]]
    return torch.cat(found)
