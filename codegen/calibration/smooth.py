# SPDX-License-Identifier: Apache-2.0
"""`--smooth FILE`: channels of a norm that are larger than the others are made smaller, and the weights that multiply
them larger, so that bytes hold both well (SmoothQuant, Xiao et al. 2023, arXiv:2211.10438).

A row has one scale for all its channels: where one of them is large, the others are rounded coarsely. What the texts
make of each linear's inputs, and the weights, decide a factor for each channel, the power of two next to
sqrt(largest input / largest weight). Nothing is multiplied when the model runs (ir/normed.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..emulate.floats import QuantizedRows
from ..emulate.values import Rows
from ..errors import EtchError, printable
from ..files.table_file import Columns, Echo
from ..files.texts import texts_of
from ..ir import graph as g
from ..ir import program as p
from ..ir.normed import Normed, Stored, normed_of, with_factors
from ..ir.parameter import Array
from ..ir.tokenizer_spec import TokenizerSpec
from ..library_tokenizer.wheel_tokenizer import text_tokenizer
from ..lower import lower
from ..oracle.interpret import Interpreter
from ..process.progress import stage
from ..quantize.recipe import Recipe
from ..quantize.w8a8 import W8A8
from .shown_texts import chosen_texts, judge, show

_MOST = 10  # that an exponent is away from 0
F64Array = NDArray[np.float64]


@dataclass(frozen=True)
class Smoothing:
    """A graph that means the same and rounds better, and the report."""

    graph: g.Graph
    sha256: str  # of the file
    lines: tuple[str, ...]


def smooth(
    graph: g.Graph,
    spec: TokenizerSpec,
    recipe: Recipe,
    file: Path,
    columns: Columns | None = None,
    echo: Echo = lambda _: None,
    reference: Interpreter | None = None,
) -> Smoothing:
    """With a reference the report compares programs of `recipe` with it. `columns` of a table."""
    normed = normed_of(graph)
    if recipe.kind != "s8" or not normed:
        why = f"recipe {recipe.name} rounds no rows" if normed else "no linear reads the rows of norms alone"
        raise EtchError("nothing-to-smooth", "arguments", why)
    program = lower(graph, W8A8())
    texts = texts_of(file, "smooth", columns or Columns(), echo)
    chosen, judged, sha256 = chosen_texts(texts, text_tokenizer(spec, program.max_tokens), program, "smooth")
    seen = _Seen()
    with stage("smooth"):
        read = show(program, chosen, seen.weights)
    exponents, rows = _exponents(graph, normed, seen)
    smoothed = with_factors(graph, normed, exponents)
    lines = [
        f"smoothing    {read}",
        f"  {'largest input of a channel, in medians of all channels':<58} {'as it is':>9} {'smoothed':>12}",
        *rows,
    ]
    if reference is not None and judged:
        lines += judge({"as it is": lower(graph, recipe), "smoothed": lower(smoothed, recipe)}, reference, judged)
    return Smoothing(smoothed, sha256, tuple(lines))


def exponents_of(inputs: F64Array, weights: F64Array) -> NDArray[np.int64]:
    """Of each channel the power of two by which the norm divides it, from its largest input and its largest weight:
    that next to sqrt(input / weight), in the median 0. Exact operations alone decide it."""
    used = (inputs > 0) & (weights > 0)
    _, bits = np.frexp(np.where(used, inputs, 1.0) / np.where(used, weights, 1.0))
    powers = bits.astype(np.int64) // 2
    if not used.any():
        return powers * 0
    middle = np.sort(powers[used])[used.sum() // 2]
    return np.where(used, np.clip(powers - middle, -_MOST, _MOST), 0)


class _Seen:
    """The largest inputs of each linear, by the checkpoint's tensor."""

    def __init__(self) -> None:
        self.largest: dict[str, F64Array] = {}

    def weights(self, weights: p.LinearWeights, inputs: Rows) -> p.LinearWeights:
        """The same; looks at inputs that are quantized. What is rounded to 0 may be half as large as 1."""
        if isinstance(inputs, QuantizedRows) and len(inputs.q):
            rows = np.maximum(np.abs(inputs.q.astype(np.float64)), 0.5) * inputs.scales.astype(np.float64)[:, None]
            largest = rows.max(axis=0)
            self.largest[weights.source] = np.maximum(self.largest.get(weights.source, largest), largest)
        return weights


def _exponents(
    graph: g.Graph, normed: Iterable[Normed], seen: _Seen
) -> tuple[dict[Stored, NDArray[np.int64]], list[str]]:
    """Of all channels that have inputs, and a line of the report for each norm."""
    arrays = {parameter.name: parameter.arrays for parameter in g.parameters_of(graph)}
    found: dict[Stored, NDArray[np.int64]] = {}
    lines = []
    for of in normed:
        for channels in of.channels:
            weights = [arrays[name][index] for name, index in channels if name in of.linears]
            inputs = [seen.largest[array.name] for array in weights if array.name in seen.largest]
            if not inputs:
                continue
            largest = np.max(inputs, axis=0)
            powers = exponents_of(largest, np.max([_largest(array) for array in weights], axis=0))
            found |= dict.fromkeys(channels, powers)
            for name, index in channels:
                if name in of.norms:
                    before, after = _outliers(largest), _outliers(np.ldexp(largest, -powers))
                    lines.append(f"  {printable(arrays[name][index].name):<58} {before:9.1f} {after:12.1f}")
    return found, lines


def _largest(weight: Array) -> F64Array:
    """Of each input, the largest weight."""
    return np.abs(weight.values).max(axis=0).astype(np.float64)


def _outliers(largest: F64Array) -> float:
    middle = float(np.median(largest))
    return float(largest.max()) / middle if middle > 0 else 0.0
