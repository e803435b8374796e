# SPDX-License-Identifier: Apache-2.0
"""BioGptTokenizer, XLMTokenizer, FlaubertTokenizer and FSMTTokenizer as `transformers` 5.23 makes them: words by Moses'
rules, merged by merges.txt and looked up in vocab.json, FSMTTokenizer's in vocab-src.json, where `</w>` ends the pieces
that end a word. A tokenizer.json is read for its added tokens only."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from ....ir.normalizer_spec import NoNormalizer, NormalFormNormalizer
from ....ir.tokenizer_spec import MosesSegmenter, NormalizedMosesSegmenter, TokenizerSpec
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..folder_tokens import FolderTokens, read_tokens
from ..moses_library import LIBRARY, moses_tokenizer
from ..tokenizer_config import (
    EXTRA_TOKENS,
    check_are_added,
    check_unsupported,
    flag_of,
    has_segments,
    listed,
    read_config,
    read_special_map,
)
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_json.fields import check_vocab
from ..tokenizer_json.template import read_post_processor, template_of
from .byte_level import MERGES_FILE, VOCAB_FILE
from .symbol_merges import Merges, check_symbols, described, described_tokens, found_tokens, model_of, read_lines

SOURCE_VOCAB_FILE = "vocab-src.json"
Language = Literal["english", "german", "russian"]
_Values = dict[str, Any]
_Segmenter = MosesSegmenter | NormalizedMosesSegmenter


@dataclass(frozen=True)
class _Class:
    """One of them."""

    tokens: dict[str, object]  # by their keys, with their defaults, in the order in which they are added
    needed: tuple[str, ...]  # keys
    begins: str | None  # the key of the token before a text
    ends: str | None  # of that behind one
    words: Callable[[_Values], _Segmenter]  # by the configuration
    usual_extra: tuple[str, ...] = ()  # special tokens beside those, where no file lists any
    normalizes: bool = False  # quotation marks and NFC, before all else
    vocabulary: str = VOCAB_FILE


def _xlm_words(config: _Values) -> NormalizedMosesSegmenter:
    """Of English whatever the text is: no call of the library's tokenizer says another language."""
    return NormalizedMosesSegmenter("english", flag_of(config, "do_lowercase_and_remove_accent", usual=True))


def _flaubert_words(config: _Values) -> NormalizedMosesSegmenter:
    return NormalizedMosesSegmenter("french", flag_of(config, "do_lowercase", usual=False))


def _translated_words(config: _Values) -> NormalizedMosesSegmenter:
    lowers = flag_of(config, "do_lower_case", usual=False)
    return NormalizedMosesSegmenter(read_languages(config)[0], lowers, escapes=True)


def read_languages(config: _Values) -> tuple[Language, Language]:
    """Of FSMTTokenizer: that of the texts that are read, and of those that are written."""
    codes = listed(config.get("langs"), "langs", CONFIG_FILE)
    if len(codes) != 2:
        raise refusal("tokenizer-setting", f"'langs' has {len(codes)} languages, a pair is two", file=CONFIG_FILE)
    others = [code for code in codes if not isinstance(code, str) or code not in _LANGUAGES]
    if others:
        message = f"'langs' has {shown(others[0])}: rules of Moses are supported of {', '.join(_LANGUAGES)}"
        raise refusal("tokenizer-setting", message, file=CONFIG_FILE)
    first, second = (_LANGUAGES[str(code)] for code in codes)
    return first, second


_LANGUAGES: dict[str, Language] = {"en": "english", "de": "german", "ru": "russian"}
_XLM_TOKENS: dict[str, object] = {
    "bos_token": "<s>",
    "eos_token": None,
    "unk_token": "<unk>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "cls_token": "</s>",
    "mask_token": "<special1>",
}
_XLM = _Class(
    tokens=_XLM_TOKENS,
    needed=("bos_token", "unk_token", "sep_token"),
    begins="bos_token",
    ends="sep_token",
    words=_xlm_words,
    usual_extra=tuple(f"<special{i}>" for i in range(10)),
)
CLASSES = {
    "BioGptTokenizer": _Class(
        tokens={
            "bos_token": "<s>",
            "eos_token": "</s>",
            "unk_token": "<unk>",
            "sep_token": "</s>",
            "pad_token": "<pad>",
            **dict.fromkeys(("cls_token", "mask_token")),
        },
        needed=("unk_token", "sep_token"),
        begins="sep_token",
        ends=None,
        words=lambda _: MosesSegmenter(),
    ),
    "XLMTokenizer": _XLM,
    "FlaubertTokenizer": replace(_XLM, words=_flaubert_words, normalizes=True),
    "FSMTTokenizer": _Class(
        tokens={
            "bos_token": "<s>",
            "eos_token": None,
            "unk_token": "<unk>",
            "sep_token": "</s>",
            "pad_token": "<pad>",
            **dict.fromkeys(("cls_token", "mask_token")),
        },
        needed=("unk_token", "sep_token"),
        begins=None,
        ends="sep_token",
        words=_translated_words,
        vocabulary=SOURCE_VOCAB_FILE,
    ),
}
_QUOTES = ("``", "''")
_STEPS = [
    *({"type": "Replace", "pattern": {"String": quote}, "content": '"'} for quote in _QUOTES),
    {"type": "NFC"},
]
_NOTE = f"the tables have Moses' list of abbreviations (LGPL 2.1), as {LIBRARY} installs it"


