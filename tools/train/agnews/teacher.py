# SPDX-License-Identifier: Apache-2.0
"""Runs the teacher once over a list of texts and keeps what the student learns from."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from common.batches import by_tokens, longest_first, pad
from common.checkpoint import weights_digest
from tokenizers import Tokenizer
from transformers import BertForSequenceClassification

MAX_TOKENS = 96  # what the teacher was trained with
BATCH_TOKENS = 6_144


@dataclass(frozen=True)
class Lesson:
    """What the teacher says of n texts: logits [n, 4] and last hidden state at [CLS] [n, 384]."""

    logits: torch.Tensor
    hidden: torch.Tensor


@torch.inference_mode()
def _ask(folder: Path, texts: list[str]) -> Lesson:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.no_padding()
    ids = [e.ids for e in tokenizer.encode_batch(texts)]
    model = BertForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    lengths = [len(one) for one in ids]
    logits = torch.empty(len(ids), model.config.num_labels)
    hidden = torch.empty(len(ids), model.config.hidden_size, dtype=torch.float16)
    for batch in by_tokens(lengths, longest_first(lengths), BATCH_TOKENS):
        padded, mask = pad([ids[i] for i in batch])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            states = model.bert(padded, attention_mask=mask)
            logits[batch] = model.classifier(states.pooler_output).float()
        hidden[batch] = states.last_hidden_state[:, 0].half()
    return Lesson(logits, hidden)


def lesson(folder: Path, texts: list[str], cache: Path, name: str) -> Lesson:
    """The teacher's answers for `texts`, from the cache folder where it has those of the same teacher."""
    digest = hashlib.sha256(weights_digest(folder) + "\0".join(texts).encode()).hexdigest()[:16]
    path = cache / f"teacher-{name}-{digest}.npz"
    if not path.exists():
        start = time.monotonic()
        told = _ask(folder, texts)
        beside = path.with_suffix(".new.npz")
        np.savez(beside, logits=told.logits.numpy(), hidden=told.hidden.numpy())
        beside.replace(path)
        print(f"teacher: {name}, {len(texts)} texts, {time.monotonic() - start:.0f} s", flush=True)
    arrays = np.load(path)
    return Lesson(torch.from_numpy(arrays["logits"]), torch.from_numpy(arrays["hidden"]))
