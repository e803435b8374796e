# SPDX-License-Identifier: Apache-2.0
"""AG News rows and what agnews says of them to vocabulary, model and folder."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from common import vocabulary
from common.batches import pad
from common.checkpoint import check_replaceable, replaced, weights_digest, write_json
from common.loop import Steps, train
from folder import write_model
from rows import LABELS, Row, read_training_rows, split
from safetensors.torch import load_file
from teacher import lesson
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy, kl_div, log_softmax, softmax
from training import Rows, accuracy
from transformer import Shape, TransformerEncoder

TEACHER = Path(__file__).resolve().parents[1] / "agnews" / "checkpoint"
TOKENS = 128  # of a text; longer ones are cut
SEED = 20  # the split's, as of the teacher
BATCH, RATE = 128, 5e-3
DROPOUT = 0.1
HIDDEN_WORDS = 0.1  # share of the tokens shown as [UNK]
TEMPERATURE = 3.0
LABEL_WEIGHT = 0.3
_UNSURE = -100  # a label that does not count


def shape_of(pieces: int, width: int, layers: int) -> Shape:
    """Heads of 16, an inner width of twice the width."""
    return Shape(
        vocab_size=pieces,
        hidden_size=width,
        num_layers=layers,
        num_heads=width // 16,
        intermediate_size=2 * width,
        max_positions=TOKENS,
        pooling="mean",
    )


def remake(data: Path, out: Path, state: Path, cache: Path, shape: Shape, epochs: int) -> None:
    """Trains and writes `out`; `state` keeps an interrupted run, `cache` what the teacher says."""
    check_replaceable(out)
    for folder in (state, cache):
        folder.mkdir(parents=True, exist_ok=True)
    rows, held_out = split(read_training_rows(data), SEED)
    texts = [row.text for row in rows]
    told = lesson(TEACHER, texts, cache, "agnews").logits
    large = json.loads((TEACHER / "tokenizer.json").read_text(encoding="utf-8"))
    spec, kept = vocabulary.build(large, texts, shape.vocab_size)
    tokenizer = Tokenizer.from_str(json.dumps(spec))
    tokenizer.enable_truncation(shape.max_positions)
    torch.manual_seed(SEED)
    model = TransformerEncoder(shape, len(LABELS), DROPOUT)
    _start(model, kept)
    print(f"{len(rows)} rows, {sum(p.numel() for p in model.parameters()):,} parameters", flush=True)
    learned, judge = _tokenized(tokenizer, rows), _tokenized(tokenizer, held_out)
    unknown = tokenizer.token_to_id("[UNK]")

    def loss(batch: list[int]) -> torch.Tensor:
        return _loss(model, [learned.ids[i] for i in batch], learned.labels[batch], told[batch], unknown)

    count = epochs * -(-len(rows) // BATCH)
    depends = {"rows": rows, "vocabulary": spec, "teacher": weights_digest(TEACHER), "shape": shape}
    steps = Steps(count=count, batch=BATCH, rate=RATE, seed=SEED)
    train(model, [len(ids) for ids in learned.ids], loss, steps, state / "state.pt", depends)
    print(f"held out: {100 * accuracy(model, judge):.2f} %", flush=True)
    with replaced(out) as folder:
        write_model(folder, model, LABELS)
        write_json(folder / "tokenizer.json", spec)
        write_json(folder / "tokenizer_config.json", vocabulary.tokenizer_config(TOKENS), sort_keys=True)
    print(f"wrote {out.name}", flush=True)


def _start(model: TransformerEncoder, kept: list[int]) -> None:
    """Words begin as the teacher's, on their strongest directions, as large as random ones would be."""
    words = load_file(TEACHER / "model.safetensors")["bert.embeddings.word_embeddings.weight"].float()[kept]
    width = model.shape.hidden_size
    found = words @ torch.linalg.svd(words, full_matrices=False).Vh[:width].T
    with torch.no_grad():
        model.embedding.weight.copy_(found / found.std() * width**-0.5)


def _tokenized(tokenizer: Tokenizer, rows: list[Row]) -> Rows:
    ids = [encoding.ids for encoding in tokenizer.encode_batch([row.text for row in rows])]
    return Rows(ids, torch.tensor([_UNSURE if row.conflict else row.label for row in rows]))


def _loss(
    model: TransformerEncoder, ids: list[list[int]], labels: torch.Tensor, told: torch.Tensor, unknown: int
) -> torch.Tensor:
    """Of the teacher's answers (Hinton et al., 2015), and of the labels where these are certain."""
    padded, mask = pad(ids)
    hide = (torch.rand(padded.shape) < HIDDEN_WORDS) & (mask == 1)
    hide[:, 0] = False
    said, t = model(padded.masked_fill(hide, unknown), mask.bool()), TEMPERATURE
    taught = t * t * kl_div(log_softmax(said / t, 1), softmax(told / t, 1), reduction="batchmean")
    labelled = cross_entropy(said, labels, reduction="sum", ignore_index=_UNSURE) / len(ids)
    return (1 - LABEL_WEIGHT) * taught + LABEL_WEIGHT * labelled
