# SPDX-License-Identifier: Apache-2.0
"""How accurate a checkpoint is on the held-out rows and on the test rows."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable

import rows
import torch
from arguments import folder_from
from common.batches import by_tokens, longest_first, pad
from tokenizers import Tokenizer
from transformers import BertForSequenceClassification
from w8a8 import Quantized

Model = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
BATCH_TOKENS = 4_096


@torch.inference_mode()
def logits(model: Model, tokenizer: Tokenizer, texts: list[str], limit: int) -> torch.Tensor:
    """Logits [n, 4]; a text of more than `limit` tokens is cut, and keeps its [SEP]."""
    tokenizer.enable_truncation(limit)
    ids = [e.ids for e in tokenizer.encode_batch(texts)]
    lengths = [len(one) for one in ids]
    found = torch.empty(len(ids), len(rows.LABELS))
    for batch in by_tokens(lengths, longest_first(lengths), BATCH_TOKENS):
        found[batch] = model(*pad([ids[i] for i in batch]))
    return found


def percent(found: torch.Tensor, labels: torch.Tensor) -> str:
    """Accuracy with the number of rows behind it."""
    right = int((found.argmax(1) == labels).sum())
    return f"{100 * right / len(labels):.2f} % ({right} of {len(labels)})"


def confusion(found: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Counts [true label, found label]."""
    size = len(rows.LABELS)
    return torch.bincount(labels * size + found.argmax(1), minlength=size**2).view(size, size)


def report(
    name: str,
    models: dict[str, Model],
    tokenizer: Tokenizer,
    *,
    texts: list[str],
    labels: torch.Tensor,
    limit: int,
) -> dict[str, torch.Tensor]:
    """Prints each model's accuracy and how far the others are from the first."""
    found = {key: logits(model, tokenizer, texts, limit) for key, model in models.items()}
    first = next(iter(found.values()))
    for key, one in found.items():
        changed = int((one.argmax(1) != first.argmax(1)).sum())
        apart = float((one - first).abs().mean())
        print(
            f"{name}, {key}: {percent(one, labels)}; against fp32: {changed} labels changed, "
            f"mean logit difference {apart:.4f}",
            flush=True,
        )
    return found


def table_bytes(model: BertForSequenceClassification) -> int:
    """int8 tables with their float32 scales, and the float32 biases, norms and last linear."""
    total = 0
    for name, p in model.named_parameters():
        table = p.ndim > 1 and not name.startswith("classifier")
        total += p.numel() + 4 * p.shape[0] if table else 4 * p.numel()
    return total


def measure(arguments: argparse.Namespace) -> None:
    """Held-out rows always; the test rows only when asked for."""
    data = folder_from("ETCH_DATA")
    folder = arguments.checkpoint
    model = BertForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    limit = model.config.max_position_embeddings
    models: dict[str, Model] = {
        "fp32": lambda ids, mask: model(ids, attention_mask=mask).logits,
        "w8a8": Quantized(model),
    }
    pieces = json.loads(tokenizer.to_str())["model"]["vocab"]
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {len(pieces)} pieces")
    print(f"{table_bytes(model)} bytes of tables (int8 with float32 scales, biases and norms)")

    train, held_out = rows.split(rows.read_training_rows(data), arguments.seed)
    texts = [row.text for row in held_out]
    labels = torch.tensor([row.label for row in held_out])
    report("held-out", models, tokenizer, texts=texts, labels=labels, limit=limit)
    if not arguments.test:
        return
    test = rows.read_test_rows(data)
    labels = torch.tensor([label for label, _, _ in test])
    texts = [f"{title} {body}" for _, title, body in test]
    found = report("test", models, tokenizer, texts=texts, labels=labels, limit=limit)
    for key, one in found.items():
        print(f"confusion, {key} (rows: true label, columns: found label)")
        for label, counts in zip(rows.LABELS, confusion(one, labels).tolist(), strict=True):
            print(f"  {label:9}" + "".join(f"{count:6}" for count in counts))
    seen = {"".join(rows.words(row.text)) for row in train}
    fresh = torch.tensor([not rows.endings([text]) & seen for text in texts])
    print(f"test rows with no ending among the training rows: {int(fresh.sum())}")
    for key, one in found.items():
        print(f"  {key}: {percent(one[fresh], labels[fresh])}")
    titles = [title for _, title, _ in test]
    report("test titles", models, tokenizer, texts=titles, labels=labels, limit=limit)
