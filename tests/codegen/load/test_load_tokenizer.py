# SPDX-License-Identifier: Apache-2.0
"""The tokenizer files: what is not understood, what contradicts itself, and that the checked form behaves the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from malformed import (
    CONFIG,
    TOKENIZER,
    TOKENIZER_CONFIG,
    VOCAB,
    Case,
    both,
    check_refused,
    drop,
    edit,
    parametrize,
    put,
    raw,
    remove,
)
from tiny_checkpoint import DEFAULT_VOCAB, write_tiny_checkpoint
from tokenizers import Tokenizer

from codegen.load.folder import load_checkpoint

SPECIAL_MAP = "special_tokens_map.json"
ADDED = "added_tokens.json"
SIZE = len(DEFAULT_VOCAB)
TEXTS = (
    "The cat sat on the mat.",
    "Café Berlin, unworkable plays!",
    "İSTANBUL caf\u00e9s cafe\u0301 \u4e2d\u56fd \u00df \ufb01",
    "x\u000by a\u200bb \ufeff 1212 xyxy [SEP] the [MASK] [sep] [UNK]",
    "a" * 101 + " " + "xy" * 50,
    "",
)


def part(name: str, **values: object) -> Callable[[Path], None]:
    """Set fields of one component of tokenizer.json."""
    return edit(TOKENIZER, lambda t: t[name].update(values))


def without(name: str, key: str) -> Callable[[Path], None]:
    return edit(TOKENIZER, lambda t: t[name].pop(key))


def vocab(**values: object) -> Callable[[Path], None]:
    return edit(TOKENIZER, lambda t: t["model"]["vocab"].update(values))


def piece_away(piece: str) -> Callable[[Path], None]:
    return edit(TOKENIZER, lambda t: t["model"]["vocab"].pop(piece))


def template(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    return edit(TOKENIZER, lambda t: change(t["post_processor"]))


def added(**values: object) -> Callable[[Path], None]:
    """Append a token to added_tokens: [MASK]'s entry with other values."""
    return edit(TOKENIZER, lambda t: t["added_tokens"].append({**t["added_tokens"][4], **values}))


def lines(*pieces: str, newline: str = "\n") -> Callable[[Path], None]:
    return raw(VOCAB, "".join(piece + newline for piece in pieces).encode())


def text_only(*pieces: str) -> Callable[[Path], None]:
    return both(remove(TOKENIZER), lines(*pieces))


def renamed(old: str, new: str) -> tuple[str, ...]:
    return tuple(new if piece == old else piece for piece in DEFAULT_VOCAB)


def duplicate_piece(folder: Path) -> None:
    text = (folder / TOKENIZER).read_text()
    (folder / TOKENIZER).write_text(text.replace('"cat":', '"the": 99, "cat":', 1))


def t(name: str, change: Callable[[Path], object], code: str, words: str = "", file: str = TOKENIZER) -> Case:
    return Case(name, change, code, file, None, words)


def cfg(name: str, change: Callable[[Path], object], code: str = "tokenizer-conflict", words: str = "") -> Case:
    return Case(name, change, code, TOKENIZER_CONFIG, None, words)


AS_IN_JSON = put(TOKENIZER_CONFIG, tokenizer_class="PreTrainedTokenizerFast")

