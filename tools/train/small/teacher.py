# SPDX-License-Identifier: Apache-2.0
"""What a large sentence embedder makes of texts, once; kept in a file, as far as it is."""

from __future__ import annotations

import hashlib
import sys
import time
from pathlib import Path

import torch
from base import check_max_tokens
from common.batches import by_tokens, longest_first, pad
from common.checkpoint import keep_state, weights_digest
from common.refusal import Refused
from tokenizers import Tokenizer
from torch.nn.functional import normalize
from transformers import BertModel

from codegen.load.checkpoint import Checkpoint
from codegen.load.sentence import SentenceModules

BATCH_TOKENS = 6_144
KEPT_SECONDS = 60.0


def check_teacher(checkpoint: Checkpoint, width: int, max_tokens: int) -> None:
    """Refuses one whose embeddings are others than those that `lesson` makes, or do not suffice."""
    if checkpoint.config.model_type != "bert":
        raise Refused(f"teacher: model type '{checkpoint.config.model_type}', expected bert")
    modules = checkpoint.sentence
    if not isinstance(modules, SentenceModules):
        raise Refused("teacher: no folder of sentence-transformers: modules.json with a pooling is missing")
    if modules.pooling != "mean" or modules.beside or modules.dense or modules.classifier is not None:
        behind = ", ".join((modules.pooling, *modules.beside, *("a linear or a norm" for _ in modules.dense)))
        raise Refused(f"teacher: it makes its embeddings by {behind}; expected mean pooling alone")
    if (wide := checkpoint.config.positive_int("hidden_size")) < width:
        raise Refused(f"--width {width}: the teacher is {wide} wide")
    check_max_tokens(checkpoint, max_tokens)


@torch.inference_mode()
def lesson(folder: Path, texts: list[str], width: int, max_tokens: int, state: Path) -> torch.Tensor:
    """[texts, width]: the embeddings on their strongest directions, of length 1. Directions of the embeddings as they
    are, not of their deviations from a mean, lose the least of their products. `state` keeps what is done, for the same
    teacher, texts and cut only."""
    model = BertModel.from_pretrained(folder, dtype=torch.float32).eval()
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
