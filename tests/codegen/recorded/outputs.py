# SPDX-License-Identifier: Apache-2.0
"""recorded.json: what a library computed for some token ids, in float32 and in float64."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
FILE = "recorded.json"


@dataclass(frozen=True)
class Tokens:
    """A text, or a pair, as ids."""

    ids: list[int]
    segments: list[int]  # all 0 where the family has none


Run = Callable[[Tokens], NDArray[np.floating]]


@dataclass(frozen=True)
class Recorded(Tokens):
    """One text with its outputs: logits, values or an embedding; probabilities of each token."""

    float32: NDArray[np.float32]
    float64: NDArray[np.float64]


def variants(family: str) -> list[str]:
    """The recorded checkpoint folders of a family, as `family/variant`; at least one."""
    found = sorted(f"{family}/{path.parent.name}" for path in (HERE / family).glob(f"*/{FILE}"))
    if not found:
        raise FileNotFoundError(f"nothing is recorded of {family}")
    return found


def folder(variant: str) -> Path:
    """The checkpoint folder of a variant."""
    return HERE / variant


def read_recorded(variant: str, root: Path = HERE) -> list[Recorded]:
    """What was recorded of a variant."""
    return [
        Recorded(
            item["ids"],
            item["segments"],
            np.array(item["float32"], np.float32),
            np.array(item["float64"], np.float64),
        )
        for item in json.loads((root / variant / FILE).read_text(encoding="utf-8"))["outputs"]
    ]


def write_recorded(folder: Path, source: str, texts: Iterable[Tokens], single: Run, double: Run) -> None:
    """Writes recorded.json in digits that give each float back."""
    items = []
    for text in texts:
        outputs32 = _listed(single(text).astype(np.float32), lambda value: f"{value:.9g}")
        outputs64 = _listed(double(text).astype(np.float64), repr)
        items.append(
            f'  {{"ids": {text.ids}, "segments": {text.segments},\n'
            f'   "float32": {outputs32},\n   "float64": {outputs64}}}'
        )
    lines = ",\n".join(items)
    (folder / FILE).write_text(f'{{"source": {json.dumps(source)},\n "outputs": [\n{lines}\n]}}\n', encoding="utf-8")


def _listed(outputs: NDArray[np.floating], digits: Callable[[float], str]) -> str:
    """As JSON: a list, or a list of rows."""
    if outputs.ndim > 1:
        return f"[{', '.join(_listed(row, digits) for row in outputs)}]"
    return f"[{', '.join(map(digits, outputs.tolist()))}]"


def recorded_answers(variant: str) -> list[dict[str, Any]]:
    """Of each question, context and settings: text, score, and characters [start, end) of the pipeline's answers."""
    contexts = json.loads((folder(variant) / "pipeline.json").read_text(encoding="utf-8"))
    return [
        {
            "question": each["question"],
            "context": (context := each["context"]),
            "settings": settings,
            "answers": [[context[begin:end], score, begin, end] for score, begin, end in answers],
        }
        for each in contexts
        for settings, answers in each["asked"]
    ]
