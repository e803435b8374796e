# SPDX-License-Identifier: Apache-2.0
"""Unigram tokenizers for tests: of random vocabularies with many ties, and the public one of the data folder."""

from __future__ import annotations

import base64
import random
import struct
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from codegen.ir.byte_pieces import BYTE_PIECES
from codegen.ir.tokenizer_spec import AddedToken, TokenizerSpec
from codegen.load.tokenizer_files.sentencepiece_model import read_sentencepiece_model
from codegen.load.tokenizer_files.tokenizer_json.unigram import read_unigram_json

METASPACE = "\u2581"
SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
CUT = (b"", b"the", b" the bad cafe", "caf\u00e9 \u4e2d <mask> </s> fade".encode(), b"\xff", b"   ")  # at each length
RUNS = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": METASPACE}

QUOTES = tuple({"type": "Replace", "pattern": {"String": text}, "content": '"'} for text in ("``", "''"))
FOLDS = tuple({"type": step} for step in ("NFKD", "StripAccents", "Lowercase"))

# Keys that grapheme clusters make longer than a character; texts that are shorter, longer and empty.
RULES = {
    "\t": " ",
    "\n": " ",
    "\r": " ",
    "\x01": "",
    "\u00ad": "",
    "\u200b": "",
    "\u0301": "",
    "\ufb01": "fi",
    "\u00bd": "1\u20442",
    "e\u0301": "\u00e9",
    "x\u0301\u0302": "",
    "\u0600a": "bcd",
    "\u00a9\u200d": "(c)",
    "\u30a1": "a",
    "\ufdfa": "the whole text",
    "\u212b": "\u00c5",
    "\u3000": " ",
    "A": "a",
}
TRICKY_PARTS = (
    *RULES,
    *"abcdef txz \u2581\u00e9\u4e2d\u0302\u0308\u200d\u00a9\u0600\u1100\u1161\u11a8\uac00\u0915\u094d\u0301\r\n",
    *("\U0001f600", "\U0001f1e6", "\U000e0020", "\U000110bd", "\r\n", "  ", "   ", "\u0903", "\ufe0f", "\0"),
)


def compiled(rules: Mapping[str, str]) -> bytes:
    """A compiled map with these rules: of each node of their trie the units of its value and its bytes are at the first
    place in the double array where all are free, and that no other node has: it would have that one's bytes, too."""
    texts = bytearray()
    children: list[dict[int, int]] = [{}]
    values: dict[int, int] = {}
    for key, text in rules.items():
        node = 0
        for byte in key.encode():
            if byte not in children[node]:
                children[node][byte] = len(children)
                children.append({})
            node = children[node][byte]
        values[node] = len(texts)
        texts += text.encode() + b"\0"
    taken = {0}
    bases = []
    for node, below in enumerate(children):
        needed = (*below, *([0] if node in values else []))
        free = (base for base in count(1) if base not in bases)
        base = next(base for base in free if all(base ^ byte not in taken for byte in needed))
        taken |= {base ^ byte for byte in needed}
        bases.append(base)
    units = np.zeros(max(base | 0xFF for base in bases) + 1, np.uint32)
    units[0] = bases[0] << 10
    for node, below in enumerate(children):
        if node in values:
            units[bases[node]] = 1 << 31 | values[node]
        for byte, child in below.items():
            place = bases[node] ^ byte
            units[place] = (place ^ bases[child]) << 10 | (child in values) << 8 | byte
    return struct.pack("<I", units.nbytes) + units.astype("<u4").tobytes() + bytes(texts)


def random_rules(source: random.Random) -> dict[str, str]:
    """Some of RULES, and others over the same characters."""
    rules = {key: RULES[key] for key in source.sample(list(RULES), k=source.randint(0, len(RULES)))}
    for _ in range(source.randint(0, 12)):
        key = "".join(source.choices(TRICKY_PARTS, k=source.randint(1, 2))).replace("\0", "")
        if key:
            rules[key] = "".join(source.choices("abc \u00e9\u4e2d", k=source.randint(0, 4)))
    return rules