SHAPE_CASES = [
    t("not json", raw(TOKENIZER, b"\0\0"), "json-malformed"),
    t("over 64 MiB", raw(TOKENIZER, b"{" + b" " * (64 << 20)), "file-too-large"),
    t("unknown top field", put(TOKENIZER, preprocessor=None), "tokenizer-field", "'preprocessor'"),
    t("no model", drop(TOKENIZER, "model"), "tokenizer-field", "'model'"),
    t("version 2.0", put(TOKENIZER, version="2.0"), "tokenizer-version", "'2.0'"),
    t("bpe", put(TOKENIZER, model={"type": "BPE", "vocab": {}, "merges": []}), "tokenizer-model", "'BPE'"),
    t("unigram", part("model", type="Unigram"), "tokenizer-model", "(supported: WordPiece)"),
    t("model null", put(TOKENIZER, model=None), "tokenizer-model"),
    t("model field unknown", part("model", dropout=0.1), "tokenizer-field", "'dropout'"),
    t("model field missing", without("model", "unk_token"), "tokenizer-field", "'unk_token'"),
    t("no max_input_chars_per_word", without("model", "max_input_chars_per_word"), "tokenizer-field"),
    t("max_input_chars_per_word 0", part("model", max_input_chars_per_word=0), "tokenizer-type"),
    t("max_input_chars_per_word 10^9", part("model", max_input_chars_per_word=10**9), "tokenizer-type"),
    t("max_input_chars_per_word true", part("model", max_input_chars_per_word=True), "tokenizer-type"),
    t("prefix empty", part("model", continuing_subword_prefix=""), "tokenizer-type"),
    t("prefix null", part("model", continuing_subword_prefix=None), "tokenizer-type"),
    t("normalizer null", put(TOKENIZER, normalizer=None), "tokenizer-normalizer"),
    t("normalizer nfkc", put(TOKENIZER, normalizer={"type": "NFKC"}), "tokenizer-normalizer", "'NFKC'"),
    t("normalizer type a list", put(TOKENIZER, normalizer={"type": ["BertNormalizer"]}), "tokenizer-normalizer"),
    t(
        "normalizer sequence",
        put(TOKENIZER, normalizer={"type": "Sequence", "normalizers": [{"type": "BertNormalizer"}]}),
        "tokenizer-normalizer",
        "normalizer 'Sequence' is not supported (supported: BertNormalizer)",
    ),
    t("normalizer field unknown", part("normalizer", nfkc=True), "tokenizer-field", "'nfkc'"),
    t("normalizer field missing", without("normalizer", "clean_text"), "tokenizer-field", "'clean_text'"),
    t("lowercase null", part("normalizer", lowercase=None), "tokenizer-type"),
    t("lowercase 1", part("normalizer", lowercase=1), "tokenizer-type"),
    t("strip_accents text", part("normalizer", strip_accents="true"), "tokenizer-type"),
    t("pre-tokenizer null", put(TOKENIZER, pre_tokenizer=None), "tokenizer-pre-tokenizer"),
    t("pre-tokenizer other", put(TOKENIZER, pre_tokenizer={"type": "Whitespace"}), "tokenizer-pre-tokenizer"),
    t("pre-tokenizer field", part("pre_tokenizer", behavior="Isolated"), "tokenizer-field"),
    t("post-processor null", put(TOKENIZER, post_processor=None), "tokenizer-post-processor"),
    t("post-processor roberta", part("post_processor", type="RobertaProcessing"), "tokenizer-post-processor"),
    t("post-processor field", part("post_processor", trim_offsets=True), "tokenizer-field"),
    t("template without [SEP]", template(lambda p: p["single"].pop()), "tokenizer-template"),
    t("template empty", template(lambda p: p.update(single=[], pair=[])), "tokenizer-template"),
    t("template a number", template(lambda p: p.update(single=3)), "tokenizer-template"),
    t("template A of type 1", template(lambda p: p["single"][1]["Sequence"].update(type_id=1)), "tokenizer-template"),
    t("template A twice", template(lambda p: p["pair"].insert(1, p["pair"][1])), "tokenizer-template"),
    t("template B of type 0", template(lambda p: p["pair"][3]["Sequence"].update(type_id=0)), "tokenizer-template"),
    t(
        "template type false",
        template(lambda p: p["single"][0]["SpecialToken"].update(type_id=False)),
        "tokenizer-template",
    ),
    t("template token undefined", template(lambda p: p["special_tokens"].pop("[SEP]")), "tokenizer-template"),
    t(
        "template token of two",
        template(lambda p: p["special_tokens"]["[SEP]"].update(ids=[3, 3])),
        "tokenizer-template",
    ),
    t("template id other", template(lambda p: p["special_tokens"]["[SEP]"].update(ids=[4])), "special-token-conflict"),
    t("template id text", template(lambda p: p["special_tokens"]["[SEP]"].update(ids=["3"])), "tokenizer-type"),
    t(
        "bert processing, id other",
        put(TOKENIZER, post_processor={"type": "BertProcessing", "sep": ["[SEP]", 4], "cls": ["[CLS]", 2]}),
        "special-token-conflict",
    ),
    t(
        "bert processing, one token",
        put(TOKENIZER, post_processor={"type": "BertProcessing", "sep": ["[CLS]", 2], "cls": ["[CLS]", 2]}),
        "tokenizer-template",
    ),
    t(
        "bert processing, no cls",
        put(TOKENIZER, post_processor={"type": "BertProcessing", "sep": ["[SEP]", 3]}),
        "tokenizer-field",
    ),
]

