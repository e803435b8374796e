# SPDX-License-Identifier: Apache-2.0
"""BPE over characters where pieces that end a word are marked: HerbertTokenizer's and others' against the wheel."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tokenizer_harness import Runtime, assert_same, random_source
from tokenizer_texts import HARD_TEXTS, INVALID_TEXTS, TRICKY, random_bytes, random_text

from codegen.ir.normalizer_spec import BertNormalizer, SequenceNormalizer
from codegen.ir.tokenizer_spec import CharacterBpeModel, TokenizerSpec
from codegen.load.tokenizer_files.tokenizer_json.character_bpe import read_character_bpe_json

FIRST = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
LETTERS = "abcde<\u00e9\u4e2d.'/w>"
END = "</w>"
BERT = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": False,
    "lowercase": False,
}
FORMS: dict[str, tuple[Any, Any]] = {
    "herbert": (BERT, {"type": "BertPreTokenizer"}),
    "lower case": ({"type": "Lowercase"}, {"type": "Whitespace"}),
    "nothing": (None, {"type": "WhitespaceSplit"}),
}


def random_spec(source: random.Random, form: str, *, fuse: bool = False, whole_end: bool = True) -> TokenizerSpec:
    """Pairs of what is there already; the last half of some ends a word. `whole_end`: the mark is a piece, too."""
    inner = [letter for letter in LETTERS if source.random() < 0.9]
    ends = [letter + END for letter in LETTERS if source.random() < 0.9]
    merges: list[list[str]] = []
    for _ in range(80):
        pair = [source.choice(inner), source.choice((*inner, *ends))]
        text = "".join(pair)
        if len(text) > 10 or pair in merges or text in (*FIRST, END):
            continue
        merges.append(pair)
        of = ends if text.endswith(END) else inner
        of.extend([text] if text not in of else [])
    pieces = (*FIRST, *inner, *ends, "unreached</w>", *(END,) * whole_end)
    vocab = {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}
    normalizer, segmenter = FORMS[form]
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False) | {"special": True}
    return read_character_bpe_json(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [{"id": i, "content": text, **flags} for i, text in enumerate(FIRST)],
            "normalizer": normalizer,
            "pre_tokenizer": segmenter,
            "post_processor": {"type": "BertProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0]},
            "decoder": None,
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": "<unk>",
                "continuing_subword_prefix": None,
                "end_of_word_suffix": END,
                "fuse_unk": fuse,
                "byte_fallback": False,
                "vocab": vocab,
                "merges": merges,
            },
        }
    )


@pytest.mark.parametrize("fuse", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_texts(form: str, fuse: bool) -> None:
    source = random_source()
    for _ in range(3):
        spec = random_spec(source, form, fuse=fuse)
        assert isinstance(spec.model, CharacterBpeModel) and spec.model.marks_ends
        assert isinstance(spec.normalizer, BertNormalizer if form == "herbert" else SequenceNormalizer)
        pieces = [piece for piece in spec.model.pieces if piece]
        texts = [*HARD_TEXTS, "", *(random_text(source, 24, (*LETTERS, *TRICKY, *FIRST, " ")) for _ in range(400))]
        texts += ["".join(source.choices((*pieces, " "), k=source.randint(1, 10))) for _ in range(400)]
        given = [text.encode() for text in texts]
        given += [*INVALID_TEXTS, *(random_bytes(source, 12) for _ in range(100))]
        assert_same(spec, given)
        assert_same(spec, given, 7)
        assert_same(spec, given, plain_text=True)
        assert Runtime(spec).pieces()[: len(FIRST)] == [text.encode() for text in FIRST]
