# SPDX-License-Identifier: Apache-2.0
"""An encoder and rows to a folder with a head, and a folder and rows to its figures."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
from answers import Answers
from base import check_max_tokens
from common.loop import Steps
from common.loop import train as train_steps
from folder import check_free, new_folder, state_file, write_tokenizer
from tags import Tags
from tokenizers import Tokenizer
from transformers import AutoModelForQuestionAnswering, AutoModelForTokenClassification, PreTrainedModel, logging

from codegen.frontends import limits_of
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.load.checkpoint import Checkpoint
from codegen.load.files import CheckpointFolder
from codegen.load.folder import load_checkpoint

TASKS = {"tag": (Tags, AutoModelForTokenClassification), "answer": (Answers, AutoModelForQuestionAnswering)}


def train(asked: argparse.Namespace) -> str:
    """Trains and writes the folder."""
    check_free(asked.out)
    state = state_file(asked.state, asked.out)
    _settle(asked)
    task, kind = TASKS[asked.task]
    rows = task.read(asked.train)
    labels = task.labels(rows)
    checkpoint, tokenizer, max_tokens = _tokenizer(asked)
    lesson = task(tokenizer, labels, rows)
    print(f"{asked.train.name}: {lesson.described()}", file=sys.stderr, flush=True)
    model = _model(kind, asked.checkpoint, labels)
    if asked.bfloat16:
        model.set_attn_implementation("eager")  # PyTorch's fused attention is slow in bfloat16 on a CPU
    freeze(model, asked.freeze)
    steps = Steps(asked.steps, asked.batch, asked.rate, asked.seed)

    def loss(batch: list[int]) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=asked.bfloat16):
            return lesson.loss(model, batch)

    depends = {
        "rows": rows,
        "labels": labels,
        "encoder": (checkpoint.digest, asked.task),
        "--freeze": asked.freeze,
        "--max-tokens": max_tokens,
        "arithmetic (--bfloat16)": asked.bfloat16,
    }
    train_steps(model, lesson.lengths, loss, steps, state, depends)
    with new_folder(asked.out) as folder:
        model.save_pretrained(folder)
        write_tokenizer(folder, CheckpointFolder(asked.checkpoint), max_tokens)
        for file in folder.glob("*.safetensors"):
            file.chmod(0o644)  # its writer leaves 0600
    return f"wrote {asked.out.name}"


def evaluate(asked: argparse.Namespace) -> str:
    """Its figures on the rows, as PyTorch computes it."""
    _settle(asked)
    task, kind = TASKS[asked.task]
    _, tokenizer, _ = _tokenizer(asked)
    model = kind.from_pretrained(asked.checkpoint, local_files_only=True, dtype=torch.float32).eval()
    labels = tuple(model.config.id2label[i] for i in range(model.config.num_labels))
    with torch.inference_mode():
        figures = task(tokenizer, labels, task.read(asked.evaluate)).measure(model)
    return ", ".join(f"{name} {100 * value:.2f} %" for name, value in figures.items())


def freeze(model: PreTrainedModel, what: str) -> None:
    """Keeps the weights of the embedding tables, or of everything but the head."""
    base = model.base_model
    if what == "encoder":
        base.requires_grad_(False)
    elif what == "embeddings":
        (base.embeddings if hasattr(base, "embeddings") else base.get_input_embeddings()).requires_grad_(False)


def _settle(asked: argparse.Namespace) -> None:
    logging.set_verbosity_error()  # of tensors that start at random
    if asked.threads is not None:
        torch.set_num_threads(asked.threads)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(asked.seed)


def _model(kind: type, folder: Path, labels: tuple[str, ...]) -> PreTrainedModel:
    """The folder's encoder with a head of these labels that starts at random, also where the folder has one of the
    same shape."""
    names = {"id2label": dict(enumerate(labels)), "label2id": {name: i for i, name in enumerate(labels)}}
    model, told = kind.from_pretrained(
        folder,
        local_files_only=True,
        dtype=torch.float32,
        ignore_mismatched_sizes=True,
        output_loading_info=True,
        **names,
    )
    fresh = {*told["missing_keys"], *(each[0] for each in told["mismatched_keys"])}
    head = {name: p for name, p in model.named_parameters() if not name.startswith(f"{model.base_model_prefix}.")}
    if not head.keys() <= fresh:
        others = dict(kind.from_config(model.config).named_parameters())
        with torch.no_grad():
            for name, values in head.items():
                values.copy_(others[name])
    return model


def _tokenizer(asked: argparse.Namespace) -> tuple[Checkpoint, Tokenizer, int]:
    """The folder, how the generated model will tokenize, and the longest text."""
    checkpoint = load_checkpoint(asked.checkpoint, limits_of)
    max_tokens = asked.max_tokens or checkpoint.default_max_tokens
    check_max_tokens(checkpoint, max_tokens)
    return checkpoint, text_tokenizer(checkpoint.tokenizer, max_tokens), max_tokens
