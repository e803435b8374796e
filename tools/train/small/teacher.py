# SPDX-License-Identifier: Apache-2.0
"""What a large sentence embedder makes of texts, once; kept in a file, as far as it is."""

from __future__ import annotations

import hashlib
import sys
import time
from pathlib import Path

import torch
from common.batches import by_tokens, longest_first, pad
from common.checkpoint import keep_state, weights_digest
from common.refusal import Refused
from tokenizers import Tokenizer
from torch.nn.functional import normalize
from transformers import BertModel

BATCH_TOKENS = 6_144
KEPT_SECONDS = 60.0


@torch.inference_mode()
def lesson(folder: Path, texts: list[str], width: int, max_tokens: int, state: Path) -> torch.Tensor:
    """[texts, width]: the embeddings on their strongest directions, of length 1. Directions of the embeddings as they
    are, not of their deviations from a mean, lose the least of their products. `state` keeps what is done, for the same
    teacher, texts and cut only."""
    model = BertModel.from_pretrained(folder, dtype=torch.float32).eval()
    if model.config.hidden_size < width:
        raise Refused(f"--width {width}: the teacher is {model.config.hidden_size} wide")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(max_tokens)
    tokenizer.no_padding()
    ids = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    lengths = [len(one) for one in ids]
    batches = by_tokens(lengths, longest_first(lengths), BATCH_TOKENS)
    found, done = torch.empty(len(ids), model.config.hidden_size, dtype=torch.float16), 0
    asked = _digest(folder, ids)
    if state.exists():
        kept = torch.load(state, weights_only=True)
        if kept.get("asked") != asked:
            raise Refused(
                f"{state.name}: is of another teacher, other texts or another --max-tokens: name another --state"
            )
        found, done = kept["found"], kept["done"]
    told = time.monotonic()
    for number, batch in enumerate(batches, 1):
        if number <= done:
            continue
        padded, mask = pad([ids[i] for i in batch])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            states = model(padded, attention_mask=mask).last_hidden_state
        weights = mask[:, :, None].float()
        found[batch] = normalize((states.float() * weights).sum(1) / weights.sum(1), dim=1).half()
        if number == len(batches) or time.monotonic() - told >= KEPT_SECONDS:
            told = time.monotonic()
            keep_state(state, {"asked": asked, "found": found, "done": number})
            print(f"teacher: {number} of {len(batches)} batches", file=sys.stderr, flush=True)
    all_of_them = found.float()
    moments = all_of_them.T.double() @ all_of_them.double()
    directions = torch.linalg.eigh(moments).eigenvectors[:, -width:].float()
    return normalize(all_of_them @ directions, dim=1).half()


def _digest(folder: Path, ids: list[list[int]]) -> str:
    """Of what decides the embeddings: the teacher's weights and configuration, and what it reads of each text."""
    digest = hashlib.sha256(weights_digest(folder))
    for one in ids:
        digest.update(len(one).to_bytes(4, "little") + b"".join(i.to_bytes(4, "little") for i in one))
    return digest.hexdigest()
