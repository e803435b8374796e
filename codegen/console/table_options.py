# SPDX-License-Identifier: Apache-2.0
"""Arguments that name files of texts and the columns of tables: what they are, and what `generate` is asked by them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import EtchError
from .argument_types import place

if TYPE_CHECKING:
    from ..budget import Limits
    from ..files.table_file import Columns


def columns(text: str) -> tuple[str, ...]:
    """Of an option."""
    return tuple(text.split(","))


def add_tables(generate: argparse.ArgumentParser, positive: Callable[[str], int]) -> None:
    """What is pruned by texts, and what is asked of a labelled table."""
    generate.add_argument(
        "--prune-vocabulary",
        type=place,
        metavar="FILE",
        help="drop the pieces that this file (text lines, .csv, .tsv or .jsonl; of translators pairs, whose label is "
        "what should be written) uses less often than --min-count; the tokenizer stays Hugging Face's over what is "
        "kept",
    )
    generate.add_argument("--min-count", type=positive, metavar="N", help="pieces that it uses fewer than N times go")
    generate.add_argument(
        "--rare-words",
        choices=("spelled", "unknown"),
        help="words whose piece is dropped: spelled by shorter pieces (default), or unknown, as [UNK]",
    )
    generate.add_argument(
        "--keep-vocabulary",
        type=place,
        metavar="DIR",
        help="instead: keep the pieces that this folder, generated from the same checkpoint, has kept",
    )
    generate.add_argument(
        "--evaluate",
        type=place,
        metavar="FILE",
        help="labelled .csv, .tsv or .jsonl, also .gz: accuracy (label sets: exact match; values and "
        "similarities: Spearman; texts that are written: exact match, BLEU, chrF; masks: top-5, top-1); .conll, "
        ".bio or .iob: entity F1; .json or .jsonl of questions: F1, exact match; with the emulated arithmetic, "
        "before and after pruning",
    )
    generate.add_argument(
        "--measure",
        choices=("exact", "bleu", "chrf"),
        help="of texts that are written: what decides for a budget and --min-accuracy (default: exact)",
    )
    generate.add_argument(
        "--evaluate-rows",
        type=positive,
        metavar="N",
        help="rows that --evaluate asks at most, evenly spaced (default: 1000)",
    )


def add_columns(generate: argparse.ArgumentParser) -> None:
    """Of the tables that --evaluate, --prune-vocabulary, --calibrate and --smooth name."""
    generate.add_argument("--label-column", metavar="C", help="number from 1, or name (default: 1)")
    generate.add_argument("--text-columns", type=columns, metavar="A,B", help="default: all but the label's")
    generate.add_argument(
        "--labels", metavar="0|1|names|A,B", help="how labels are read (default: found out where one way only fits)"
    )
    header = generate.add_mutually_exclusive_group()
    header.add_argument("--header", action="store_true", default=None, help="the first row holds names")
    header.add_argument("--no-header", action="store_false", dest="header", help="the first row is data")
    generate.add_argument(
        "--prune-columns", type=columns, metavar="A,B", help="texts of that table (default: --text-columns)"
    )
    generate.add_argument(
        "--calibrate-columns", type=columns, metavar="A,B", help="of that table (default: --text-columns)"
    )
    generate.add_argument(
        "--smooth-columns", type=columns, metavar="A,B", help="of that table (default: --text-columns)"
    )


def tables_asked_for(arguments: argparse.Namespace) -> dict[str, Any]:
    """The parts of a Request that read files of texts; wrong combinations are refused."""
    from ..files.table_file import Columns
    from ..request import Evaluate, Prune

    def need(option: str, given: object, other: str, condition: bool) -> None:
        if given is not None and not condition:
            raise EtchError("option-incomplete", "arguments", f"{option} needs {other}")

    corpus, table = arguments.prune_vocabulary, arguments.evaluate
    limits = _limits(arguments)
    need("--prune-vocabulary", corpus, "--min-count", arguments.min_count is not None or limits is not None)
    need("--min-count", arguments.min_count, "--prune-vocabulary", corpus is not None)
    need("--rare-words", arguments.rare_words, "--prune-vocabulary", corpus is not None)
    for option in ("min_accuracy", "min_tokens"):
        name = f"--{option.replace('_', '-')}"
        need(name, getattr(arguments, option), "--max-flash, --max-ram or --max-stack", limits is not None)
    links = limits is not None and arguments.target == "m-profile" and arguments.build
    need("--board", arguments.board, "a limit as --max-flash, --target m-profile and --build", links)
    need("--evaluate-rows", arguments.evaluate_rows, "--evaluate", table is not None)
    need("--measure", arguments.measure, "--evaluate", table is not None)
    need("--labels", arguments.labels, "--evaluate", table is not None)
    need("--prune-columns", arguments.prune_columns, "--prune-vocabulary", corpus is not None)
    need("--calibrate-columns", arguments.calibrate_columns, "--calibrate", arguments.calibrate is not None)
    need("--smooth-columns", arguments.smooth_columns, "--smooth", arguments.smooth is not None)
    tables = any((corpus, table, arguments.calibrate, arguments.smooth))
    for option in ("label_column", "text_columns", "header"):
        given = getattr(arguments, option)
        name = "--no-header" if given is False else f"--{option.replace('_', '-')}"
        need(name, given, "--evaluate, --prune-vocabulary, --calibrate or --smooth", tables)
    chosen = Columns(arguments.label_column or "1", arguments.text_columns, arguments.header, arguments.labels)
    asked: dict[str, Any] = {"columns": chosen, "limits": limits, "board": arguments.board}
    asked["keep_vocabulary"] = arguments.keep_vocabulary
    asked["prune_columns"] = own_columns(arguments.prune_columns, arguments.header)
    asked["calibrate_columns"] = own_columns(arguments.calibrate_columns, arguments.header)
    asked["smooth_columns"] = own_columns(arguments.smooth_columns, arguments.header)
    if corpus is not None:
        asked["prune"] = Prune(corpus, arguments.min_count, arguments.rare_words)
    if table is not None:
        rows = {} if arguments.evaluate_rows is None else {"rows": arguments.evaluate_rows}
        asked["evaluate"] = Evaluate(table, **rows, measure=arguments.measure)
    return asked


def own_columns(texts: tuple[str, ...] | None, header: bool | None = None) -> Columns | None:
    """Of a table that has no labels, where an option names its texts."""
    from ..files.table_file import Columns

    return None if texts is None else Columns(None, texts, header)


def _limits(arguments: argparse.Namespace) -> Limits | None:
    from ..budget import Limits

    sizes = arguments.max_flash, arguments.max_ram, arguments.max_stack
    if all(size is None for size in sizes):
        return None
    return Limits(*sizes, arguments.min_accuracy, arguments.min_tokens)