VOCAB_CASES = [
    t("vocab a list", part("model", vocab=["[UNK]"]), "tokenizer-type"),
    t("vocab empty", part("model", vocab={}), "missing-special-token"),
    t("duplicate id", vocab(cat=8), "vocab-duplicate-id", "'cat' and 'dog' both have the id 8"),
    t("duplicate piece", duplicate_piece, "json-duplicate-key", "'the'"),
    t("gap", piece_away("cat"), "vocab-gap", "none has 7"),
    t("id negative", vocab(cat=-1), "vocab-id-type"),
    t("id float", vocab(cat=7.0), "vocab-id-type"),
    t("id true", vocab(cat=True), "vocab-id-type"),
    t("id text", vocab(cat="7"), "vocab-id-type"),
    t("id 2^32", vocab(cat=2**32), "vocab-gap"),
    t("no [UNK]", piece_away("[UNK]"), "missing-special-token", "'[UNK]'"),
    t("unk_token elsewhere", part("model", unk_token="<unk>"), "missing-special-token", "'<unk>'"),
    t("id beyond the embedding", put(CONFIG, vocab_size=SIZE - 1), "token-id-out-of-range", f"only {SIZE - 1} rows"),
    t("added id beyond the embedding", added(id=SIZE, content="new"), "token-id-out-of-range", "'new'"),
    t("added tokens missing", drop(TOKENIZER, "added_tokens"), "tokenizer-field"),
    t("added tokens null", put(TOKENIZER, added_tokens=None), "tokenizer-type"),
    t("added token twice", added(), "added-token-conflict", "'[MASK]' is added twice"),
    t(
        "added token, id of another piece",
        added(id=9, content="cat"),
        "added-token-conflict",
        "by the vocabulary it is 7",
    ),
    t("added token, taken id", added(id=7, content="new"), "added-token-conflict"),
    t("added token, id skipped", added(id=SIZE + 1, content="new"), "added-token-conflict"),
    t("added token, id true", added(id=True, content="[UNK] "), "tokenizer-type"),
    t("added token empty", added(content=""), "tokenizer-type"),
    t("added token, field unknown", added(content="cat", id=7, rank=1), "tokenizer-field"),
    t("added token, flag 1", added(content="cat", id=7, lstrip=1), "tokenizer-type"),
    t("added token a string", edit(TOKENIZER, lambda v: v["added_tokens"].append("cat")), "tokenizer-field"),
    t("vocab.txt without [UNK]", text_only(*renamed("[UNK]", "x1")), "missing-special-token", file=VOCAB),
    t("vocab.txt without [MASK]", text_only(*renamed("[MASK]", "x1")), "missing-special-token", "mask_token", VOCAB),
    t("vocab.txt empty", text_only(), "missing-special-token", file=VOCAB),
    t("vocab.txt with a space more", text_only(*renamed("[SEP]", "[SEP] ")), "missing-special-token", file=VOCAB),
    t(
        "vocab.txt with byte order mark",
        text_only(*renamed("[PAD]", "\ufeff[PAD]")),
        "missing-special-token",
        file=VOCAB,
    ),
    t("vocab.txt not utf-8", both(remove(TOKENIZER), raw(VOCAB, b"[PAD]\n\xff\n")), "vocab-not-utf8", file=VOCAB),
    t("vocab.txt too long", text_only(*DEFAULT_VOCAB, "new"), "token-id-out-of-range", "'new'", VOCAB),
    t("vocab.txt other order", lines(*reversed(DEFAULT_VOCAB)), "tokenizer-conflict", file=VOCAB),
    t("vocab.txt shorter", lines(*DEFAULT_VOCAB[:-1]), "tokenizer-conflict", "'##é'", VOCAB),
    t("vocab.txt longer", lines(*DEFAULT_VOCAB, "new"), "tokenizer-conflict", "'new'", VOCAB),
]

