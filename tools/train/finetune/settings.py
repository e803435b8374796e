# SPDX-License-Identifier: Apache-2.0
"""The command line as one frozen value."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from common.program import Defaults, number

TASKS = ("single_label", "multi_label", "regression")
FREEZES = ("nothing", "embeddings", "encoder")
RATE = 5e-5
FROZEN_RATE = 1e-3  # where only pooler and classifier learn


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


@dataclass(frozen=True)
class Columns:
    """Where a table holds what; a column is a name, or a number from 1."""

    texts: tuple[str, ...]
    label: str
    header: bool
    pairs: bool  # two texts a row, else its texts joined by a space


@dataclass(frozen=True)
class Settings:
    """Everything a run depends on."""

    checkpoint: Path
    train: Path
    validation: Path | None
    test: Path | None
    out: Path
    task: str
    columns: Columns
    freeze: str
    epochs: int
    patience: int
    batch: int
    rate: float
    weight_decay: float
    warmup: float
    max_tokens: int | None  # the checkpoint's own limit where None
    held_out: float
    bfloat16: bool
    seed: int
    threads: int | None


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="finetune",
        description="Fine-tunes a BERT checkpoint folder on a labelled csv or tsv file.",
        allow_abbrev=False,
        formatter_class=Defaults,
    )
    add = parser.add_argument
    add("checkpoint", type=Path, metavar="CHECKPOINT", help="Hugging Face folder, with or without a classifier")
    add("--train", type=Path, required=True, metavar="FILE", help="labelled rows: .csv or .tsv, also .gz")
    add("--out", type=Path, required=True, metavar="DIR", help="folder to make")
    add("--label-column", required=True, metavar="C", help="its name, or its number from 1")
    add("--text-columns", required=True, metavar="C,…", help="joined by a space unless --pairs")
    add("--pairs", action="store_true", help="the two text columns are a pair")
    header = parser.add_mutually_exclusive_group()
    header.add_argument("--header", action="store_true", help="the first row names the columns (implied by a name)")
    header.add_argument("--no-header", action="store_true", help="the first row is data (implied by numbers)")
    add("--task", choices=TASKS, default="single_label", help="what the label column says")
    add("--validation", type=Path, metavar="FILE", help="held-out rows; without it a share of the training rows")
    add("--held-out", type=number(float, 0.001, 0.5), default=0.1, metavar="SHARE", help="that share")
    add("--test", type=Path, metavar="FILE", help="rows measured once, after training")
    add("--freeze", choices=FREEZES, default="nothing", help="what keeps its weights")
    add("--epochs", type=number(int, 1, 1000), default=5, metavar="N", help="at most")
    add("--patience", type=number(int, 1, 1000), default=2, metavar="N", help="stop after N epochs without a gain")
    add("--batch", type=number(int, 1, 4096), default=16, metavar="N", help="rows a step")
    add(
        "--rate",
        type=number(float, 1e-9, 1.0),
        metavar="R",
        help=f"{RATE:g}, or {FROZEN_RATE:g} with a frozen encoder",
    )
    add("--weight-decay", type=number(float, 0.0, 1.0), default=0.01, metavar="D", help="of matrices")
    add("--warmup", type=number(float, 1e-6, 1.0), default=0.1, metavar="SHARE", help="of the steps")
    add(
        "--max-tokens",
        type=number(int, 3, 1 << 16),
        metavar="N",
        help="longest text; longer ones are cut (default: the checkpoint's own limit)",
    )
    add("--bfloat16", action="store_true", help="train in mixed precision; faster on CPUs that have bfloat16")
    add("--seed", type=number(int, 0, (1 << 32) - 1), default=0, metavar="N", help="of everything random")
    add("--threads", type=number(int, 1, 1024), metavar="N", help="PyTorch's choice where not given")
    return parser


def parse(argv: list[str] | None) -> Settings:
    """The settings of a command line; a wrong one ends the program with exit code 2."""
    parser = _parser()
    arguments = vars(parser.parse_args(argv))
    texts = tuple(arguments.pop("text_columns").split(","))
    label = arguments.pop("label_column")
    named = [column for column in (*texts, label) if not is_number(column)]
    no_header, header = arguments.pop("no_header"), arguments.pop("header")
    if no_header and named:
        parser.error(f"--no-header: column '{named[0]}' is not a number")
    pairs = arguments.pop("pairs")
    if pairs and len(texts) != 2:
        parser.error(f"--pairs needs two text columns, --text-columns names {len(texts)}")
    columns = Columns(texts, label, header or bool(named), pairs)
    if arguments["rate"] is None:
        arguments["rate"] = FROZEN_RATE if arguments["freeze"] == "encoder" else RATE
    return Settings(**arguments, columns=columns)


def is_number(column: str) -> bool:
    """Whether a column is named by its place."""
    return column.isascii() and column.isdigit()
