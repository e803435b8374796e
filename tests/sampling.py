# SPDX-License-Identifier: Apache-2.0
"""A part of a large sweep, chosen by a seed: `tools/test --sample` prints it and hands it on in ETCH_SAMPLE."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

Item = TypeVar("Item")
ROOT = Path(__file__).resolve().parents[1]


def seed_of_the_tree() -> int:
    """Of what is tested, as it is committed: whoever runs this generator and runtime gets the same sample.

    So a red run stays red until they are mended, and a mended test is run on what it failed on.

    A seed drawn afresh where git cannot tell.
    """
    tested = ["HEAD:codegen", "HEAD:runtime"]
    told = subprocess.run(["git", "rev-parse", *tested], cwd=ROOT, capture_output=True, check=False)
    if told.returncode != 0:
        return random.SystemRandom().randrange(2**32)
    return int(hashlib.sha256(told.stdout).hexdigest()[:8], 16)


def sampled(items: Sequence[Item], count: int, what: str) -> list[Item]:
    """`count` of the items in their order, the same ones in every process; all of them without a seed.

    `what` names the sweep: two sweeps of one run do not choose alike.
    """
    seed = os.environ.get("ETCH_SAMPLE")
    if not seed or count >= len(items):
        return list(items)
    chosen = set(random.Random(f"{seed} {what}").sample(range(len(items)), count))
    return [item for number, item in enumerate(items) if number in chosen]


def one_in(each: int, cases: Iterable[Any]) -> list[Any]:
    """Cases of a test for parametrize(): the first of every `each` in every run, the others in a sweep.

    For cases of one kind that take long together: values, tuples of them where there are several names, or what
    pytest.param() gives.
    """
    plain = type(pytest.param())
    marked = []
    for number, case in enumerate(cases):
        values = case.values if isinstance(case, plain) else case if isinstance(case, tuple) else (case,)
        known, name = (case.marks, case.id) if isinstance(case, plain) else ((), None)
        marks = known if number % each == 0 else (*known, pytest.mark.sweep)
        marked.append(pytest.param(*values, marks=marks, id=name))
    return marked
