# SPDX-License-Identifier: Apache-2.0
"""What `verify` finds between the texts that a built model writes, the checkpoint in float64 and the contract, and how
it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..emulate.beams import Written
from ..emulate.generation import Generation
from ..emulate.together import logits_of
from ..errors import printable
from ..ir.program import Program
from ..ir.target_tokenizer import TargetTokenizer
from ..library_tokenizer.spelled import Speller
from ..library_tokenizer.wheel_tokenizer import WheelEncoding
from ..oracle.interpret import Interpreter
from ..process.progress import advance
from .comparison import LARGEST_DIFFERENCE, counted, verdict

_SHOWN = 60  # characters of a text that differs


@dataclass(frozen=True)
class Told:
    """One that is written, as the program tells it."""

    text: str
    score: np.float32
    reason: str


@dataclass(frozen=True)
class WrittenAnswer:
    """What the program says about one input: of a search all that it found, the best first."""

    found: tuple[Told, ...]
    tokens: int
    truncated: bool
    ids: list[int]


@dataclass(frozen=True)
class ComparisonOfTexts:
    """Lists hold indices of texts."""

    recipe: str
    max_tokens: int
    max_target: int
    beams: int
    texts: int
    tokens: int  # that were written
    largest: float
    mean: float
    changed: list[str]  # a line for each text that is another one than the reference's
    other_ids: list[int]
    other_texts: list[int]  # whose texts, scores or ends are not the contract's

    @property
    def holds(self) -> bool:
        """As of Comparison."""
        if self.other_ids or self.other_texts:
            return False
        return self.recipe != "fp32" or self.largest <= LARGEST_DIFFERENCE

    def report(self) -> Iterator[str]:
        """All that `verify` prints."""
        search = "greedy" if self.beams == 1 else f"{self.beams} beams"
        yield (
            f"texts        {self.texts}, recipe {self.recipe}, at most {self.max_tokens} tokens, "
            f"{self.max_target} written, {search}"
        )
        yield f"ids          {counted(self.other_ids, self.texts)} other than the tokenizers wheel's"
        wrong = counted(self.other_texts, self.texts)
        yield f"contract     {wrong} with a text, score or end other than the contract's, bit for bit"
        bound = f" (bound {LARGEST_DIFFERENCE:g})" if self.recipe == "fp32" else ""
        yield (
            f"logits       |difference| to the float64 reference: max {self.largest:.3g}{bound}, "
            f"mean {self.mean:.3g}, of {self.tokens} tokens that were written"
        )
        yield f"texts        {len(self.changed)} of {self.texts} other than the reference's"
        yield from self.changed
        yield verdict(self.recipe, holds=self.holds)


def options_of(program: Program) -> tuple[str, ...]:
    """Of the built program, so that it tells all that it found, and draws nothing."""
    rules = program.target_rules
    if rules is None:
        return ()
    beams = ("--nbest", str(rules.search.beams)) if rules.search.beams > 1 else ()
    return beams if rules.sampling is None else (*beams, "--temperature", "0")


def answer_of(answer: Mapping[str, Any], tokens: Mapping[str, Any]) -> WrittenAnswer:
    """Of lines of --json and --tokens; KeyError, TypeError or ValueError where they are none."""
    found = answer.get("nbest", [answer])
    return WrittenAnswer(
        tuple(Told(str(one["text"]), np.float32(one["score"]), str(one["reason"])) for one in found),
        answer["tokens"],
        answer["truncated"],
        tokens["ids"],
    )


def compare_texts(
    program: Program,
    target: TargetTokenizer,
    reference: Interpreter,
    encodings: Sequence[WheelEncoding],
    answers: Sequence[WrittenAnswer],
) -> ComparisonOfTexts:
    """The contract is computed for each text, then its best sequence's logits in float64."""
    rules, speller = program.target_rules, Speller(target)
    assert rules is not None
    largest, total, count = [0.0], 0.0, 0
    changed, other_ids, other_texts, tokens = [], [], [], 0
    for i, (encoding, answer) in enumerate(zip(encodings, answers, strict=True)):
        ids = list(encoding.ids) if rules.begin else list(rules.read_first(encoding.ids))
        if (answer.ids, answer.tokens, answer.truncated) != (encoding.ids, len(ids), bool(encoding.overflowing)):
            other_ids.append(i)
        before = () if rules.begin else ids
        expected = Generation(program, ids, [0] * len(ids)).written()
        if [_bits(one) for one in answer.found] != [_bits(_told(one, before, speller)) for one in expected]:
            other_texts.append(i)
        best = expected[0].tokens
        tokens += len(best)
        advance()
        (ours,) = logits_of(program, [ids], [best])
        differences = np.abs(ours - reference.logits(ids, [0] * len(ids), best[:-1]))
        largest.append(float(differences.max()))
        total, count = total + float(differences.sum()), count + differences.size
        if (exact := _of_reference(reference, program, ids)) != best:
            both = (repr(speller.text(one, before)[:_SHOWN]) for one in (exact, best))
            changed.append("  text {}: reference {}; here {}".format(i + 1, *map(printable, both)))
        advance()
    return ComparisonOfTexts(
        recipe=program.recipe,
        max_tokens=program.max_tokens,
        max_target=rules.max_tokens,
        beams=rules.search.beams,
        texts=len(answers),
        tokens=tokens,
        largest=float(np.max(largest)),  # not a number where one is none
        mean=total / max(count, 1),
        changed=changed,
        other_ids=other_ids,
        other_texts=other_texts,
    )


def _told(one: Written, before: Sequence[int], speller: Speller) -> Told:
    return Told(speller.text(one.tokens, before), one.score, "end" if one.by_itself else "length")


def _bits(one: Told) -> tuple[str, bytes, str]:
    return one.text, one.score.tobytes(), one.reason


def _of_reference(reference: Interpreter, program: Program, ids: Sequence[int]) -> tuple[int, ...]:
    """The tokens that float64 writes."""
    assert program.target_rules is not None
    segments, search = [0] * len(ids), program.target_rules.search
    if search.beams > 1:
        return reference.beams(ids, segments, search)[0].tokens
    return tuple(reference.generate(ids, segments))
