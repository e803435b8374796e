# SPDX-License-Identifier: Apache-2.0
"""The run of a program that compares drawn models: its options, each model, what came of all."""

from __future__ import annotations

import argparse
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import torch
import transformers
from outcomes import never_compared


def compare_drawn(
    kinds: Sequence[str],
    called: str,
    models: int,
    compare: Callable[[str, int, int], tuple[str, str]],
    check_installed: Callable[[], None],
) -> int:
    """The exit code: 0 without a finding, 1 with one. `kinds` may be chosen from, and are `called` so; `models` is the
    usual number of them. `compare` takes a kind, the seed and the number of a model, and says "the same", "different"
    or why neither, and what it was."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kinds", nargs="*", metavar=called, help=f"of {', '.join(kinds)}")
    parser.add_argument("--models", type=int, default=models)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--one", type=int, metavar="NUMBER", help="this model only, and what it is")
    arguments = parser.parse_args()
    check_installed()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    chosen = arguments.kinds or kinds
    numbers = range(arguments.models) if arguments.one is None else (arguments.one,)
    outcomes: Counter[str] = Counter()
    of_kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for number in numbers:
        kind = chosen[number % len(chosen)]
        outcome, what = compare(kind, arguments.seed, number)
        outcomes[outcome] += 1
        of_kinds[kind][outcome] += 1
        if outcome == "different" or arguments.one is not None:
            print(f"{outcome}: {number}: {what}", flush=True)
    refused = sum(count for outcome, count in outcomes.items() if outcome.startswith("refused"))
    counts = f"{outcomes['the same']} the same, {refused} refused, {outcomes['different']} different"
    print(f"{counts}; {len(of_kinds)} of {len(chosen)} kinds drawn")
    print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common() if outcome != "the same"))
    lost = never_compared(of_kinds)
    if lost:
        print(f"never compared, though several were drawn: {', '.join(lost)}")
    return 1 if outcomes["different"] or lost else 0
