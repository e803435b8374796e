# SPDX-License-Identifier: Apache-2.0
"""Rows to features of the frozen encoder, features to a head, both to a folder."""

from __future__ import annotations

import argparse
import csv
import random
import sys
import time
from pathlib import Path

import torch
from base import check_max_tokens
from common.batches import by_tokens, longest_first, shuffled_by_rows
from common.checkpoint import write_json
from common.optimize import decay_groups, finite, set_rate
from features import ENCODED_TOKENS, Cache, Features
from folder import check_free, new_folder, write_tokenizer
from gru_model import GruClassifier
from kept import Kept
from safetensors.torch import save_file
from settings import Columns, is_number
from split import split
from table import Record, read_table
from targets import Labels, find_labels
from torch.nn.functional import cross_entropy
from transformers import AutoModel, PreTrainedModel

from codegen.frontends import limits_of
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.load.files import CheckpointFolder
from codegen.load.folder import load_checkpoint

_POOL = 50  # batches of an epoch that are sorted by length together
_WARMUP = 0.1
_DECAY = 0.01


def run(asked: argparse.Namespace) -> str:
    """Trains and writes the folder; returns the figures."""
    check_free(asked.out)
    if asked.threads is not None:
        torch.set_num_threads(asked.threads)
    torch.use_deterministic_algorithms(True)
    torch.set_flush_denormal(True)  # gradients fade over hundreds of states; denormal ones cost several times the time
    torch.manual_seed(asked.seed)
    labels, parts = _read(asked)
    if asked.write_held_out:
        with asked.write_held_out.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows((r.label, r.texts[0]) for r in parts["held out"])
    checkpoint = load_checkpoint(asked.encoder, limits_of)
    check_max_tokens(checkpoint, asked.max_tokens)
    tokenizer = text_tokenizer(checkpoint.tokenizer, asked.max_tokens)
    encoder = AutoModel.from_pretrained(asked.encoder, local_files_only=True, dtype=torch.float32).eval()
    begin = time.monotonic()
    cache = Cache(asked.features, f"{checkpoint.digest} {asked.max_tokens}") if asked.features else None
    features = {}
    for name, rows in parts.items():
        truths = [labels.names.index(r.label) for r in rows]
        features[name] = Features(encoder, tokenizer, [r.texts[0] for r in rows], truths, cache)
    for name, of_part in features.items():
        _say(f"{name}: {len(of_part.rows)} rows, {of_part.cut} cut at {asked.max_tokens} tokens")
    _say(f"encoded in {time.monotonic() - begin:.0f} s")
    head = GruClassifier(
        encoder.config.hidden_size,
        asked.hidden,
        asked.layers,
        len(labels.names),
        both_ways=not asked.one_direction,
        dropout=asked.dropout,
    )
    kept = None if asked.features is None else Kept(asked.features, _run_of(checkpoint.digest, parts, asked))
    train(head, features["training"], features["held out"], asked, kept)
    with new_folder(asked.out) as folder:
        write_folder(folder, encoder, CheckpointFolder(asked.encoder), head, labels.names, asked.max_tokens)
    measured = {name: accuracy(head, features[name]) for name in ("held out", "test") if name in features}
    return ", ".join(f"{name}: {100 * value:.2f} %" for name, value in measured.items())


