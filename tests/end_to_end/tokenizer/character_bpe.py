# SPDX-License-Identifier: Apache-2.0
"""BPE over characters for tests: of random vocabularies of few letters, in which several pairs make a piece."""

from __future__ import annotations

import random
from typing import Any

from unigram import METASPACE, SPECIALS, specials, unigram_json

from codegen.ir.byte_pieces import BYTE_PIECES
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.load.tokenizer_files.tokenizer_json.character_bpe import read_character_bpe_json

PREPEND = {"type": "Prepend", "prepend": METASPACE}
REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": METASPACE}
_LETTERS = f"abcdefith<s>/{METASPACE}\u00e9\u4e2d"


def random_model(
    source: random.Random, *, bytes_too: bool = False, inner: bool = False, derived: str = "", **settings: Any
) -> dict[str, Any]:
    """The model of a tokenizer.json; `inner`: with pieces that have U+2581 behind another character; `derived`: its
    merges are those of derived_pairs()."""
    pieces = [*SPECIALS, *(BYTE_PIECES if bytes_too else ()), METASPACE]
    pieces += [letter for letter in dict.fromkeys(_LETTERS) if letter != METASPACE and source.random() < 0.85]
    merges: list[list[str]] = []
    usable = [piece for piece in pieces if len(piece) == 1]
    for _ in range(source.randint(30, 150)):
        left, right = source.choice(usable), source.choice(usable)
        text = left + right
        if len(text) > 6 or [left, right] in merges or (not inner and METASPACE in text.lstrip(METASPACE)):
            continue
        merges.append([left, right])
        if text not in pieces:
            pieces.append(text)
            usable.append(text)
    for piece in usable:  # other pairs that make it, as of SentencePiece's pieces
        for cut in range(1, len(piece)):
            pair = [piece[:cut], piece[cut:]]
            if set(pair) <= set(usable) and pair not in merges and source.random() < 0.5:
                merges.insert(source.randint(0, len(merges)), pair)
    unreached = ("abcdefabcdef", METASPACE + "thefaceofit")  # by merging
    vocab = {piece: i for i, piece in enumerate((*pieces, *unreached))}
    if derived:
        merges = derived_pairs(source, vocab, by_id=derived == "id")
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": "<unk>",
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": bytes_too,
        "ignore_merges": False,
        "vocab": vocab,
        "merges": merges,
        **settings,
    }


def derived_pairs(source: random.Random, vocab: dict[str, int], *, by_id: bool) -> list[list[str]]:
    """All pairs of pieces that spell a piece, those of the first ids, which are others now, first, then by the left
    one's id or size; of one piece in ten none."""
    longer = [piece for piece in vocab if len(piece) > 1 and piece not in (*SPECIALS, *BYTE_PIECES)]
    ids = [vocab[piece] for piece in longer]
    source.shuffle(ids)
    vocab |= dict(zip(longer, ids, strict=True))
    made = [piece for piece in sorted(longer, key=vocab.__getitem__) if source.random() < 0.9]
    pairs: list[list[str]] = []
    for piece in made:
        cuts = [cut for cut in range(1, len(piece)) if piece[:cut] in vocab and piece[cut:] in vocab]
        cuts.sort(key=lambda cut, piece=piece: vocab[piece[:cut]] if by_id else cut)  # type: ignore[misc]
        pairs += [[piece[:cut], piece[cut:]] for cut in cuts]
    return pairs


def character_bpe_json(model: dict[str, Any], *, metaspace: bool = True, **options: Any) -> dict[str, Any]:
    """A tokenizer.json; `options` are those of unigram_json, without `metaspace` there is no pre-tokenizer."""
    values = unigram_json([], **{"added": specials(), **options}) | {"model": model}
    return values if metaspace else values | {"pre_tokenizer": None}


def random_spec(source: random.Random, *, model: dict[str, Any] | None = None, **options: Any) -> TokenizerSpec:
    """`model`: settings of random_model."""
    return read_character_bpe_json(character_bpe_json(random_model(source, **(model or {})), **options))
