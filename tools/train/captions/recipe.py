# SPDX-License-Identifier: Apache-2.0
"""Captions to tokenizer, model and folder."""

from __future__ import annotations

import gzip
from pathlib import Path

import torch
from common.batches import pad
from common.checkpoint import check_replaceable, replaced
from common.loop import Steps, train
from folder import END_ID, POSITIONS, configuration, train_tokenizer, write_folder
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy
from transformers import LlamaForCausalLM

TERMS = Path(__file__).resolve().parent / "checkpoint" / "LICENSE"
STEPS = Steps(count=1_500, batch=64, rate=4e-3, seed=1)
_NOTHING = -100  # a target that does not count


def remake(data: Path, out: Path, state: Path, steps: Steps) -> None:
    """Trains and writes `out`; `state` keeps an interrupted run."""
    check_replaceable(out)
    state.mkdir(parents=True, exist_ok=True)
    if not (state / "tokenizer.json").exists():
        train_tokenizer(_captions(data, "train")).save(str(state / "tokenizer.json"))
    tokenizer = Tokenizer.from_file(str(state / "tokenizer.json"))
    rows, held_out = (_rows(tokenizer, _captions(data, part)) for part in ("train", "val"))
    torch.manual_seed(steps.seed)
    model = LlamaForCausalLM(configuration())
    print(f"{len(rows)} captions, {sum(p.numel() for p in model.parameters()):,} parameters", flush=True)
    lengths = [len(row) for row in rows]

    def loss(batch: list[int]) -> torch.Tensor:
        return _loss_of(model, [rows[i] for i in batch])

    train(model, lengths, loss, steps, state / "state.pt", {"captions": rows})
    print(f"held-out loss {_loss(model, held_out, steps.batch):.4f} nats a token", flush=True)
    with replaced(out, TERMS) as folder:
        write_folder(folder, model, state / "tokenizer.json")
    print(f"wrote {out.name}", flush=True)


def evaluate(data: Path, checkpoint: Path) -> None:
    """Prints the loss of the validation captions, and what is written behind some beginnings."""
    tokenizer = Tokenizer.from_file(str(checkpoint / "tokenizer.json"))
    model = LlamaForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
    print(f"held-out loss {_loss(model, _rows(tokenizer, _captions(data, 'val')), STEPS.batch):.4f} nats a token")
    for text in ("", "A man", "Two dogs", "A woman in a red", "Children"):
        written = model.generate(torch.tensor([tokenizer.encode(text).ids]), do_sample=False)
        print(tokenizer.decode(written[0].tolist()))


def _captions(data: Path, part: str) -> list[str]:
    """English ones of Multi30k, as they were typed."""
    lines = gzip.decompress((data / "multi30k" / f"{part}.en.gz").read_bytes()).decode("utf-8").split("\n")
    return [line.strip() for line in lines[:-1]]


def _rows(tokenizer: Tokenizer, captions: list[str]) -> list[list[int]]:
    """Begin, the caption's tokens, end."""
    return [[*encoding.ids[: POSITIONS - 1], END_ID] for encoding in tokenizer.encode_batch(captions)]


def _loss_of(model: LlamaForCausalLM, batch: list[list[int]]) -> torch.Tensor:
    """Mean cross-entropy of each next token; what fills a row comes last, where no token sees it."""
    ids, mask = pad(batch)
    targets = ids[:, 1:].masked_fill(mask[:, 1:] == 0, _NOTHING)
    logits = model(input_ids=ids).logits[:, :-1]
    return cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=_NOTHING)


@torch.inference_mode()
def _loss(model: LlamaForCausalLM, rows: list[list[int]], batch: int) -> float:
    """In nats, a mean over all tokens."""
    model.eval()
    order = sorted(rows, key=len)
    parts = [order[i : i + batch] for i in range(0, len(order), batch)]
    tokens = [sum(len(row) - 1 for row in part) for part in parts]
    return sum(_loss_of(model, part).item() * count for part, count in zip(parts, tokens, strict=True)) / sum(tokens)