CONFLICT_CASES = [
    cfg("do_lower_case", put(TOKENIZER_CONFIG, do_lower_case=False), words="do_lower_case = false"),
    cfg("do_lower_case null", put(TOKENIZER_CONFIG, do_lower_case=None), "config-type"),
    cfg("do_lower_case text", put(TOKENIZER_CONFIG, do_lower_case="true"), "config-type"),
    cfg("strip_accents", put(TOKENIZER_CONFIG, strip_accents=False)),
    cfg("strip_accents the other way", part("normalizer", strip_accents=False)),
    cfg("tokenize_chinese_chars", put(TOKENIZER_CONFIG, tokenize_chinese_chars=False)),
    cfg(
        "cased, and the config does not say",
        both(part("normalizer", lowercase=False), drop(TOKENIZER_CONFIG, "do_lower_case")),
        words="transformers assumes do_lower_case = true",
    ),
    cfg("cased, and there is no config", both(part("normalizer", lowercase=False), remove(TOKENIZER_CONFIG))),
    cfg("clean_text", part("normalizer", clean_text=False), words="clean_text = true"),
    cfg("max_input_chars_per_word", part("model", max_input_chars_per_word=50)),
    cfg("prefix", part("model", continuing_subword_prefix="@@")),
    cfg("explicit setting, json class", both(AS_IN_JSON, put(TOKENIZER_CONFIG, do_lower_case=False))),
    cfg("unk_token", put(TOKENIZER_CONFIG, unk_token="the"), words="unk_token is 'the' here, '[UNK]' in"),
    cfg("cls_token", put(TOKENIZER_CONFIG, cls_token="[SEP]")),
    cfg("sep_token an object", put(TOKENIZER_CONFIG, sep_token={"content": "[CLS]"})),
    cfg(
        "mask_token with lstrip",
        put(TOKENIZER_CONFIG, mask_token={"content": "[MASK]", "lstrip": True}),
        words="lstrip",
    ),
    cfg("mask_token not added", put(TOKENIZER_CONFIG, mask_token="cat"), words="mask_token 'cat'"),
    cfg("pad_token a number", put(TOKENIZER_CONFIG, pad_token=0), "config-type"),
    cfg("[MASK] not among the added", edit(TOKENIZER, lambda v: v["added_tokens"].pop()), words="'[MASK]'"),
    cfg(
        "[MASK] not special",
        edit(TOKENIZER, lambda v: v["added_tokens"][4].update(special=False)),
        words="'[MASK]'",
    ),
    cfg("additional special token", put(TOKENIZER_CONFIG, additional_special_tokens=["[ENT]"]), words="'[ENT]'"),
    cfg("extra special token", put(TOKENIZER_CONFIG, extra_special_tokens={"ent": "[ENT]"}), words="'[ENT]'"),
    cfg("additional special tokens text", put(TOKENIZER_CONFIG, additional_special_tokens="[ENT]"), "config-type"),
    cfg("added_tokens_decoder a list", put(TOKENIZER_CONFIG, added_tokens_decoder=[1]), "config-type"),
    cfg("added_tokens_decoder key", put(TOKENIZER_CONFIG, added_tokens_decoder={"07": {}}), "config-type"),
    cfg("added_tokens_decoder key ²", put(TOKENIZER_CONFIG, added_tokens_decoder={"²": {}}), "config-type"),
    cfg("added_tokens_decoder field", put(TOKENIZER_CONFIG, added_tokens_decoder={"7": {}}), "tokenizer-field"),
    cfg(
        "added_tokens_decoder flags",
        edit(
            TOKENIZER_CONFIG,
            lambda v: v.update(
                added_tokens_decoder={
                    "4": {
                        "content": "[MASK]",
                        "single_word": False,
                        "lstrip": True,
                        "rstrip": False,
                        "normalized": False,
                        "special": True,
                    }
                }
            ),
        ),
        words="'[MASK]' (4) is not the same",
    ),
    cfg("tokenizer class", put(TOKENIZER_CONFIG, tokenizer_class="RobertaTokenizer"), "tokenizer-class"),
    cfg("tokenizer class a number", put(TOKENIZER_CONFIG, tokenizer_class=1), "tokenizer-class"),
    cfg("remote code", put(TOKENIZER_CONFIG, auto_map={"AutoTokenizer": ["x.Y", None]}), "remote-code"),
    cfg("no basic tokenizer", put(TOKENIZER_CONFIG, do_basic_tokenize=False), "tokenizer-setting"),
    cfg("never_split", put(TOKENIZER_CONFIG, never_split=["the"]), "tokenizer-setting"),
    cfg("truncation on the left", put(TOKENIZER_CONFIG, truncation_side="left"), "tokenizer-setting", "'left'"),
    cfg("config malformed", raw(TOKENIZER_CONFIG, b"{'a': 1}"), "json-malformed"),
    cfg("json class, only vocab.txt", both(text_only(*DEFAULT_VOCAB), AS_IN_JSON), "tokenizer-class"),
    cfg(
        "vocab.txt, one token for two",
        both(text_only(*DEFAULT_VOCAB), put(TOKENIZER_CONFIG, cls_token="[SEP]")),
        "tokenizer-template",
    ),
    t("special map", put(SPECIAL_MAP, cls_token="[SEP]"), "tokenizer-conflict", file=SPECIAL_MAP),
    t("added map", put(ADDED, new=SIZE), "tokenizer-conflict", "'new'", ADDED),
    t("added map, other id", put(ADDED, cat=8), "tokenizer-conflict", file=ADDED),
]


