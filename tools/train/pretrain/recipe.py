# SPDX-License-Identifier: Apache-2.0
"""Texts to a vocabulary and a BERT that begins at random, and both to a folder."""

from __future__ import annotations

import argparse
import json
import sys

import torch
from common import vocabulary
from common.checkpoint import write_json
from common.heads import heads_of
from common.loop import Steps, train
from common.refusal import Refused
from folder import check_free, new_folder, state_file
from lesson import Lesson, found, masked_rows
from masking import SHARE
from tokenizers import Tokenizer
from transformers import BertConfig, BertForMaskedLM, BertForPreTraining

from codegen.files.outside_files import NamedFile
from codegen.files.texts import read_lines

_HEAD_WIDTH = 64
_INNER = 4  # widths of a feed-forward layer


def run(asked: argparse.Namespace) -> str:
    """Trains and writes the folder; returns the figures."""
    check_free(asked.out)
    heads_of(asked.width, _HEAD_WIDTH)  # that it is a width
    state = state_file(asked.state, asked.out)
    if asked.threads is not None:
        torch.set_num_threads(asked.threads)
    torch.use_deterministic_algorithms(True)
    texts = [line.decode("utf-8", "replace") for line in read_lines(asked.texts, "pretrain")]
    held_out, texts = texts[:: asked.hold_every], [t for i, t in enumerate(texts) if i % asked.hold_every]
    if not texts:
        raise Refused(f"{asked.texts.name}: no texts are left to learn from")
    large = vocabulary.uncased(NamedFile(asked.vocabulary, "vocabulary", "pretrain").text().splitlines())
    spec, _ = vocabulary.build(large, texts, min(asked.pieces, len(large["model"]["vocab"])))
    tokenizer = Tokenizer.from_str(json.dumps(spec))
    tokenizer.enable_truncation(asked.max_tokens)
    torch.manual_seed(asked.seed)
    model = _model(asked, tokenizer.get_vocab_size())
    rows = masked_rows(tokenizer, held_out, SHARE, asked.seed)
    if not rows:
        raise Refused(f"{asked.texts.name}: the texts held out have no words to ask for")
    lesson = Lesson(tokenizer, texts, pairs=asked.next_sentence)
    _say(f"{len(texts)} texts, {len(rows)} held out, {model.num_parameters():,} parameters")
    before = found(model, tokenizer, rows)
    steps = Steps(asked.steps, asked.batch, asked.rate, asked.seed)
    depends = {
        "texts": texts,
        "vocabulary": spec,
        "--layers": asked.layers,
        "--width": asked.width,
        "--max-tokens": asked.max_tokens,
        "--next-sentence": asked.next_sentence,
    }
    train(model, lesson.lengths, lambda batch: lesson.loss(model, batch), steps, state, depends)
    after = found(model, tokenizer, rows)
    with new_folder(asked.out) as folder:
        model.save_pretrained(folder)
        write_json(folder / "tokenizer.json", spec)
        write_json(folder / "tokenizer_config.json", vocabulary.tokenizer_config(asked.max_tokens), sort_keys=True)
        (folder / "held_out.tsv").write_text("".join(f"{pieces}\t{text}\n" for pieces, text in rows), encoding="utf-8")
        for file in folder.glob("*.safetensors"):
            file.chmod(0o644)  # its writer leaves 0600
    return f"words found of those held out: {100 * before:.2f} % before, {100 * after:.2f} % after {asked.steps} steps"


def _model(asked: argparse.Namespace, pieces: int) -> BertForMaskedLM | BertForPreTraining:
    config = BertConfig(
        vocab_size=pieces,
        hidden_size=asked.width,
        num_hidden_layers=asked.layers,
        num_attention_heads=heads_of(asked.width, _HEAD_WIDTH),
        intermediate_size=_INNER * asked.width,
        max_position_embeddings=asked.max_tokens,
        hidden_dropout_prob=0.0,  # a run of minutes reads a text few times, each time with other masks
        attention_probs_dropout_prob=0.0,
    )
    return (BertForPreTraining if asked.next_sentence else BertForMaskedLM)(config)


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
