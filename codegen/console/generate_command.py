# SPDX-License-Identifier: Apache-2.0
"""Arguments of `etch generate`."""

from __future__ import annotations

import argparse

from ..asked import POOLINGS, TASKS
from ..building.build import boards
from ..process.progress import say
from ..targets import TARGETS
from . import argument_types as types
from .checkpoint_options import add_languages, add_lengths, add_regions
from .subcommand import Subcommand, take_heads
from .table_options import add_columns, add_tables, tables_asked_for


def _take(generate: argparse.ArgumentParser) -> None:
    generate.add_argument("folder", type=types.place, metavar="FOLDER", help="Hugging Face checkpoint folder")
    generate.add_argument("--out", type=types.place, required=True, metavar="DIR", help="folder to write")
    generate.add_argument("--name", help="model name: namespace, files, symbols (default: from the name of DIR)")
    _add_weights(generate)
    add_lengths(generate)
    _add_task(generate)
    _add_places(generate)
    generate.add_argument(
        "--gpu", action="store_true", help="also the sources for NVIDIA GPUs (CMake option ETCH_CUDA)"
    )
    generate.add_argument(
        "--build",
        action="store_true",
        help="build library and program in DIR/build/bin; what is the same for all models is compiled once, in "
        "~/.cache/etch (ETCH_CACHE: another folder, or off)",
    )
    add_tables(generate, types.positive)
    _add_budget(generate)
    add_columns(generate)


def _add_weights(generate: argparse.ArgumentParser) -> None:
    """How weights become integers."""
    generate.add_argument(
        "--recipe",
        choices=("w8a8", "w7a8", "w4a8", "fp32"),
        default="w8a8",
        help="8-bit weights and activations (default); weights of linears in 7 bits, faster with AVX2; in 4 bits, in "
        "groups of 32; or float, the reference for accuracy",
    )
    generate.add_argument(
        "--embedding-bits", type=int, choices=(8, 4), default=8, help="of word and position tables; default: 8"
    )
    generate.add_argument(
        "--bits",
        type=types.bits,
        default={},
        metavar="PLACE=N,...",
        help="8 or 4 bits for single weights: intermediate=4 in all layers, 2.intermediate=4 in layer 2; inspect lists "
        "the places",
    )
    generate.add_argument(
        "--calibrate",
        type=types.place,
        metavar="FILE",
        help="round 4-bit weights by what they multiply in these texts, one a line or a row of a table (GPTQ)",
    )
    generate.add_argument(
        "--smooth",
        type=types.place,
        metavar="FILE",
        help="move outlier channels of activations from norms into weights, measured on these texts, as for "
        "--calibrate (SmoothQuant)",
    )


def _add_task(generate: argparse.ArgumentParser) -> None:
    """What the model answers with."""
    generate.add_argument(
        "--pooling",
        choices=POOLINGS,
        help="how rows of tokens become an embedding, of a folder without modules.json; not normalized",
    )
    generate.add_argument(
        "--dimensions",
        type=int,
        metavar="N",
        help="of an embedding the first N values (Matryoshka), divided by their length where the model divides by one",
    )
    generate.add_argument(
        "--task",
        choices=TASKS,
        help="override the folder's task: zero-shot, labels given at call time (classifiers of entailment), "
        "summarize (sequence-to-sequence models), or sparse, weights of words as by SPLADE (masked language models)",
    )
    take_heads(generate)
    generate.add_argument(
        "--beams", type=int, metavar="K", help="of a search, 1 to 8; 1 is greedy (default: what the checkpoint says)"
    )
    add_languages(generate)


def _add_places(generate: argparse.ArgumentParser) -> None:
    """How weights are laid out, and where tables and buffers lie."""
    generate.add_argument(
        "--tables", choices=("c", "incbin"), default="incbin", help="C++ arrays, or one binary file (default)"
    )
    generate.add_argument(
        "--target",
        choices=tuple(TARGETS),
        default="host",
        help="weight layout for x86 and AArch64 (default), or for Cortex-M",
    )
    what = "memory for buffers, once for each, the cheapest first and the workspace's last: fast=64K, slow=256K; COST "
    add_regions(generate, what + "of a byte that is touched there (default: 1, 2, 4, ...)")
    generate.add_argument(
        "--table-region",
        action="append",
        type=types.table_place,
        default=[],
        metavar="NAME=SIZE[,COST][,copied]",
        help="memory for tables, once for each, the cheapest first: a section .rodata.etch_MODEL.NAME, or with copied "
        "RAM in .bss.etch_MODEL.NAME that copy_tables() fills from the last one; COST as for --region",
    )


def _add_budget(generate: argparse.ArgumentParser) -> None:
    """What the search for a form that fits is told."""
    budget = generate.add_argument_group(
        "budget", "search the most accurate form that fits: bits of each weight, bits of embeddings, pruning"
    )
    budget.add_argument("--max-flash", type=types.size, metavar="SIZE", help="tables and code: 512K, 1M or bytes")
    budget.add_argument("--max-ram", type=types.size, metavar="SIZE", help="arena, stack budget and variables")
    budget.add_argument("--max-stack", type=types.size, metavar="SIZE", help="the model's stack budget")
    budget.add_argument(
        "--min-accuracy", type=types.share, metavar="X", help="fail below this share of right answers (or correlation)"
    )
    budget.add_argument(
        "--min-tokens",
        type=types.positive,
        metavar="N",
        help="the longest text may be shortened to as few as N tokens (default: never)",
    )
    budget.add_argument(
        "--board",
        type=types.board,
        choices=boards(),
        # An installed package has no firmware-demo.
        help="for m-profile: whose firmware --build links (default: netduinoplus2)" if boards() else argparse.SUPPRESS,
    )


def _import() -> None:
    from .. import pipeline, request  # noqa: F401


def _do(arguments: argparse.Namespace) -> None:
    from .. import pipeline
    from ..request import Request

    pipeline.generate(
        Request(
            folder=arguments.folder,
            out=arguments.out,
            name=arguments.name,
            recipe=arguments.recipe,
            embedding_bits=arguments.embedding_bits,
            bits=arguments.bits,
            calibrate=arguments.calibrate,
            smooth=arguments.smooth,
            max_tokens=arguments.max_tokens,
            max_target=arguments.max_target,
            pooling=arguments.pooling,
            dimensions=arguments.dimensions,
            task=arguments.task,
            beams=arguments.beams,
            languages=arguments.languages,
            heads=tuple(arguments.head),
            rooms=tuple(arguments.region),
            table_places=tuple(arguments.table_region),
            tables=arguments.tables,
            target=arguments.target,
            gpu=arguments.gpu,
            build=arguments.build,
            **tables_asked_for(arguments),
        ),
        say,
    )


COMMAND = Subcommand("generate", "checkpoint folder to C++ sources", None, _take, _do, imports=_import)
