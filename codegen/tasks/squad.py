# SPDX-License-Identifier: Apache-2.0
"""Files of questions with their right answers, and exact match and F1 by the rules of SQuAD's evaluation script."""

from __future__ import annotations

import json
import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ..errors import EtchError
from ..files.json_rows import without_lone_surrogates
from ..files.outside_files import NamedFile
from ..files.table_file import MAX_ROWS, STAGE, Row, refused

ENDINGS = (".json", ".jsonl")


def read_questions(path: Path) -> list[Row]:
    """SQuAD's form, or an object a line with question, context and answer or all_answers; at least one. A row's texts
    are question and context, its value the answers as JSON."""
    if path.suffix not in ENDINGS:
        message = f"expected a file named {' or '.join(ENDINGS)}, got '{path.name}'"
        raise EtchError("table-kind", "arguments", message)
    text = NamedFile(path, "table", STAGE).text()
    rows = list(_of_squad(path, text) if path.suffix == ".json" else _of_lines(path, text))
    if not rows:
        raise EtchError("table-empty", STAGE, "no questions", file=path.name)
    if len(rows) > MAX_ROWS:
        raise refused(path, 1, f"there are more than {MAX_ROWS} questions, the most that are read")
    return rows


def _of_squad(path: Path, text: str) -> Iterator[Row]:
    root = _parsed(path, 1, text)
    for article in _member(path, 1, root, "data", list):
        for paragraph in _member(path, 1, article, "paragraphs", list):
            context = _member(path, 1, paragraph, "context", str)
            for asked in _member(path, 1, paragraph, "qas", list):
                answers = [_member(path, 1, a, "text", str) for a in _member(path, 1, asked, "answers", list)]
                yield _row(1, _member(path, 1, asked, "question", str), context, answers)


def _of_lines(path: Path, text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        row = _parsed(path, number, line)
        question = _member(path, number, row, "question", str)
        context = _member(path, number, row, "context", str)
        if "all_answers" in row:
            answers = _member(path, number, row, "all_answers", list)
            if not all(isinstance(answer, str) for answer in answers):
                raise refused(path, number, "'all_answers' are no texts")
            answers = [without_lone_surrogates(answer) for answer in answers]
        else:
            answers = [_member(path, number, row, "answer", str)] if "answer" in row else []
        yield _row(number, question, context, answers)


def _row(line: int, question: str, context: str, answers: list[str]) -> Row:
    return Row(line, json.dumps(answers), (question, context))


def _parsed(path: Path, line: int, text: str) -> Any:
    def constant(word: str) -> NoReturn:
        raise ValueError(f"{word} is not JSON")

    try:
        return json.loads(text, parse_constant=constant)
    except (ValueError, RecursionError):
        raise refused(path, line, "no JSON") from None


def _member(path: Path, line: int, value: Any, key: str, kind: type) -> Any:
    if not isinstance(value, dict) or not isinstance(value.get(key), kind):
        raise refused(path, line, f"expected an object with the {'text' if kind is str else 'list'} '{key}'")
    return without_lone_surrogates(value[key]) if kind is str else value[key]


def normalized(text: str) -> str:
    """In lower case, without ASCII punctuation and without a, an and the."""
    kept = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())


def f1(answer: str, right: Sequence[str]) -> float:
    """Of the words that both have; the best over the right answers, of which none means an empty one."""
    return max(_f1(normalized(answer).split(), normalized(one).split()) for one in right or [""])


def exact_match(answer: str, right: Sequence[str]) -> bool:
    """Whether it is one of them."""
    return any(normalized(answer) == normalized(one) for one in right or [""])


def _f1(answer: list[str], right: list[str]) -> float:
    if not answer or not right:
        return float(answer == right)
    return 2 * sum((Counter(answer) & Counter(right)).values()) / (len(answer) + len(right))