def _read(asked: argparse.Namespace) -> tuple[Labels, dict[str, list[Record]]]:
    """Labels, and rows to train on, to choose by and, where asked for, to test on."""
    texts = tuple(asked.text_columns.split(","))
    header = asked.header or any(not is_number(column) for column in (*texts, asked.label_column))
    columns = Columns(texts, asked.label_column, header, pairs=False)
    table = read_table(asked.train, columns)
    labels = find_labels("single_label", table, ())
    count = min(asked.rows, len(table.records))
    rows = [table.records[i * len(table.records) // count] for i in range(count)]
    chosen, held_out = split([r.texts for r in rows], [r.label for r in rows], asked.held_out, asked.seed)
    parts = {"training": [rows[i] for i in chosen], "held out": [rows[i] for i in held_out]}
    if asked.test is not None:
        test = read_table(asked.test, columns)
        for record in test.records:
            labels.target(test, record)  # that it is one
        parts["test"] = test.records
    return labels, parts


def _run_of(encoder: str, parts: dict[str, list[Record]], asked: argparse.Namespace) -> object:
    """What the weights after an epoch depend on."""
    rows = [(name, row.label, row.texts) for name, of_part in parts.items() for row in of_part]
    of_head = asked.hidden, asked.layers, asked.one_direction, asked.max_tokens
    of_steps = asked.dropout, asked.epochs, asked.batch, asked.rate, asked.seed
    return encoder, rows, of_head, of_steps


def train(
    head: GruClassifier, rows: Features, held_out: Features, asked: argparse.Namespace, kept: Kept | None = None
) -> None:
    """Leaves the weights of the epoch that is best on the rows held out. Goes on after the last epoch that is kept, to
    the same weights."""
    optimizer = torch.optim.AdamW(decay_groups(head, _DECAY), lr=asked.rate)
    rng = random.Random(asked.seed)
    batches = [shuffled_by_rows(rows.lengths, asked.batch, _POOL, rng) for _ in range(asked.epochs)]
    steps = sum(map(len, batches))
    best, weights = -1.0, head.state_dict()
    done = 0
    state = None if kept is None else kept.read()
    if state is not None:
        done, best, weights = state["epoch"], state["best"], state["weights"]
        head.load_state_dict(state["head"])
        optimizer.load_state_dict(state["optimizer"])
        _say(f"going on after epoch {done}")
    step = sum(map(len, batches[:done]))
    for epoch, of_epoch in enumerate(batches[done:], done + 1):
        head.train()
        total, begin = 0.0, time.monotonic()
        for batch in of_epoch:
            step += 1
            torch.manual_seed(asked.seed * 1_000_003 + step)  # a step is the same, whatever ran before it
            set_rate(optimizer, asked.rate, step, steps, _WARMUP)
            loss = cross_entropy(head(rows.texts(batch)), rows.labels[batch])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(head.parameters(), 1.0)
            optimizer.step()
            total += finite(loss, step, asked.rate) * len(batch)
        found = accuracy(head, held_out)
        if found > best:
            best, weights = found, {name: value.clone() for name, value in head.state_dict().items()}
        if kept is not None:
            now = {"head": head.state_dict(), "optimizer": optimizer.state_dict()}
            kept.write({"epoch": epoch, "best": best, "weights": weights} | now)
        loss_of = total / len(rows.rows)
        _say(f"epoch {epoch}: loss {loss_of:.4f}, held out {100 * found:.2f} %, {time.monotonic() - begin:.0f} s")
    head.load_state_dict(weights)


@torch.inference_mode()
def accuracy(head: GruClassifier, of: Features) -> float:
    """Share of the rows that are answered right."""
    head.eval()
    right = 0
    for batch in by_tokens(of.lengths, longest_first(of.lengths), ENCODED_TOKENS):
        right += int((head(of.texts(batch)).argmax(1) == of.labels[batch]).sum())
    return right / len(of.rows)


def write_folder(
    folder: Path,
    encoder: PreTrainedModel,
    source: CheckpointFolder,
    head: GruClassifier,
    labels: tuple[str, ...],
    max_tokens: int,
) -> None:
    """encoder/, head.json and head.safetensors, as the generator reads them."""
    encoder.save_pretrained(folder / "encoder")
    write_tokenizer(folder / "encoder", source, max_tokens)
    write_json(folder / "head.json", head.settings(labels))
    save_file(head.state_dict(), folder / "head.safetensors", metadata={"format": "pt"})
    for file in folder.rglob("*.safetensors"):
        file.chmod(0o644)  # its writer leaves 0600


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
