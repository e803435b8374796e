# SPDX-License-Identifier: Apache-2.0
"""What the search prints, and what its refusals say."""

from __future__ import annotations

from collections.abc import Sequence

from ..evaluate import Score
from ..sizes import size_text
from ..vocabulary.pruning import Bound
from .limits import Allowance, Limits, Size
from .space import Form, Found, Space

_WIDTHS = (9, 14, 10, 13, 6, 10, 10, 10, 9)


def limits_lines(limits: Limits, target: str, allowance: Allowance) -> list[str]:
    """What is looked for, and what is taken for granted."""
    asked = [
        *(f"{name} {size:,} bytes" for name, size in _named(limits) if size is not None),
        *([] if limits.accuracy is None else [f"at least {limits.accuracy:g}"]),
    ]
    return [
        f"budget       {', '.join(asked)}",
        f"  allowed    {allowance.code:,} bytes of code and {allowance.static:,} of variables on target {target}",
    ]


def sensitivity_heading(rows: int) -> list[str]:
    """The columns of `sensitivity_line`."""
    return [
        f"sensitivity  error of the outputs on {rows} rows with one tensor in 4 bits",
        f"  {'tensor':<28} {'error':>10} {'bytes saved':>12}",
    ]


def sensitivity_line(place: str, error: float, saved: int) -> str:
    """Of one linear alone in 4 bits."""
    return f"  {place:<28} {error:>10.3g} {saved:>12,}"


def searched_line(bits: int, bounds: Sequence[Bound], forms: int) -> str:
    """How far the search is."""
    ways = " and ".join(sorted({bound.rare_words for bound in bounds})) or "as they are"
    return f"searched     {bits}-bit embeddings, rare words {ways}: {forms} forms fit"


def tried_heading(measure: str) -> str:
    """The columns of `tried_line`."""
    names = ("pieces", "min-count", "embeddings", "4-bit linears", "tokens", "flash", "RAM", "error", measure)
    return f"tried        {_columns(names)}"


def tried_line(form: Form, space: Space, error: float, score: Score | None) -> str:
    """A form that fits, with its score where it came so far."""
    size = space.size(form)
    return "             " + _columns(
        (
            f"{len(space.vocabulary(form.bound).rows):,}",
            "-" if form.bound is None else f"{form.bound.min_count:,} {form.bound.rare_words}",
            f"{form.embedding_bits} bits",
            f"{len(form.four)} of {len(space.linears)}",
            f"{form.tokens:,}",
            f"{size.flash:,}",
            f"{size.ram:,}",
            f"{error:.3g}",
            "-" if score is None else str(score),
        )
    )


def chosen_lines(found: Found, space: Space, calibrated: bool) -> list[str]:
    """The form that is generated, and how to ask for it without a search; `calibrated`: where linears in
    4 bits are rounded by texts."""
    size, form = found.size, found.form
    options = [
        *([] if form.tokens == space.tokens else [f"--max-tokens {form.tokens}"]),
        *_pruned(form.bound),
        *([] if form.embedding_bits == 8 else ["--embedding-bits 4"]),
        *([] if not form.four else [f"--bits {','.join(f'{place}=4' for place in space.bits(form))}"]),
        *(["--calibrate FILE"] if calibrated and form.four else []),
    ]
    return [
        f"chosen       {found.score.measure} {found.score}, flash {size.flash:,} bytes, RAM {size.ram:,}",
        f"  the same   {' '.join(options) or 'without any option'}",
    ]


def limits_missed(space: Space, nearest: Form, untried: Sequence[str]) -> str:
    """Where nothing fits; `untried`: options that would allow smaller forms."""
    needed = f"nothing fits; the nearest is {_form(nearest, space)}: it needs {_needed(space.size(nearest))}"
    return "; not tried: ".join((needed, *([", ".join(untried)] if untried else [])))


def accuracy_missed(limits: Limits, best: Found, space: Space, accurate: Found | None) -> str:
    """Where what fits is not good enough."""
    message = f"the best that fits has {best.score.measure} {best.score}, {limits.accuracy:g} is asked for; "
    if accurate is None:
        return message + "the whole model does not reach it, either: no limit would do"
    return message + f"{_form(accurate.form, space)} has {accurate.score} and needs {_needed(accurate.size)}"


def _form(form: Form, space: Space) -> str:
    pieces = f"{len(space.vocabulary(form.bound).rows):,} pieces"
    bits = f"{form.embedding_bits}-bit embeddings, {len(form.four)} of {len(space.linears)} linears in 4 bits"
    return f"{pieces}, {bits}, {form.tokens:,} tokens"


def _pruned(bound: Bound | None) -> list[str]:
    if bound is None:
        return []
    return [f"--prune-vocabulary FILE --min-count {bound.min_count} --rare-words {bound.rare_words}"]


def _needed(size: Size) -> str:
    return f"--max-flash {size_text(size.flash)} --max-ram {size_text(size.ram)} --max-stack {size.stack}"


def _named(limits: Limits) -> tuple[tuple[str, int | None], ...]:
    return ("flash", limits.flash), ("RAM", limits.ram), ("stack", limits.stack)


def _columns(texts: tuple[str, ...]) -> str:
    return " ".join(f"{text:>{width}}" for text, width in zip(texts, _WIDTHS, strict=True))
