# SPDX-License-Identifier: Apache-2.0
"""What tokenizers that classes of `transformers` have in Python share: pairs of symbols are merged, pieces looked up.

Merging goes through pieces that the vocabulary lacks: what is one in the end is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, replace
from typing import Any

from ....ir.tokenizer_spec import END_OF_WORD, GOES_ON, AddedToken, CharacterBpeModel, goes_on
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..folder_tokens import FolderTokens
from ..token_search import check_found_alike
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_json.fields import FILE as JSON_FILE
from ..vocab_text import MAX_BYTES, text_of

Merges = dict[tuple[str, str], int]  # ranks by two symbols; those at the end of a word have END_OF_WORD


def described_tokens(folder: CheckpointFolder) -> dict[str, Any] | None:
    """What is read of tokenizer.json."""
    described = folder.read_json(JSON_FILE) if folder.has(JSON_FILE) else None
    if described is not None and not (isinstance(model := described.get("model"), dict) and "vocab" in model):
        raise refusal("tokenizer-field", "it has no model.vocab", file=JSON_FILE)
    return described


def read_lines(folder: CheckpointFolder, file: str) -> list[str]:
    """As Python reads them: what is behind the last line feed is one, too."""
    text = text_of(folder.read(file, MAX_BYTES), file)
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def found_tokens(
    ids: dict[str, int], tokens: FolderTokens, file: str, is_piece: Callable[[str], bool]
) -> tuple[AddedToken, ...]:
    """Found as the library finds them; `ids` are those of `file`, `is_piece` says what a word may be merged to. Which
    of them are normalized does not matter: no text is."""
    plain = tuple(token.plain for token in tokens.named)  # whatever an object says
    added = replace(tokens, named=plain).of(ids)
    for token in added:
        text = token.content
        if ids.get(text, token.id) != token.id:
            message = f"{shown(text)} has the id {token.id}, in {file} it has {ids[text]}"
            raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
        if token.single_word or len(text) == 1 or is_piece(text):
            why = (
                "a token only where it is a word (single_word)" if token.single_word else "what a word may be merged to"
            )
            raise refusal("added-token-unsupported", f"{shown(text)} is {why}: not supported here", file=CONFIG_FILE)
    check_found_alike([token.content for token in added], CONFIG_FILE)
    owner = {token.id: token.content for token in added}
    for token in added:
        if owner[token.id] != token.content:
            message = f"{shown(token.content)} and {shown(owner[token.id])} both have the id {token.id}"
            raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
    return tuple(replace(token, normalized=False) for token in added)


def check_symbols(merges: Merges, texts: Collection[str], file: str, marked: Callable[[str], bool]) -> None:
    """Refuses symbols that could be taken for others, here or by the library, or for tokens; `marked` says which texts
    have marks of symbols as their own."""
    for (left, right), rank in merges.items():
        stem = right.removesuffix(END_OF_WORD)
        made = left + stem
        if not stem or END_OF_WORD in made or (stem != right and (marked(stem) or marked(made))):
            message = f"line {rank + 1}: {shown(left)} and {shown(right)} have marks of symbols as their text"
            raise refusal("tokenizer-merges", message, file=file)
        token = next((text for text in (left, stem, made) if text in texts), None)
        if token is not None:
            message = f"line {rank + 1} is about {shown(token)}, which is a token: not supported"
            raise refusal("tokenizer-merges", message, file=file)


def model_of(
    pieces: tuple[str, ...], merges: Merges, unknown_id: int, *, marks_goes_on: bool = False
) -> CharacterBpeModel:
    """Pieces by id, of which those that end a word have END_OF_WORD, or with `marks_goes_on` all others GOES_ON."""
    in_order = sorted(merges, key=merges.__getitem__)
    symbols = dict.fromkeys(symbol for pair in in_order for symbol in (*pair, "".join(pair)))
    piece = _with_goes_on if marks_goes_on else str
    number = {each: i for i, each in enumerate(pieces)}
    without_id = tuple(each for each in map(piece, symbols) if each not in number)
    number |= {each: i for i, each in enumerate(without_id, len(pieces))}
    return CharacterBpeModel(
        pieces=pieces,
        merges=tuple((number[piece(left)], number[piece(right)]) for left, right in in_order),
        ignore_merges=False,
        unknown_id=unknown_id,
        byte_fallback=False,
        fuse_unknown=False,
        without_id=without_id,
        marks_goes_on=marks_goes_on,
        marks_ends=not marks_goes_on,
    )


def _with_goes_on(symbol: str) -> str:
    return symbol.removesuffix(END_OF_WORD) if symbol.endswith(END_OF_WORD) else symbol + GOES_ON


def described(
    model: CharacterBpeModel,
    merges: Merges,
    added: Iterable[AddedToken],
    texts: Collection[str],
    template: dict[str, Any],
    words: dict[str, Any],
) -> dict[str, Any]:
    """As a tokenizer.json, where pieces without an id have those behind all others; `words` is its pre-tokenizer."""

    def symbol(piece: str) -> str:
        if not model.marks_goes_on:
            return piece
        return piece.removesuffix(GOES_ON) if goes_on(piece) else piece + END_OF_WORD

    vocab = {piece if piece in texts else symbol(piece): i for i, piece in enumerate(model.pieces) if piece}
    vocab |= {token.content: token.id for token in added}
    behind = max(vocab.values()) + 1
    vocab |= {symbol(piece): i for i, piece in enumerate(model.without_id, behind)}
    settings = {"dropout": None, "continuing_subword_prefix": None, "fuse_unk": False, "byte_fallback": False}
    in_order = sorted(merges, key=merges.__getitem__)
    unknown = model.pieces[model.unknown_id or 0]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [asdict(token) for token in added],
        "normalizer": None,
        "pre_tokenizer": words,
        "post_processor": template,
        "decoder": None,
        "model": {
            "type": "BPE",
            **settings,
            "unk_token": unknown,
            "end_of_word_suffix": END_OF_WORD,
            "vocab": vocab,
            "merges": [list(pair) for pair in in_order],
        },
    }