def read_moses_folder(folder: CheckpointFolder, name: str) -> TokenizerSpec:
    """The checked tokenizer of one of `CLASSES`."""
    made = CLASSES[name]
    config = read_config(folder)
    check_unsupported(config, has_template=True)
    for file in (made.vocabulary, MERGES_FILE):
        if not folder.has(file):
            raise refusal("tokenizer-missing", f"{name} needs {file}", file=file)
    moses_tokenizer()
    segmenter = made.words(config)
    usual = made.tokens | _extra(folder, config, made)
    tokens = read_tokens(folder, config, described_tokens(folder), usual, rebuilds=True)
    missing = next((key for key in made.needed if key not in tokens.special), None)
    if missing is not None:
        message = f"{missing} is null: {name} does not work without"
        raise refusal("missing-special-token", message, file=CONFIG_FILE)
    if has_segments(config, usual=False):
        message = f"'model_input_names' asks for token_type_ids, which no model of {name} reads"
        raise refusal("tokenizer-setting", message, file=CONFIG_FILE)
    if isinstance(segmenter, NormalizedMosesSegmenter) and segmenter.lowers and not made.normalizes:
        _check_lower_case(tokens)
    ids = folder.read_json(made.vocabulary)
    check_vocab(ids, tokens.special["unk_token"], made.vocabulary)
    added = found_tokens(ids, tokens, made.vocabulary, lambda _: False)
    merges = _read_merges(folder)
    texts = {token.content for token in added}
    check_symbols(merges, texts, MERGES_FILE, lambda _: False)
    in_all = ids | {token.content: token.id for token in added}
    begin = "" if made.begins is None else f"{tokens.special[made.begins]} "
    end = "" if made.ends is None else f" {tokens.special[made.ends]}"
    between = f"{begin}$B" if made.ends is None else "$B"
    template = template_of(f"{begin}$A{end}", f"{begin}$A{end} {between}{end}", in_all)
    pieces = tuple(sorted(ids, key=ids.__getitem__))
    model = model_of(pieces, merges, ids[tokens.special["unk_token"]])
    by_content = {token.content: token for token in added if token.special}
    check_are_added(tokens.extra, by_content, made.vocabulary)
    whole = described(model, merges, added, texts, template, {"type": "WhitespaceSplit"})
    if made.normalizes:
        whole["normalizer"] = {"type": "Sequence", "normalizers": _STEPS}
    return TokenizerSpec(
        normalizer=NormalFormNormalizer("NFC") if made.normalizes else NoNormalizer(),
        segmenter=segmenter,
        model=model,
        template=read_post_processor(template, in_all).template,
        added_tokens=added,
        json=json.dumps(whole),
        notes=(*tokens.notes, _NOTE),
    )


def _extra(folder: CheckpointFolder, config: _Values, made: _Class) -> dict[str, object]:
    """More special tokens of a class that has such, by keys that no file has."""
    if not made.usual_extra:
        return {}
    files = [config] if "added_tokens_decoder" in config else [read_special_map(folder), config]
    found: list[object] = list(made.usual_extra)
    for values in files:
        for key in EXTRA_TOKENS:
            if isinstance(values.get(key), list):
                found = listed(values[key], key, CONFIG_FILE)
    return {f"{i}": item for i, item in enumerate(found)}


def _check_lower_case(tokens: FolderTokens) -> None:
    """The library finds tokens that are not special as they are in lower case, where it reads texts so."""
    for token in tokens.decoded:
        if not token.special and token.normalized and token.content != token.content.lower():
            message = f"{shown(token.content)} is found in lower case only: say it so"
            raise refusal("added-token-unsupported", message, file=CONFIG_FILE)


def _read_merges(folder: CheckpointFolder) -> Merges:
    """Two symbols a line, and what is of no use behind them; of a pair that is there twice the last place counts."""
    merges: Merges = {}
    for rank, line in enumerate(read_lines(folder, MERGES_FILE)[:-1]):
        fields = line.split()
        if line.startswith("#version"):
            continue
        if len(fields) < 2:
            raise refusal("tokenizer-merges", f"line {rank + 1} is {shown(line)}, no two symbols", file=MERGES_FILE)
        merges[fields[0], fields[1]] = rank
    return merges