def random_vocabulary(source: random.Random, *, bytes_too: bool = False) -> list[list[Any]]:
    """Pieces of few letters whose scores are of few values, so that paths often have the same sum."""
    pieces = dict.fromkeys(SPECIALS, 0.0)
    if bytes_too:
        pieces |= dict.fromkeys(BYTE_PIECES, -9.0)
    letters = f"abcdefith {METASPACE}\u00e9\u4e2d"
    for letter in letters.replace(" ", ""):
        if source.random() < 0.8:
            pieces[letter] = -source.choice((1.0, 1.5, 2.0))
    for _ in range(source.randint(20, 120)):
        text = (METASPACE if source.random() < 0.3 else "") + "".join(
            source.choices("abcdefith\u00e9", k=source.randint(1, 5))
        )
        pieces.setdefault(text, -source.choice((1.0, 1.5, 2.0, 2.5, 3.0, 0.1, 0.2, 0.30000000000000004)))
    return [[piece, score] for piece, score in pieces.items()]


def unigram_json(
    vocab: list[list[Any]],
    *,
    charsmap: bytes | None = None,
    before: Iterable[dict[str, Any]] = (),
    after: Iterable[dict[str, Any]] = (),
    scheme: str = "always",
    split: bool = True,
    split_whitespace: bool = False,
    byte_fallback: bool = False,
    template: bool = True,
    unk_id: int = 3,
    added: Iterable[AddedToken] = (),
) -> dict[str, Any]:
    """A tokenizer.json; `before` and `after` are steps of the normalizer around the map."""
    steps = [*before]
    if charsmap is not None:
        steps.append({"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap).decode()})
    steps += after
    metaspace = {"type": "Metaspace", "replacement": METASPACE, "prepend_scheme": scheme, "split": split}
    whitespace = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [vars(token) for token in added],
        "normalizer": {"type": "Sequence", "normalizers": steps} if steps else None,
        "pre_tokenizer": whitespace if split_whitespace else metaspace,
        "post_processor": _template() if template else None,
        "decoder": metaspace,
        "model": {"type": "Unigram", "unk_id": unk_id, "vocab": vocab, "byte_fallback": byte_fallback},
    }


def _template() -> dict[str, Any]:
    def special(name: str) -> dict[str, Any]:
        return {"SpecialToken": {"id": name, "type_id": 0}}

    single = [special("<s>"), {"Sequence": {"id": "A", "type_id": 0}}, special("</s>")]
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, special("</s>"), {"Sequence": {"id": "B", "type_id": 0}}, special("</s>")],
        "special_tokens": {name: {"id": name, "ids": [i], "tokens": [name]} for name, i in (("<s>", 0), ("</s>", 2))},
    }


def strip(left: bool, right: bool) -> dict[str, Any]:
    return {"type": "Strip", "strip_left": left, "strip_right": right}


def specials() -> list[AddedToken]:
    return [AddedToken(text, i, True, False, False, text == "<mask>", False) for i, text in enumerate(SPECIALS)]


def random_spec(source: random.Random, **options: Any) -> TokenizerSpec:
    vocab = random_vocabulary(source, bytes_too=options.get("byte_fallback", False))
    return read_unigram_json(unigram_json(vocab, **{"added": specials(), **options}))


def public_spec(data: Path, **options: Any) -> TokenizerSpec:
    """Of Marian's source.spm, 32,000 pieces and a compiled map of 237 KB."""
    return sentencepiece_spec(data / "tokenizers" / "marian_en_pt" / "source.spm", **options)


def sentencepiece_spec(file: Path, **options: Any) -> TokenizerSpec:
    """Of SentencePiece's own file, as a tokenizer.json has it."""
    model = read_sentencepiece_model(file.read_bytes(), file.name)
    vocab = [[piece.text, piece.score] for piece in model.pieces]
    options = {"charsmap": model.charsmap, "template": False, "unk_id": model.unknown_id, **options}
    return read_unigram_json(unigram_json(vocab, **options))


def texts_of_pieces(spec: TokenizerSpec) -> list[bytes]:
    """What random texts are made of, so that paths through them meet."""
    return [piece.encode() for piece in spec.model.pieces if isinstance(piece, str)]
