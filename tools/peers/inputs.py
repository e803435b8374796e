# SPDX-License-Identifier: Apache-2.0
"""The texts that are timed, and labelled ones for accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer

from codegen.errors import EtchError
from codegen.files.outside_files import NamedFile
from codegen.files.table_file import split_rows

CLASS_COLUMN = "label"


@dataclass(frozen=True)
class Input:
    name: str
    text: str
    ids: list[int]  # specials included


@dataclass(frozen=True)
class Labelled:
    text: str
    label: int


class InputError(Exception):
    """What the user asked for does not fit the model or the file."""


def open_tokenizer(checkpoint: Path, max_tokens: int) -> Tokenizer:
    """Hugging Face's own, cutting long texts as etch does, without padding."""
    path = checkpoint / "tokenizer.json"
    if not path.exists():
        raise InputError(f"{checkpoint}: tokenizer.json is needed")
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def of_length(tokenizer: Tokenizer, tokens: int, max_tokens: int) -> Input:
    """A text of exactly so many tokens, made of words that are one token each."""
    if not 3 <= tokens <= max_tokens:
        raise InputError(f"length {tokens} is not possible: the model takes 3 to {max_tokens} tokens")
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    words = []
    for piece, _ in vocabulary:
        if piece.isascii() and piece.isalpha() and len(tokenizer.encode(piece, add_special_tokens=False).ids) == 1:
            words.append(piece)
        if len(words) == tokens:
            break
    if not words:
        raise InputError("the vocabulary has no word of ASCII letters")
    text = " ".join(words[index % len(words)] for index in range(tokens - 2))
    ids = tokenizer.encode(text).ids
    if len(ids) != tokens:
        raise InputError(f"could not make a text of {tokens} tokens, only of {len(ids)}")
    return Input(f"{tokens} tokens", text, ids)


def _content(path: Path, what: str) -> str:
    try:
        return NamedFile(path, what, "compare").text()
    except EtchError as error:
        raise InputError(f"{path}: {error.message}") from error


def read_texts(path: Path, tokenizer: Tokenizer, limit: int) -> list[Input]:
    """One text a line."""
    lines = [line for line in _content(path, "texts").splitlines() if line.strip()][:limit]
    if not lines:
        raise InputError(f"{path}: no text")
    inputs = [(line, tokenizer.encode(line).ids) for line in lines]
    return [Input(f"line {number}, {len(ids)} tokens", line, ids) for number, (line, ids) in enumerate(inputs, 1)]


def read_labelled(path: Path, labels: list[str], limit: int) -> list[Labelled]:
    """Rows label, text, text... as AG News has them: a number from 1 on or a label's name; the texts are joined. A
    header, where there is one, names a column `label`; every other column then is text."""
    try:
        rows = [row for _, row in split_rows(_content(path, "table"), path)]
    except EtchError as error:
        raise InputError(f"{path}: {error.message}") from error
    column = 0
    if rows and CLASS_COLUMN in rows[0]:
        column = rows[0].index(CLASS_COLUMN)
        rows = rows[1:]
    found = []
    for number, row in enumerate(rows[:limit], 1):
        if len(row) < 2:
            raise InputError(f"{path}: row {number} has no label and text")
        name = row[column]
        if name in labels:
            label = labels.index(name)
        elif name.isdecimal() and 1 <= int(name) <= len(labels):
            label = int(name) - 1
        else:
            raise InputError(f"{path}: row {number}: '{name}' is no label of the model")
        found.append(Labelled(" ".join(row[:column] + row[column + 1 :]), label))
    if not found:
        raise InputError(f"{path}: no rows")
    return found
