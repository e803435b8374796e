# SPDX-License-Identifier: Apache-2.0
"""Golden texts: a few texts of our own writing with the ids and outputs that the built model must give, bit for bit.

Ids come from the `tokenizers` wheel, outputs from the contract's NumPy form. Together the texts touch every kind of
input: accents, CJK, emoji, punctuation, the empty text, a typed special token, a text that fills the model to its last
token.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .emulate import emulate_outputs
from .emulate.generation import Generation
from .ir import program as p
from .ir import walks
from .ir.stage import Stage
from .ir.target_tokenizer import TargetTokenizer
from .ir.text import Text, in_batches
from .ir.tokenizer_spec import TokenizerSpec
from .library_tokenizer.encoding import takes
from .library_tokenizer.spelled import Speller
from .library_tokenizer.wheel_tokenizer import WheelTokenizer, text_tokenizer
from .process.progress import advance, stage

# No line breaks: texts also travel as lines of a file.
SHORT_TEXTS = (
    "The central bank left interest rates unchanged on Tuesday, surprising investors.",
    "",
    "Café Zoë's crème brûlée won the naïve jury over: 9.5 out of 10!",
    "東京の新しい駅が開業した。 한국어 뉴스도 있습니다.",
    "Goal!!! 🎉 What a match 👩\u200d👩\u200d👧 — 3:2 after extra time…",
    "Typed [SEP] tokens and [MASK] stay tokens",
    "C++17, $4.99 (50% off), e-mail: a.b@example.org; see https://example.org/x?y=1&z=~2",
)

_SENTENCES = (
    "Researchers have built a small computer that listens for rain and tells the farm when to water its fields.",
    "In the second half the visitors pressed harder, and a late penalty decided the final.",
    "Shares of the carrier fell after it warned that fuel would cost more than planned.",
    "Negotiators met again in Genève, but neither side would say whether a truce is near.",
    "The museum reopens in spring with 1,200 drawings that were never shown before.",
)

# What a model's golden texts may cost together, estimated from constants so that every machine chooses the same texts.
# Measured on one Zen 4 core: enough for BERT-base with 512 tokens in w8a8, for MiniLM-L6 with 512 in fp32, for two
# texts of GPT-2 in w8a8. Of one row a product takes the time that its weights take to be read.
_BUDGET_SECONDS = 6.0
_SECONDS_PER_MULTIPLY_ADD = {"s8": 0.07e-9, "f32": 0.7e-9}
_SECONDS_PER_WEIGHT_OF_ONE_ROW = {"s8": 0.6e-9, "f32": 6e-9}
_SECONDS_PER_SCORE = 10e-9
_OF_TOKENS = ("tokens", "block")  # buffers that have a row for each token
_LEAST_LONG_TEXT = 16  # tokens
GOLDEN_TARGET, GOLDEN_BYTES = 16, 64  # etch::kGoldenTarget and kGoldenBytes, of what a model writes


@dataclass(frozen=True)
class Golden:
    """A text as UTF-8 without line breaks, and what comes out of it."""

    text: bytes
    ids: tuple[int, ...]
    truncated: bool
    output: NDArray[np.float32] | NDArray[np.int32]  # logits, values, an embedding or the first tokens that are written
    spelled: bytes = b""  # the text of these tokens, or of the first ones of them
    others: tuple[NDArray[np.float32], ...] = ()  # of several heads those behind the first

    @property
    def outputs(self) -> tuple[NDArray[np.float32] | NDArray[np.int32], ...]:
        """Of every head."""
        return (self.output, *self.others)


def make_golden(program: p.Program, spec: TokenizerSpec, target: TargetTokenizer | None = None) -> tuple[Golden, ...]:
    """The golden texts of a model with what comes out of them; `target` makes texts of what it writes."""
    tokenizer = text_tokenizer(spec, program.max_tokens)
    texts = golden_texts(program, spec)
    encodings = [tokenizer.encode(text) for text in texts]
    begin = [] if program.target_rules is None else list(program.target_rules.read_first(()))
    with stage("golden", "text", len(texts)):
        read = [Text(encoding.ids or begin, encoding.type_ids) for encoding in encodings]
        outputs = list(_answers(program, read) if program.target_rules is None else _written(program, read))
    goldens = []
    for text, encoding, asked, (output, *others) in zip(texts, encodings, read, outputs, strict=True):
        spelled = b""
        if target is not None and (rules := program.target_rules) is not None:
            before = [] if rules.begin else asked.ids
            spelled = _spelled(target, before, output.tolist(), ended=rules.ended(output.tolist()))
        cut = bool(encoding.overflowing)
        goldens.append(Golden(text.encode(), tuple(asked.ids), cut, output, spelled, tuple(others)))
    return tuple(goldens)


def _answers(program: p.Program, texts: Sequence[Text]) -> Iterator[tuple[NDArray, ...]]:
    """The outputs of each text. Several at once, for what weights are as floats is made once for them: as many tokens
    as the longest one has alone, which take no more memory."""
    lengths = [len(text.ids) for text in texts]
    for batch in in_batches(lengths, max(lengths)):
        yield from zip(*emulate_outputs(program, [texts[i] for i in batch]), strict=True)
        advance(len(batch))


def _written(program: p.Program, texts: Sequence[Text]) -> Iterator[tuple[NDArray]]:
    """The first tokens behind each text."""
    for text in texts:
        generation = Generation(program, text.ids, [0] * len(text.ids))
        yield (np.array(generation.greedy(capacity=GOLDEN_TARGET)[0], np.int32),)
        advance()


def _spelled(target: TargetTokenizer, before: Sequence[int], ids: Sequence[int], *, ended: bool) -> bytes:
    """Of as many tokens as fit, in whole characters that no further token changes, of which there are none where they
    have `ended`; behind a text of the tokens `before`, without a last character that is cut."""
    speller = Speller(target)
    last = len(ids) if ended else None
    counts = (count for count in range(len(ids), 0, -1) if count == last or not speller.may_change(ids[:count]))
    whole = (speller.text(ids[:count], before).rstrip("\ufffd").encode() for count in counts)
    return next((text for text in whole if len(text) <= GOLDEN_BYTES), b"")


def golden_texts(program: p.Program, spec: TokenizerSpec) -> list[str]:
    """Short ones, then a long one.

    The short texts are taken in order while they fit in half of the budget, the first one always. Left out are texts
    without tokens where the model refuses these: the empty one, where the tokenizer adds none. The rest of the budget
    is for the long text: more than `max_tokens` tokens, so that it is cut, or where that would take too long, as many
    as fit.
    """
    tokenizer = text_tokenizer(spec, program.max_tokens)
    texts: list[str] = []
    spent = 0.0
    for text in (*program.task.golden_texts, *SHORT_TEXTS):
        ids = tokenizer.encode(text).ids
        if not takes(program, ids):
            continue
        seconds = estimated_seconds(program, len(ids))
        if not texts or spent + seconds <= _BUDGET_SECONDS / 2:
            texts.append(text)
            spent += seconds
    return texts + _long_text(program, tokenizer, _BUDGET_SECONDS - spent)


def estimated_seconds(program: p.Program, tokens: int) -> float:
    """Of emulating one text, the same estimate on every machine; of a generative model with the tokens that are
    written behind it."""
    total = 0.0
    for step in program.steps:
        steps = _golden_steps(program, tokens) if isinstance(step, p.Repeat) else 1
        for op, loop in walks.located(step):
            total += SECONDS(op, steps * (1 if loop is None else loop.count), tokens, steps)
    return total


def _golden_steps(program: p.Program, tokens: int) -> int:
    """How often what repeats is run for one text."""
    if program.target_rules is None:
        return 1
    read_first = len(program.target_rules.begin) or max(1, tokens)
    return read_first - 1 + min(program.target_rules.max_tokens, GOLDEN_TARGET)


# Of an op that is run so often, for so many tokens, in so many steps; 0 of what is little beside others.
SECONDS: Stage[float] = Stage("golden")


@SECONDS.on(p.Linear)
def _linear(op: p.Linear, runs: int, tokens: int, steps: int) -> float:
    return runs * op.input.width * op.out.width * _seconds_of_rows(op.kind, op.out, tokens)


@SECONDS.on(p.ExpertLinear)
def _expert_linear(op: p.ExpertLinear, runs: int, tokens: int, steps: int) -> float:
    return op.out.times * runs * op.input.width * op.out.width * _seconds_of_rows(op.kind, op.out, tokens)


@SECONDS.on(p.WordWeights)
def _word_weights(op: p.WordWeights, runs: int, tokens: int, steps: int) -> float:
    return runs * op.input.width * op.out.width * _seconds_of_rows(op.kind, op.input, tokens)


@SECONDS.on(p.Attention)
def _attention(op: p.Attention, runs: int, tokens: int, steps: int) -> float:
    keys = (steps + 1) / 2 if op.keys.rows == "steps" else tokens  # of those that are written half, on average
    scores = runs * keys * op.shape.heads
    rows = 1 if op.context.rows not in _OF_TOKENS else op.only if isinstance(op.only, int) else tokens
    return scores * (rows * _SECONDS_PER_SCORE + 2 * op.shape.width * _seconds_of_rows(op.kind, op.context, rows))


@SECONDS.on(p.FourierRows)
def _fourier_rows(op: p.FourierRows, runs: int, tokens: int, steps: int) -> float:
    return runs * tokens * op.input.width * _seconds_of_rows("f32", op.out, tokens)


def _seconds_of_rows(kind: p.Kind, out: p.Buffer, tokens: int) -> float:
    """Of all rows of a product, for each of the weights or keys that they are multiplied with."""
    if out.rows not in _OF_TOKENS:
        return _SECONDS_PER_WEIGHT_OF_ONE_ROW[kind]
    return tokens * _SECONDS_PER_MULTIPLY_ADD[kind]


@SECONDS.on(*(p.EmbeddingSum, p.Norm, p.Quantize, p.Multiply, p.Add, p.CausalConvolution, p.Rotary, p.PackKeys))
@SECONDS.on(p.PackRows, p.CenteredConvolution, p.DynamicConvolution, p.Upsample, p.Copy, p.DeltaRule, p.StateSpace)
@SECONDS.on(p.GroupRows, p.FirstRow, p.SpreadRows, p.RowOfToken)
@SECONDS.on(*(p.PackKeyRows, p.PackValues, p.Gru, p.Pool, p.Masked, p.Best, p.Normalize, p.Softmax, p.Cap))
@SECONDS.on(p.Xielu, p.EmbeddingMean, p.ChooseExperts, p.SelectRows, p.MixExperts)
def _little(op: p.Op, runs: int, tokens: int, steps: int) -> float:
    return 0.0


def _long_text(program: p.Program, tokenizer: WheelTokenizer, seconds: float) -> list[str]:
    """One text, or none where not even a few words fit."""
    limit = program.max_tokens
    while limit > 0 and estimated_seconds(program, limit) > seconds:
        limit = limit * 7 // 8
    cut = limit == program.max_tokens
    if not cut and limit < _LEAST_LONG_TEXT:
        return []
    words: list[str] = []
    tokens = 2  # [CLS] and [SEP]
    for word in _words():
        tokens += len(tokenizer.encode(word, add_special_tokens=False).ids)
        if tokens > limit and not cut:
            break
        words.append(word)
        if tokens > limit:
            break
    return [" ".join(words)]


def _words() -> Iterator[str]:
    while True:
        for sentence in _SENTENCES:
            yield from sentence.split()
