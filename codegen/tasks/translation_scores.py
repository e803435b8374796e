# SPDX-License-Identifier: Apache-2.0
"""BLEU (Papineni et al., 2002) and chrF (Popovic, 2015) of texts against one reference each, as sacreBLEU 2.6 has them
without options: tokenization 13a, smoothing exp; characters without spaces up to 6, beta 2."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

_WORDS, _CHARACTERS, _BETA = 4, 6, 2.0
_ENTITIES = (
    *(("<skipped>", ""), ("-\n", ""), ("\n", " ")),
    *(("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")),
)
_APART = (
    (re.compile(r"([\{-\~\[-\` -\&\(-\+\:-\@\/])"), r" \1 "),
    (re.compile(r"([^0-9])([\.,])"), r"\1 \2 "),
    (re.compile(r"([\.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


def tokenized_13a(text: str) -> list[str]:
    """The text as mteval-v13a splits it."""
    line = text.rstrip()
    for what, by in _ENTITIES:
        line = line.replace(what, by)
    line = f" {line} "
    for pattern, by in _APART:
        line = pattern.sub(by, line)
    return line.split()


def bleu(written: Sequence[str], references: Sequence[str]) -> float:
    """0 to 100."""
    counts = [_counts(written, references, tokenized_13a, order, False) for order in range(1, _WORDS + 1)]
    if counts[0][2] == 0 or any(ours == 0 for ours, _, _ in counts):
        return 0.0
    logarithms, smoothing = 0.0, 1.0  # that halves the share of each length that nothing is found of
    for ours, _, common in counts:
        smoothing *= 2.0 if common == 0 else 1.0
        logarithms += math.log(100.0 * (common or 1.0 / smoothing) / ours)
    size, wanted, _ = counts[0]
    brevity = math.exp(1.0 - wanted / size) if size < wanted else 1.0
    return brevity * math.exp(logarithms / _WORDS)


def chrf(written: Sequence[str], references: Sequence[str]) -> float:
    """0 to 100."""
    orders = range(1, _CHARACTERS + 1)
    counts = [_counts(written, references, lambda text: "".join(text.split()), order, True) for order in orders]
    known = [(common / ours, common / theirs) for ours, theirs, common in counts if ours and theirs]
    precision, recall = (math.fsum(side) / max(len(known), 1) for side in zip(*known or [(0.0, 0.0)], strict=True))
    if precision + recall == 0:
        return 0.0
    return 100.0 * (1.0 + _BETA**2) * precision * recall / (_BETA**2 * precision + recall)


def _counts(
    written: Sequence[str],
    references: Sequence[str],
    units: Callable[[str], Sequence[str]],
    order: int,
    needs_reference: bool,
) -> tuple[int, int, int]:
    """N-grams of what is written, of the references, and of both; where asked for, of references that have any."""
    all_ours = all_theirs = common = 0
    for text, reference in zip(written, references, strict=True):
        ours, theirs = (_grams(units(of), order) for of in (text, reference))
        all_ours += 0 if needs_reference and not theirs else ours.total()
        all_theirs += theirs.total()
        common += (ours & theirs).total()
    return all_ours, all_theirs, common


def _grams(units: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(units[i : i + order]) for i in range(len(units) - order + 1))
