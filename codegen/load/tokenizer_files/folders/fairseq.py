# SPDX-License-Identifier: Apache-2.0
r"""PhobertTokenizer and BertweetTokenizer as `transformers` 5.23 makes them: words by `\S+\n?`, merged by bpe.codes of
fastBPE and looked up in vocab.txt, a dictionary of fairseq, where `@@` ends what a word goes on behind. A
tokenizer.json is read for its added tokens only.

Merging goes through pieces that the dictionary lacks: what is one in the end is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, replace
from typing import Any

from ....ir.tokenizer_spec import (
    END_OF_WORD,
    GOES_ON,
    AddedToken,
    CharacterBpeModel,
    LineWordSegmenter,
    NoNormalizer,
    TokenizerSpec,
    goes_on,
)
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..folder_tokens import ROBERTA_TOKENS, FolderTokens, read_tokens
from ..token_search import check_found_alike
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import check_is_added, check_unsupported, flag_of, read_config
from ..tokenizer_json.fields import FILE as JSON_FILE
from ..tokenizer_json.template import read_post_processor, template_of
from ..vocab_text import FILE as VOCAB_FILE
from ..vocab_text import MAX_BYTES, text_of

CODES_FILE = "bpe.codes"
_BERTWEET = "BertweetTokenizer"
CLASSES = ("PhobertTokenizer", _BERTWEET)
_FIRST = ("bos_token", "pad_token", "eos_token", "unk_token")  # have the ids from 0 on
# What Python's expressions take for no white space.
_NO_SPACE = r"[^\t-\r\x{1c}-\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]"

Merges = dict[tuple[str, str], int]  # ranks by two symbols; those at the end of a word have END_OF_WORD


def read_fairseq_folder(folder: CheckpointFolder, name: str) -> TokenizerSpec:
    """The checked tokenizer of one of `CLASSES`."""
    config = read_config(folder)
    check_unsupported(config, has_template=True)
    if name == _BERTWEET and flag_of(config, "normalization", False):
        message = (
            "'normalization': true rewrites texts by expressions that are not supported here: set it to false, and "
            f"give the model texts that normalizeTweet() of {_BERTWEET} has made"
        )
        raise refusal("tokenizer-setting", message, file=CONFIG_FILE)
    for file in (VOCAB_FILE, CODES_FILE):
        if not folder.has(file):
            raise refusal("tokenizer-missing", f"{name} needs {file}", file=file)
    tokens = read_tokens(folder, config, _described_tokens(folder), ROBERTA_TOKENS, rebuilds=True)
    ids = _read_vocab(folder, tokens)
    added = _added_tokens(ids, tokens)
    merges = _read_codes(folder)
    texts = {token.content for token in added} | {tokens.special[key] for key in _FIRST}
    _check_symbols(merges, texts)
    begin, end = tokens.special["cls_token"], tokens.special["sep_token"]
    in_all = ids | {token.content: token.id for token in added}
    template = template_of(f"{begin} $A {end}", f"{begin} $A {end} {end} $B {end}", in_all)
    model = _model(ids, merges, ids[tokens.special["unk_token"]])
    by_content = {token.content: token for token in added if token.special}
    for key, value, file in tokens.extra:
        check_is_added(value, key, by_content, VOCAB_FILE, file)
    return TokenizerSpec(
        normalizer=NoNormalizer(),
        segmenter=LineWordSegmenter(),
        model=model,
        template=read_post_processor(template, in_all).template,
        added_tokens=added,
        json=json.dumps(_described(model, merges, added, texts, template)),
        notes=(*tokens.notes, *_notes(added, name)),
    )


def _described_tokens(folder: CheckpointFolder) -> dict[str, Any] | None:
    """What is read of tokenizer.json."""
    described = folder.read_json(JSON_FILE) if folder.has(JSON_FILE) else None
    if described is not None and not (isinstance(model := described.get("model"), dict) and "vocab" in model):
        raise refusal("tokenizer-field", "it has no model.vocab", file=JSON_FILE)
    return described


def _lines(folder: CheckpointFolder, file: str) -> list[str]:
    """As Python reads them: what is behind the last line feed is one, too."""
    text = text_of(folder.read(file, MAX_BYTES), file)
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _read_vocab(folder: CheckpointFolder, tokens: FolderTokens) -> dict[str, int]:
    """The ids of the first tokens, and of the words behind them."""
    ids = {tokens.special[key]: i for i, key in enumerate(_FIRST)}
    if len(ids) < len(_FIRST):
        raise refusal("tokenizer-conflict", f"two of {', '.join(_FIRST)} are one token", file=CONFIG_FILE)
    lines = _lines(folder, VOCAB_FILE)
    for number, line in enumerate(lines[:-1] if lines[-1] == "" else lines):
        word, space, _ = line.strip().rpartition(" ")
        if not space:
            message = f"line {number + 1} is {shown(line)}, no word with a number behind it"
            raise refusal("vocab-gap", message, file=VOCAB_FILE)
        if word in ids:
            raise refusal("vocab-duplicate-piece", f"the word {shown(word)} is there twice", file=VOCAB_FILE)
        ids[word] = len(ids)
    return ids


def _added_tokens(ids: dict[str, int], tokens: FolderTokens) -> tuple[AddedToken, ...]:
    """Found as the library finds them. Which of them are normalized does not matter: no text is."""
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    plain = tuple(replace(token, **flags) for token in tokens.named)  # whatever an object says
    added = replace(tokens, named=plain).of(ids)
    for token in added:
        text = token.content
        if ids.get(text, token.id) != token.id:
            message = f"{shown(text)} has the id {token.id}, in {VOCAB_FILE} it has {ids[text]}"
            raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
        if token.single_word or len(text) == 1 or goes_on(text):
            why = (
                "a token only where it is a word (single_word)" if token.single_word else "what a word may be merged to"
            )
            raise refusal("added-token-unsupported", f"{shown(text)} is {why}: not supported here", file=CONFIG_FILE)
    check_found_alike([token.content for token in added], CONFIG_FILE)
    return tuple(replace(token, normalized=False) for token in added)


def _read_codes(folder: CheckpointFolder) -> Merges:
    """Two symbols and a number a line; of a pair that is there twice the last place counts."""
    merges: Merges = {}
    for rank, line in enumerate(_lines(folder, CODES_FILE)[:-1]):
        fields = line.split()
        if len(fields) != 3:
            message = (
                f"line {rank + 1} is {shown(line)}, not two symbols and a number. save_pretrained of {_BERTWEET} "
                "writes no numbers, and the library then merges nothing: take the file that the model was trained with"
            )
            raise refusal("tokenizer-merges", message, file=CODES_FILE)
        merges[fields[0], fields[1]] = rank
    return merges


def _check_symbols(merges: Merges, texts: Collection[str]) -> None:
    """Refuses symbols that could be taken for others, here or by the library, or for tokens."""
    for (left, right), rank in merges.items():
        stem = right.removesuffix(END_OF_WORD)
        made = left + stem
        if not stem or END_OF_WORD in made or (stem != right and (goes_on(stem) or goes_on(made))):
            message = f"line {rank + 1}: {shown(left)} and {shown(right)} have marks of symbols as their text"
            raise refusal("tokenizer-merges", message, file=CODES_FILE)
        token = next((text for text in (left, stem, made) if text in texts), None)
        if token is not None:
            message = f"line {rank + 1} is about {shown(token)}, which is a token: not supported"
            raise refusal("tokenizer-merges", message, file=CODES_FILE)


def _piece(symbol: str) -> str:
    return symbol.removesuffix(END_OF_WORD) if symbol.endswith(END_OF_WORD) else symbol + GOES_ON


def _model(ids: dict[str, int], merges: Merges, unknown_id: int) -> CharacterBpeModel:
    in_order = sorted(merges, key=merges.__getitem__)
    symbols = dict.fromkeys(symbol for pair in in_order for symbol in (*pair, "".join(pair)))
    without_id = tuple(piece for piece in map(_piece, symbols) if piece not in ids)
    number = ids | {piece: i for i, piece in enumerate(without_id, len(ids))}
    return CharacterBpeModel(
        pieces=tuple(ids),
        merges=tuple((number[_piece(left)], number[_piece(right)]) for left, right in in_order),
        ignore_merges=False,
        unknown_id=unknown_id,
        byte_fallback=False,
        fuse_unknown=False,
        without_id=without_id,
        marks_goes_on=True,
    )


def _described(
    model: CharacterBpeModel,
    merges: Merges,
    added: tuple[AddedToken, ...],
    texts: Collection[str],
    template: dict[str, Any],
) -> dict[str, Any]:
    """As a tokenizer.json, where pieces without an id have those behind all others."""
    vocab = {piece if piece in texts else _symbol(piece): i for i, piece in enumerate(model.pieces) if piece}
    vocab |= {token.content: token.id for token in added}
    behind = max(vocab.values()) + 1
    vocab |= {_symbol(piece): i for i, piece in enumerate(model.without_id, behind)}
    words = {"type": "Split", "pattern": {"Regex": f"{_NO_SPACE}+\\n?"}, "behavior": "Removed", "invert": True}
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


def _symbol(piece: str) -> str:
    return piece.removesuffix(GOES_ON) if goes_on(piece) else piece + END_OF_WORD


def _notes(added: tuple[AddedToken, ...], name: str) -> tuple[str, ...]:
    """What `transformers` makes otherwise of special tokens that a text has."""
    if not any(token.lstrip or token.rstrip for token in added):
        return ()
    return (f"a line feed beside U+001C to U+001F and a token that strips white space stays, {name} strips it",)
