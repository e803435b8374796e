# SPDX-License-Identifier: Apache-2.0
"""Arguments of `etch inspect`."""

from __future__ import annotations

import argparse

from ..asked import POOLINGS, TASKS
from ..process.progress import say
from .argument_types import place
from .checkpoint_options import add_languages, add_lengths, add_regions
from .model_types import ModelTypes
from .subcommand import Subcommand


def _take(inspect: argparse.ArgumentParser) -> None:
    inspect.add_argument("folder", type=place, metavar="FOLDER", help="Hugging Face checkpoint folder")
    inspect.add_argument("--pooling", choices=POOLINGS, help="as for generate")
    inspect.add_argument("--dimensions", type=int, metavar="N", help="as for generate")
    inspect.add_argument("--task", choices=TASKS, help="as for generate")
    add_lengths(inspect)
    add_languages(inspect)
    add_regions(inspect, "as for generate: what would lie in each region, and how large it would be")
    inspect.add_argument("--json", action="store_true", help="the same as one JSON object")
    inspect.add_argument("--model-types", action=ModelTypes, help="print the supported model types, and exit")


def _import() -> None:
    from . import inspect  # noqa: F401


def _do(arguments: argparse.Namespace) -> None:
    from .inspect import Question, inspect

    question = Question(
        folder=arguments.folder,
        pooling=arguments.pooling,
        dimensions=arguments.dimensions,
        task=arguments.task,
        max_tokens=arguments.max_tokens,
        max_target=arguments.max_target,
        languages=arguments.languages,
        rooms=tuple(arguments.region),
    )
    inspect(question, say, as_json=arguments.json)


COMMAND = Subcommand(
    "inspect", "what a checkpoint folder holds; writes nothing", None, _take, _do, imports=_import, quiet=False
)