@parametrize(SHAPE_CASES + VOCAB_CASES + CONFLICT_CASES)
def test_refused(case: Case, tmp_path: Path) -> None:
    check_refused(case, tmp_path / "model")


def agree(left: Tokenizer, right: Tokenizer) -> None:
    for text in TEXTS:
        for pair in (None, "dog [SEP] plays"):
            a, b = left.encode(text, pair), right.encode(text, pair)
            assert (a.ids, a.offsets, a.type_ids) == (b.ids, b.offsets, b.type_ids)


ACCEPTED: dict[str, Callable[[Path], object]] = {
    "as written": lambda folder: None,
    "no tokenizer_config.json": remove(TOKENIZER_CONFIG),
    "strip_accents absent": both(without("normalizer", "strip_accents"), drop(TOKENIZER_CONFIG, "strip_accents")),
    "strip_accents spelled out": part("normalizer", strip_accents=True),
    "BertProcessing": put(
        TOKENIZER, post_processor={"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}
    ),
    "model without type": without("model", "type"),
    "no decoder": drop(TOKENIZER, "decoder"),
    "vocab.txt with the same pieces": lines(*DEFAULT_VOCAB),
    "added token in the vocabulary": added(id=7, content="cat", special=False, normalized=True, single_word=True),
    "added token with a new id": both(
        put(CONFIG, vocab_size=SIZE + 2), added(id=SIZE, content="Berlin!", special=False)
    ),
    "special tokens as objects": put(
        TOKENIZER_CONFIG, mask_token={"__type": "AddedToken", "content": "[MASK]", "lstrip": False}
    ),
    "special_tokens_map.json": put(SPECIAL_MAP, unk_token="[UNK]", mask_token={"content": "[MASK]"}),
    "added_tokens.json": put(ADDED, **{"[MASK]": 4, "cat": 7}),
    "other settings, json class": both(
        AS_IN_JSON,
        *(drop(TOKENIZER_CONFIG, key) for key in ("do_lower_case", "strip_accents", "tokenize_chinese_chars")),
        part("normalizer", clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False),
        part("model", max_input_chars_per_word=20),
    ),
    "keep accents": both(part("normalizer", strip_accents=False), put(TOKENIZER_CONFIG, strip_accents=False)),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_checked_form_behaves_as_the_file(name: str, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    ACCEPTED[name](tmp_path)
    values = json.loads((tmp_path / TOKENIZER).read_text())
    spec = load_checkpoint(tmp_path).tokenizer
    checked, original = Tokenizer.from_str(spec.json), Tokenizer.from_str(json.dumps(values))
    agree(checked, original)
    for token in spec.added_tokens:
        assert original.token_to_id(token.content) == token.id
    for i, piece in enumerate(spec.pieces):
        assert piece is None or original.token_to_id(piece) == i
    assert spec.strip_accents is (
        values["normalizer"]["lowercase"]
        if values["normalizer"].get("strip_accents") is None
        else values["normalizer"]["strip_accents"]
    )
    assert original.get_vocab_size() == len(spec.pieces)


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_vocab_txt_is_the_same_tokenizer(lowercase: bool, newline: str, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, lowercase=lowercase)
    from_json = load_checkpoint(tmp_path).tokenizer
    both(remove(TOKENIZER), lines(*DEFAULT_VOCAB, newline=newline))(tmp_path)
    from_text = load_checkpoint(tmp_path).tokenizer
    assert from_text == from_json
    assert (from_text.unknown_id, from_text.classify_id, from_text.separate_id) == (1, 2, 3)


def test_vocab_txt_alone_is_lower_cased_with_a_note(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    both(remove(TOKENIZER_CONFIG), text_only(*DEFAULT_VOCAB))(tmp_path)
    checkpoint = load_checkpoint(tmp_path)
    assert checkpoint.tokenizer.lowercase
    assert any("lower-casing assumed" in note for note in checkpoint.notes)


def test_vocab_txt_keeps_spaces_and_the_last_of_a_repeated_line(tmp_path: Path) -> None:
    pieces = [*DEFAULT_VOCAB[:-4], "the", "a\u2028b\u0085 ", "", "\tx"]
    write_tiny_checkpoint(tmp_path)
    text_only(*pieces)(tmp_path)
    spec = load_checkpoint(tmp_path).tokenizer
    assert spec.pieces[pieces.index("the")] is None
    assert spec.pieces[-4:] == ("the", "a\u2028b\u0085 ", None, "\tx")
    assert any("1 of" in note and "repeated" in note for note in spec.notes)
    oracle = Tokenizer.from_str(spec.json)
    assert oracle.token_to_id("the") == len(pieces) - 4
    assert oracle.encode("the cat").ids == [2, len(pieces) - 4, 7, 3]


def test_vocab_txt_without_last_newline(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    both(remove(TOKENIZER), raw(VOCAB, "\n".join(DEFAULT_VOCAB).encode()))(tmp_path)
    assert load_checkpoint(tmp_path).tokenizer.pieces == DEFAULT_VOCAB


def test_a_vocabulary_smaller_than_the_embedding_is_a_note(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    put(CONFIG, vocab_size=SIZE + 7)(tmp_path)
    assert any(f"vocab_size is {SIZE + 7}" in note for note in load_checkpoint(tmp_path).notes)


def test_hostile_pieces_are_kept_as_they_are(tmp_path: Path) -> None:
    hostile = ('"', "\\", "*/", "\x00", "\u202e", "{{x}}", "\U0001f600", "##", "#" * 10**5)
    write_tiny_checkpoint(tmp_path, vocab=DEFAULT_VOCAB + hostile)
    spec = load_checkpoint(tmp_path).tokenizer
    assert spec.pieces == DEFAULT_VOCAB + hostile
    assert json.loads(spec.json)["model"]["vocab"]["\x00"] == SIZE + 3
