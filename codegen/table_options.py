# SPDX-License-Identifier: Apache-2.0
"""Arguments that name files of texts and the columns of tables: what they are, and what `generate` is asked by them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .errors import EtchError

if TYPE_CHECKING:
    from .budget import Limits
    from .table_file import Columns


def columns(text: str) -> tuple[str, ...]:
    """Of an option."""
    return tuple(text.split(","))


def add_columns(generate: argparse.ArgumentParser) -> None:
    """Of the tables that --evaluate, --prune-vocabulary and --calibrate name."""
    generate.add_argument("--label-column", metavar="C", help="number from 1, or name (default: 1)")
    generate.add_argument("--text-columns", type=columns, metavar="A,B", help="default: all but the label's")
    generate.add_argument(
        "--labels", metavar="0|1|names|A,B", help="how labels are read (default: found out where one way only fits)"
    )
    header = generate.add_mutually_exclusive_group()
    header.add_argument("--header", action="store_true", default=None, help="the first row holds names")
    header.add_argument("--no-header", action="store_false", dest="header", help="it holds data")
    generate.add_argument(
        "--prune-columns", type=columns, metavar="A,B", help="texts of that table (default: --text-columns)"
    )
    generate.add_argument(
        "--calibrate-columns", type=columns, metavar="A,B", help="of that table (default: --text-columns)"
    )


def tables_asked_for(arguments: argparse.Namespace) -> dict[str, Any]:
    """The parts of a Request that read files of texts; wrong combinations are refused."""
    from .pipeline import Evaluate, Prune
    from .table_file import Columns

    def need(option: str, given: object, other: str, condition: bool) -> None:
        if given is not None and not condition:
            raise EtchError("option-incomplete", "arguments", f"{option} needs {other}")

    corpus, table = arguments.prune_vocabulary, arguments.evaluate
    limits = _limits(arguments)
    need("--prune-vocabulary", corpus, "--min-count", arguments.min_count is not None or limits is not None)
    need("--min-count", arguments.min_count, "--prune-vocabulary", corpus is not None)
    need("--rare-words", arguments.rare_words, "--prune-vocabulary", corpus is not None)
    for option in ("min_accuracy", "min_tokens", "board"):
        need(
            f"--{option.replace('_', '-')}", getattr(arguments, option), "--max-flash or --max-ram", limits is not None
        )
    need("--evaluate-rows", arguments.evaluate_rows, "--evaluate", table is not None)
    need("--labels", arguments.labels, "--evaluate", table is not None)
    need("--prune-columns", arguments.prune_columns, "--prune-vocabulary", corpus is not None)
    need("--calibrate-columns", arguments.calibrate_columns, "--calibrate", arguments.calibrate is not None)
    tables = any((corpus, table, arguments.calibrate))
    for option in ("label_column", "text_columns", "header"):
        given = getattr(arguments, option)
        need(f"--{option.replace('_', '-')}", given, "--evaluate, --prune-vocabulary or --calibrate", tables)
    chosen = Columns(arguments.label_column or "1", arguments.text_columns, arguments.header, arguments.labels)
    asked: dict[str, Any] = {"columns": chosen, "limits": limits, "board": arguments.board}
    asked["prune_columns"] = own_columns(arguments.prune_columns, arguments.header)
    asked["calibrate_columns"] = own_columns(arguments.calibrate_columns, arguments.header)
    if corpus is not None:
        asked["prune"] = Prune(corpus, arguments.min_count, arguments.rare_words)
    if table is not None:
        asked["evaluate"] = (
            Evaluate(table) if arguments.evaluate_rows is None else Evaluate(table, arguments.evaluate_rows)
        )
    return asked


def own_columns(texts: tuple[str, ...] | None, header: bool | None = None) -> Columns | None:
    """Of a table that has no labels, where an option names its texts."""
    from .table_file import Columns

    return None if texts is None else Columns(None, texts, header)


def _limits(arguments: argparse.Namespace) -> Limits | None:
    from .budget import Limits

    sizes = arguments.max_flash, arguments.max_ram, arguments.max_stack
    if all(size is None for size in sizes):
        return None
    return Limits(*sizes, arguments.min_accuracy, arguments.min_tokens)
