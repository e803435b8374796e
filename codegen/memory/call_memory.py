# SPDX-License-Identifier: Apache-2.0
"""What calls keep in the plan beside the buffers of a program: ids, what is written, and what a task asks for."""

from __future__ import annotations

from ..ir import program as p
from ..ir import walks
from ..ir.global_rows import Before, Behind
from ..ir.op import parts_of
from ..targets import PANEL_WIDTH
from .placement import Life

_TEXT_ROWS_BYTES = 20  # sizeof(etch::TextRows)
_WRITING_BYTES = 152  # sizeof(etch::Writing)
_BEAMS_BYTES = 1792  # sizeof(etch::Beams)
_QUESTION_STATE_BYTES = 1984  # etch::QuestionState, and what aligns the arrays behind it


def most_texts(tokens: int) -> int:
    """etch::most_texts."""
    return -(-tokens // PANEL_WIDTH)


def question_bytes(tokens: int, most_pieces: int) -> int:
    """As much as sizeof(etch::QuestionMemory), or a little more."""
    return _QUESTION_STATE_BYTES + 12 * tokens + 13 * (tokens + most_pieces + 1)


def lives_of_calls(program: p.Program, last: int, tokenizer_scratch_bytes: int, most_pieces: int) -> dict[str, Life]:
    """By name, of a program whose last op has this number; the tokenizer's scratch is one word and its pieces."""
    tokens = program.max_tokens
    begin, end = 0, _last_lookup(program)
    texts = most_texts(tokens)
    planned = {
        "texts": Life(_TEXT_ROWS_BYTES * texts, begin, last),
        "ids": Life(4 * tokens, begin, max(end, _last_end(program))),
        "segments": Life(tokens, begin, max(end, _last_of_segments(program))),
        "tokenizer": Life(tokenizer_scratch_bytes, begin, begin),
    }
    levels = walks.levels_of(program)
    if levels:  # of each level its texts, and once more with keys of the level before
        planned["pooled_texts"] = Life(2 * levels * _TEXT_ROWS_BYTES * texts, begin, last)
    if program.target_rules is not None:
        most, beams = program.target_rules.max_tokens, program.target_rules.search.beams
        sizes_of_steps = {"written": 4 * most * beams}
        if beams > 1:
            sizes_of_steps |= {"parents": most * beams, "path": 4 * most}
            if program.target_rules.restrictions:
                sizes_of_steps["history"] = 4 * most * beams
            planned["beams"] = Life(_BEAMS_BYTES, begin, last)
        for name, size in sizes_of_steps.items():
            planned[name] = Life(size, _first_of_steps(program), last)
        planned["writing"] = Life(_WRITING_BYTES * beams, begin, last)
    if program.task.asks:  # the tokenizer goes on behind each window
        planned["tokenizer"].last = last
        planned["question"] = Life(question_bytes(tokens, most_pieces), begin, last)
    for name, size in program.task.token_bytes.items():
        planned[name] = Life(size * tokens, begin, last)
    for name, size in program.task.call_bytes.items():
        planned[name] = Life(size, begin, last)
    return planned


def _first_of_steps(program: p.Program) -> int:
    """The number of the first op that is repeated for each step, or of the one behind the last."""
    index = 1
    for step in program.steps:
        if isinstance(step, p.Repeat) and step.over == "steps":
            return index
        index += sum(1 for _ in walks.ops_in(step))
    return index


def _last_lookup(program: p.Program) -> int:
    """Of the ops the last one that reads the ids of the text: in every step where what is written begins with it."""
    if program.target_rules is not None and not program.target_rules.begin:
        return len(walks.ops_of(program))
    ops = walks.ops_of(program)[: _first_of_steps(program) - 1]
    return max(i for i, op in enumerate(ops, 1) if any(isinstance(part, p.EmbeddingTerm) for part in parts_of(op)))


def _last_of_segments(program: p.Program) -> int:
    """Of the ops the last one whose scores depend on segments; 0: none."""
    ops = enumerate(walks.ops_of(program), 1)
    return max((i for i, op in ops if isinstance(op, p.Attention) and op.pooled is not None), default=0)


def _last_end(program: p.Program) -> int:
    """Of the ops the last one that looks for the end of a text, or of its first rows, in its ids, or the last of a head
    where one does, or looks entries up: the next text's ids are read behind it. 0: none does."""
    last, index = 0, 0
    for step in program.steps:
        ops = list(walks.ops_in(step))
        found = [i for i, op in enumerate(ops, index + 1) if _looks_for_an_end(op) or isinstance(op, p.EmbeddingMean)]
        index += len(ops)
        if found:
            last = index if isinstance(step, p.Repeat) else found[-1]
    return last


def _looks_for_an_end(op: p.Op) -> bool:
    rows = (op.global_rows, op.only) if isinstance(op, p.Attention) else (walks.only_rows(op),)
    by_id = any(isinstance(each, Before | Behind) for each in rows)
    return by_id or isinstance(op, p.RowOfToken) or (isinstance(op, p.Pool) and op.end is not None)
