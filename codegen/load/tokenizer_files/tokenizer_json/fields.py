# SPDX-License-Identifier: Apache-2.0
"""What every reader of a tokenizer.json asks of it: the fields of the whole file, objects by their type, a vocabulary,
added tokens. Each kind of tokenizer has a reader of its own, of fields that are known."""

from __future__ import annotations

from typing import Any

from tokenizers import Tokenizer

from ....errors import printable
from ....ir.tokenizer_spec import AddedToken
from ...refusal import kind, refusal, shown

FILE = "tokenizer.json"
PADDING_NOTE = f"{FILE} asks for padding: not used"
TOP_FIELDS = {
    "version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder",
    "model",
}  # fmt: skip
_ADDED = {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"}


def check_top(values: dict[str, Any]) -> None:
    """The fields of the whole file, and its version."""
    only_fields(values, "the file", TOP_FIELDS, required=TOP_FIELDS - {"version", "truncation", "padding", "decoder"})
    if values.get("version", "1.0") != "1.0":
        raise refusal("tokenizer-version", f"expected version '1.0', got {shown(values['version'])}", file=FILE)


def typed(value: object, where: str, *types: str) -> dict[str, Any]:
    """An object whose `type` is one of `types`."""
    found = value.get("type") if isinstance(value, dict) else value
    if not isinstance(value, dict) or found not in types:
        raise refusal(
            f"tokenizer-{where.replace('_', '-')}",
            f"{where} {shown(found)} is not supported (supported: {', '.join(types)})",
            file=FILE,
        )
    return value


def only_fields(value: dict[str, Any], where: str, known: set[str], required: set[str] | None = None) -> None:
    """Refuses fields that are not known, and those that are missing."""
    unknown = sorted(set(value) - known)
    if unknown:
        raise refusal("tokenizer-field", f"{where} has the unknown field {shown(unknown[0])}", file=FILE)
    missing = sorted((required or set()) - set(value))
    if missing:
        raise refusal("tokenizer-field", f"{where} lacks the field '{missing[0]}'", file=FILE)


def check_vocab(vocab: object, unknown: str | None, file: str = FILE) -> None:
    """Pieces to ids from 0 on, each once, without a gap; `unknown`, where there is one, is among them."""
    if not isinstance(vocab, dict):
        raise refusal("tokenizer-type", f"model.vocab must be an object, got {kind(vocab)}", file=file)
    owner: dict[int, str] = {}
    for piece, index in vocab.items():
        if type(index) is not int or index < 0:
            raise refusal(
                "vocab-id-type", f"the id of {shown(piece)} must be an integer from 0, got {shown(index)}", file=file
            )
        if index in owner:
            raise refusal(
                "vocab-duplicate-id", f"{shown(owner[index])} and {shown(piece)} both have the id {index}", file=file
            )
        owner[index] = piece
    if unknown is not None and unknown not in vocab:
        raise refusal("missing-special-token", f"the vocabulary has no {shown(unknown)}, the unk_token", file=file)
    gap = next((i for i in range(len(owner)) if i not in owner), None)
    if gap is not None:
        raise refusal(
            "vocab-gap", f"{len(owner)} pieces must have the ids 0..{len(owner) - 1}; none has {gap}", file=file
        )


def added_tokens(value: object, vocab: dict[str, int]) -> tuple[AddedToken, ...]:
    """The checked list of added tokens."""
    if not isinstance(value, list):
        raise refusal("tokenizer-type", f"added_tokens must be a list, got {kind(value)}", file=FILE)
    tokens: list[AddedToken] = []
    contents: set[str] = set()
    next_id = len(vocab)
    for i, item in enumerate(value):
        token = read_added_token(item, f"added_tokens[{i}]", FILE)
        if token.content in contents:
            raise refusal("added-token-conflict", f"{shown(token.content)} is added twice", file=FILE)
        # `tokenizers` gives a token its id in the vocabulary, or the next free one, whatever the file says.
        expected = vocab.get(token.content, next_id)
        if token.id != expected:
            raise refusal(
                "added-token-conflict",
                f"added token {shown(token.content)} has the id {token.id}, by the vocabulary it is {expected}",
                file=FILE,
            )
        next_id += expected == next_id
        contents.add(token.content)
        tokens.append(token)
    return tuple(tokens)


def read_added_token(item: object, where: str, file: str, index: int | None = None) -> AddedToken:
    """One added token; `index` is its id where the object itself does not hold it."""
    known = _ADDED if index is None else _ADDED - {"id"}
    if not isinstance(item, dict) or set(item) != known:
        raise refusal(
            "tokenizer-field", f"{where} must be an object with exactly {', '.join(sorted(known))}", file=file
        )
    for key in ("single_word", "lstrip", "rstrip", "normalized", "special"):
        if not isinstance(item[key], bool):
            raise refusal("tokenizer-type", f"{where}.{key} must be true/false, got {shown(item[key])}", file=file)
    number = item.get("id", index)
    if type(number) is not int or number < 0:
        raise refusal("tokenizer-type", f"{where}.id must be an integer from 0, got {shown(number)}", file=file)
    if not isinstance(item["content"], str) or not item["content"]:
        raise refusal(
            "tokenizer-type", f"{where}.content must be a non-empty string, got {shown(item['content'])}", file=file
        )
    return AddedToken(
        content=item["content"],
        id=number,
        special=item["special"],
        normalized=item["normalized"],
        single_word=item["single_word"],
        lstrip=item["lstrip"],
        rstrip=item["rstrip"],
    )


def wheel_of(text: str, file: str = FILE) -> Tokenizer:
    """What the `tokenizers` library reads, which refuses what nobody here looks at, too."""
    try:
        return Tokenizer.from_str(text)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # it has no class of its own; where Rust panics, none below Exception
        message = f"`tokenizers` does not read it: {printable(str(error))}"
        raise refusal("tokenizer-unreadable", message, file=file) from None


def notes_of(values: dict[str, Any]) -> tuple[str, ...]:
    """What the file asks for and nobody does here."""
    notes = []
    truncation = values.get("truncation")
    if isinstance(truncation, dict):
        if truncation.get("direction", "Right") != "Right":
            message = f"truncation: direction {shown(truncation['direction'])}: texts keep their beginning here"
            raise refusal("tokenizer-setting", message, file=FILE)
        notes.append(f"{FILE} truncates at {shown(truncation.get('max_length'))} tokens: not used")
    if values.get("padding") is not None:
        notes.append(PADDING_NOTE)
    return tuple(notes)
