# SPDX-License-Identifier: Apache-2.0
"""What `verify` finds between a built model's answers, the checkpoint in float64 and the contract, and how it reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..emulate import emulate_texts
from ..errors import EtchError
from ..ir.program import Program
from ..ir.text import Text, in_batches
from ..library_tokenizer.wheel_tokenizer import WheelEncoding
from ..oracle.interpret import Interpreter
from ..process.progress import advance

# The bound of the fp32 recipe. A label can then change only where the reference's top two lie within twice as much.
# Embeddings that are not normalized are not near 1: their differences count relative to their largest value.
LARGEST_DIFFERENCE = 1e-4

_TOKENS_AT_ONCE = 4096
_LISTED = 20  # inputs with wrong ids or bits that are named


@dataclass(frozen=True)
class Answer:
    """What the program says about one input."""

    label: str | None  # of the largest logit, where the task has labels
    output: NDArray[np.float32]  # logits, values or embedding
    tokens: int
    truncated: bool
    ids: list[int]


@dataclass(frozen=True)
class Comparison:
    """Inputs are texts, then pairs; lists hold their indices."""

    recipe: str
    max_tokens: int
    outputs: str
    texts: int
    pairs: int
    largest: float
    mean: float
    cosines: list[float]  # of embeddings to the reference's; else empty
    changed: list[str] | None  # a line for each input with other labels than the reference's; None without labels
    other_ids: list[int]
    other_bits: list[int]  # inputs whose output is not the contract's; empty for the fp32 recipe
    contradictions: list[int]  # inputs whose label is not that of the largest logit

    @property
    def holds(self) -> bool:
        """Whether it is what the recipe promises: fp32 a bound, integers the contract's bits."""
        if self.other_ids or self.other_bits or self.contradictions:
            return False
        return self.recipe != "fp32" or self.largest <= LARGEST_DIFFERENCE

    def report(self) -> Iterator[str]:
        """All that `verify` prints."""
        exact = self.recipe == "fp32"
        inputs = self.texts + self.pairs
        yield (f"texts        {self.texts}, pairs {self.pairs}, recipe {self.recipe}, at most {self.max_tokens} tokens")
        yield f"ids          {counted(self.other_ids, self.texts)} other than the tokenizers wheel's"
        if not exact:
            wrong = counted(self.other_bits, self.texts)
            yield f"contract     {wrong} with {self.outputs} other than the contract's, bit for bit"
        if self.contradictions:
            wrong = counted(self.contradictions, self.texts)
            yield f"labels       {wrong} with a label that is not the largest logit's"
        bound = f" (bound {LARGEST_DIFFERENCE:g})" if exact else ""
        yield (
            f"{self.outputs:<12} |difference| to the float64 reference: max {self.largest:.3g}{bound}, "
            f"mean {self.mean:.3g}"
        )
        if self.cosines:
            yield (
                f"cosine       to the float64 reference: least {min(self.cosines):.6f}, "
                f"mean {float(np.mean(self.cosines)):.6f}"
            )
        if self.changed is not None:
            yield f"labels       {len(self.changed)} of {inputs} other than the reference's"
            yield from self.changed
        yield verdict(self.recipe, holds=self.holds)


def verdict(recipe: str, *, holds: bool) -> str:
    """The last line of a comparison."""
    if recipe == "fp32":
        return f"result       {'within' if holds else 'OUTSIDE'} the bound of fp32"
    if holds:
        return f"result       the contract's bits ({recipe} sets no bound on the difference to the reference)"
    return "result       NOT what the contract says: see above"


def counted(found: list[int], texts: int) -> str:
    """How many inputs, and which."""
    if not found:
        return "0"
    listed = ", ".join(name(i, texts) for i in found[:_LISTED]) + (", …" if len(found) > _LISTED else "")
    return f"{len(found)} ({listed})"


def name(index: int, texts: int) -> str:
    """Of an input, counted from 1."""
    return f"text {index + 1}" if index < texts else f"pair {index - texts + 1}"


def compare(
    program: Program, reference: Interpreter, encodings: Sequence[WheelEncoding], answers: Sequence[Answer], texts: int
) -> Comparison:
    """The first `texts` inputs are single texts, the others pairs."""
    task = program.task
    differences, cosines, changed, other_ids, contradictions = [], [], [], [], []
    for i, (encoding, answer) in enumerate(zip(encodings, answers, strict=True)):
        ours = answer.output
        rows = task.rows_in(answer.ids)
        if ours.shape != ((task.outputs,) if rows is None else (rows, task.outputs)):
            raise EtchError("other-outputs", "verify", f"the program has not {task.outputs} outputs: build again")
        expected = reference.output(encoding.ids, encoding.type_ids)
        if answer.ids == encoding.ids or task.rows == "text":
            difference = np.abs(task.compared(ours) - task.compared(expected))
            differences.append((difference / _unit(program, expected)).ravel())
        advance()
        if task.relative:
            cosines.append(_cosine(ours, expected))
        if (change := task.change(ours, expected)) is not None:
            changed.append(f"  {name(i, texts)}: {change}")
        if (answer.ids, answer.tokens, answer.truncated) != (
            encoding.ids,
            len(encoding.ids),
            bool(encoding.overflowing),
        ):
            other_ids.append(i)
        if task.says_label and answer.label != task.names[int(np.argmax(ours))]:
            contradictions.append(i)
    all_differences = np.concatenate(differences) if differences else np.empty(0)
    return Comparison(
        recipe=program.recipe,
        max_tokens=program.max_tokens,
        outputs=task.face.reported,
        texts=texts,
        pairs=len(answers) - texts,
        largest=float(all_differences.max(initial=0.0)),
        mean=float(all_differences.mean()) if all_differences.size else 0.0,
        cosines=cosines,
        changed=changed if task.has_labels else None,
        other_ids=other_ids,
        other_bits=[] if program.recipe == "fp32" else _other_bits(program, encodings, answers),
        contradictions=contradictions,
    )


def _unit(program: Program, expected: NDArray[np.float64]) -> float:
    return max(1.0, float(np.abs(expected).max())) if program.task.relative else 1.0


def _cosine(a: NDArray, b: NDArray) -> float:
    lengths = float(np.sqrt((a.astype(np.float64) ** 2).sum() * (b**2).sum()))
    return float((a * b).sum()) / lengths if lengths > 0 else 1.0


def _other_bits(program: Program, encodings: Sequence[WheelEncoding], answers: Sequence[Answer]) -> list[int]:
    found = []
    for batch in in_batches([len(encoding.ids) for encoding in encodings], _TOKENS_AT_ONCE):
        advance(len(batch))
        texts = [Text(encodings[i].ids, encodings[i].type_ids) for i in batch]
        for i, expected in zip(batch, emulate_texts(program, texts), strict=True):
            if answers[i].output.tobytes() != expected.tobytes():
                found.append(i)
    return found
