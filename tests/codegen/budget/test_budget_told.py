# SPDX-License-Identifier: Apache-2.0
"""What a budget's search says: its lines, worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from codegen.budget import told
from codegen.budget.limits import Allowance, Limits, Size
from codegen.budget.space import Form, Found
from codegen.evaluate import Score
from codegen.ir.task import Measure
from codegen.vocabulary.pruning import Bound

WHOLE = Form(128, None, 8, frozenset())
SMALL = Form(64, Bound(3, "spelled"), 4, frozenset(("b", "a")))
SCORE = Score(Measure("accuracy", percent=True), 87.25, np.zeros(0), 1.0)
SPACE = SimpleNamespace(
    tokens=128,
    linears=("a", "b", "c"),
    size=lambda form: Size(1234567 if form == WHOLE else 65537, 4096, 2000),
    vocabulary=lambda bound: SimpleNamespace(rows=np.zeros(30522 if bound is None else 1200)),
    bits=lambda form: dict.fromkeys([f"layer.{name}" for name in sorted(form.four)], 4),
)


def test_what_is_looked_for() -> None:
    allowance = Allowance(code=76800, static=2560)
    assert told.limits_lines(Limits(1 << 20, None, 4000, 0.5), "m-profile", allowance) == [
        "budget       flash 1,048,576 bytes, stack 4,000 bytes, at least 0.5",
        "  allowed    76,800 bytes of code and 2,560 of variables on target m-profile",
    ]
    assert told.limits_lines(Limits(None, 2048), "host", allowance)[0] == "budget       RAM 2,048 bytes"


def test_what_single_tensors_do() -> None:
    heading = told.sensitivity_heading(32)
    assert heading[0] == "sensitivity  error of the outputs on 32 rows with one tensor in 4 bits"
    line = told.sensitivity_line("0.query", 0.012345, 12800)
    assert heading[1].split() == ["tensor", "error", "bytes", "saved"]
    assert line == "  0.query                          0.0123       12,800"
    assert len(heading[1]) == len(line)


def test_how_far_the_search_is() -> None:
    bounds = [Bound(count, "unknown") for count in (2, 5)]
    assert told.searched_line(8, bounds, 2) == "searched     8-bit embeddings, rare words unknown: 2 forms fit"
    assert told.searched_line(4, [], 0) == "searched     4-bit embeddings, rare words as they are: 0 forms fit"


def test_the_table_of_what_was_tried() -> None:
    heading, whole = told.tried_heading("accuracy"), told.tried_line(WHOLE, SPACE, 0.0, None)  # type: ignore[arg-type]
    small = told.tried_line(SMALL, SPACE, 0.5, SCORE)  # type: ignore[arg-type]
    assert len(heading) == len(whole) == len(small)
    columns = "   pieces      min-count embeddings 4-bit linears tokens      flash        RAM      error  accuracy"
    assert heading == f"tried        {columns}"
    assert heading.split() == (
        [
            "tried",
            "pieces",
            "min-count",
            "embeddings",
            "4-bit",
            "linears",
            "tokens",
            "flash",
            "RAM",
            "error",
            "accuracy",
        ]
    )
    assert whole.split() == ["30,522", "-", "8", "bits", "0", "of", "3", "128", "1,234,567", "4,096", "0", "-"]
    cells = ["1,200", "3", "spelled", "4", "bits", "2", "of", "3", "64", "65,537", "4,096", "0.5", *str(SCORE).split()]
    assert small.split() == cells


def test_what_was_chosen_and_how_to_ask_for_it() -> None:
    def lines(form: Form, calibrated: bool = False) -> list[str]:
        return told.chosen_lines(Found(form, SPACE.size(form), SCORE), SPACE, calibrated)  # type: ignore[arg-type]

    assert lines(WHOLE) == [
        f"chosen       accuracy {SCORE}, flash 1,234,567 bytes, RAM 4,096",
        "  the same   without any option",
    ]
    pruned = "--prune-vocabulary FILE --min-count 3 --rare-words spelled"
    options = f"--max-tokens 64 {pruned} --embedding-bits 4 --bits layer.a=4,layer.b=4"
    assert lines(SMALL)[1] == f"  the same   {options}"
    assert lines(SMALL, calibrated=True)[1] == f"  the same   {options} --calibrate FILE"
    assert lines(WHOLE, calibrated=True)[1] == "  the same   without any option"


def test_refusals() -> None:
    needed = "--max-flash 65K --max-ram 4K --max-stack 2000"
    described = "1,200 pieces, 4-bit embeddings, 2 of 3 linears in 4 bits, 64 tokens"
    nothing = f"nothing fits; the nearest is {described}: it needs {needed}"
    assert told.limits_missed(SPACE, SMALL, ()) == nothing  # type: ignore[arg-type]
    assert told.limits_missed(SPACE, SMALL, ("A", "B")) == f"{nothing}; not tried: A, B"  # type: ignore[arg-type]
    best = Found(SMALL, SPACE.size(SMALL), SCORE)
    missed = told.accuracy_missed(Limits(1000, accuracy=0.9), best, SPACE, None)  # type: ignore[arg-type]
    first = f"the best that fits has accuracy {SCORE}, 0.9 is asked for; "
    assert missed == first + "the whole model does not reach it, either: no limit would do"
    missed = told.accuracy_missed(Limits(1000, accuracy=0.9), best, SPACE, best)  # type: ignore[arg-type]
    assert missed == f"{first}{described} has {SCORE} and needs {needed}"
