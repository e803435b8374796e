# SPDX-License-Identifier: Apache-2.0
"""The tokenizer files: what is not understood, and what contradicts itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

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
from tiny_checkpoint import DEFAULT_VOCAB
from tokenizer_edits import (
    ADDED,
    AS_IN_JSON,
    SIZE,
    SPECIAL_MAP,
    added,
    duplicate_piece,
    lines,
    part,
    piece_away,
    renamed,
    template,
    text_only,
    vocab,
    without,
)

from codegen.errors import EtchError
from codegen.load.files import CheckpointFolder
from codegen.load.tokenizer_files.tokenizer import load_tokenizer
from codegen.load.tokenizer_files.tokenizer_json.fields import wheel_of
from codegen.tokenizer.folding import compile_folding


def t(name: str, change: Callable[[Path], object], code: str, words: str = "", file: str = TOKENIZER) -> Case:
    return Case(name, change, code, file, None, words)


def cfg(name: str, change: Callable[[Path], object], code: str = "tokenizer-conflict", words: str = "") -> Case:
    return Case(name, change, code, TOKENIZER_CONFIG, None, words)


_LEFT = {"direction": "Left", "max_length": 6, "strategy": "LongestFirst", "stride": 0}
_ROBERTA = {"type": "RobertaProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}
_NULLS = {"trim_offsets": None, "add_prefix_space": None}

SHAPE_CASES = [
    t("not json", raw(TOKENIZER, b"\0\0"), "json-malformed"),
    t("over 64 MiB", raw(TOKENIZER, b"{" + b" " * (64 << 20)), "file-too-large"),
    t("unknown top field", put(TOKENIZER, preprocessor=None), "tokenizer-field", "'preprocessor'"),
    t("no model", drop(TOKENIZER, "model"), "tokenizer-field", "'model'"),
    t("version 2.0", put(TOKENIZER, version="2.0"), "tokenizer-version", "'2.0'"),
    cfg(
        "bpe", put(TOKENIZER, model={"type": "BPE", "vocab": {}, "merges": []}), "tokenizer-class", "BPE of characters"
    ),
    t("another model", part("model", type="WordPieces"), "tokenizer-model", "(supported: WordPiece)"),
    cfg("unigram", part("model", type="Unigram"), "tokenizer-class", "SentencePiece"),
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
    t("post-processor of bytes", part("post_processor", type="ByteLevel"), "tokenizer-post-processor"),
    t("word of 5000 characters", part("model", max_input_chars_per_word=5000), "tokenizer-type", "in 1..4096"),
    t("truncated at its begin", put(TOKENIZER, truncation=_LEFT), "tokenizer-setting", "direction 'Left'"),
    t(
        "RoBERTa's without its settings",
        put(TOKENIZER, post_processor=_ROBERTA),
        "tokenizer-field",
        "'add_prefix_space'",
    ),
    t("RoBERTa's with null", put(TOKENIZER, post_processor=_ROBERTA | _NULLS), "tokenizer-type", "true/false"),
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
    t("piece of 1025 bytes", vocab(**{"x" * 1025: SIZE}), "piece-too-long", "has 1025 bytes, at most 1024"),
    t("piece of 10 MB", vocab(**{"xy" * 5_000_000: SIZE}), "piece-too-long"),
    t("added token of 10 MB", added(content="[" + "x" * 10_000_000, id=SIZE), "piece-too-long"),
    t("5 MB of pieces", vocab(**{f"{i:x<1000}": SIZE + i for i in range(5000)}), "vocab-too-large"),
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
    t("vocab.txt with a space before", text_only(*renamed("[SEP]", " [SEP]")), "missing-special-token", file=VOCAB),
    t(
        "vocab.txt with CR only",
        both(remove(TOKENIZER), lines(*DEFAULT_VOCAB, newline="\r")),
        "missing-special-token",
        file=VOCAB,
    ),
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
        "mask_token with lstrip, no tokenizer.json",
        both(text_only(*DEFAULT_VOCAB), put(TOKENIZER_CONFIG, mask_token={"content": "[MASK]", "lstrip": True})),
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
    cfg("added_tokens_decoder null", put(TOKENIZER_CONFIG, added_tokens_decoder=None), "config-type"),
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
    cfg("special tokens split", put(TOKENIZER_CONFIG, split_special_tokens=True), "tokenizer-setting", "true"),
    cfg(
        "eos_token added to all texts",
        both(text_only(*DEFAULT_VOCAB), put(TOKENIZER_CONFIG, add_eos_token=True)),
        "tokenizer-setting",
    ),
    cfg("eos_token", put(TOKENIZER_CONFIG, eos_token="<img>"), words="eos_token '<img>'"),
    cfg("bos_token", put(TOKENIZER_CONFIG, bos_token={"content": "<img>"}), words="bos_token '<img>'"),
    cfg("image_token", put(TOKENIZER_CONFIG, image_token="cat"), words="image_token 'cat'"),
    cfg("any token", put(TOKENIZER_CONFIG, my_own_token="<img>"), words="my_own_token '<img>'"),
    cfg("model's special tokens", put(TOKENIZER_CONFIG, model_specific_special_tokens={"x_token": "<img>"})),
    cfg("cls_token null", put(TOKENIZER_CONFIG, cls_token=None), "tokenizer-setting", "'cls_token': null"),
    cfg("mask_token null", put(TOKENIZER_CONFIG, mask_token=None), "tokenizer-setting", "'[MASK]'"),
    cfg("model_input_names text", put(TOKENIZER_CONFIG, model_input_names="input_ids"), "config-type"),
    cfg("model_input_names numbers", put(TOKENIZER_CONFIG, model_input_names=[1]), "config-type"),
    t(
        "tokenizer class in config.json",
        both(drop(TOKENIZER_CONFIG, "tokenizer_class"), put(CONFIG, tokenizer_class="RobertaTokenizer")),
        "tokenizer-class",
        file=CONFIG,
    ),
    t(
        "tokenizer class in config.json alone",
        both(remove(TOKENIZER_CONFIG), put(CONFIG, tokenizer_class=["BertTokenizer"])),
        "tokenizer-class",
        file=CONFIG,
    ),
    t("special map, eos_token", put(SPECIAL_MAP, eos_token="<img>"), "tokenizer-conflict", "'<img>'", SPECIAL_MAP),
    t("special map, sep_token null", put(SPECIAL_MAP, sep_token=None), "tokenizer-setting", file=SPECIAL_MAP),
    t("added map, an ordinary piece", put(ADDED, cat=7), "tokenizer-conflict", "ordinary piece", ADDED),
    cfg("config malformed", raw(TOKENIZER_CONFIG, b"{'a': 1}"), "json-malformed"),
    cfg(
        "json class, only vocab.txt",
        both(text_only(*DEFAULT_VOCAB), AS_IN_JSON),
        "tokenizer-class",
        "'PreTrainedTokenizerFast' needs tokenizer.json",
    ),
    t(
        "json class of config.json, only vocab.txt",
        both(text_only(*DEFAULT_VOCAB), remove(TOKENIZER_CONFIG), put(CONFIG, tokenizer_class="TokenizersBackend")),
        "tokenizer-class",
        "'TokenizersBackend' needs tokenizer.json",
        CONFIG,
    ),
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


def test_a_class_that_no_file_names_needs_tokenizer_json(tmp_path: Path) -> None:
    """That of the family."""
    (tmp_path / VOCAB).write_text("\n".join(DEFAULT_VOCAB))
    with pytest.raises(EtchError, match=r"'TokenizersBackend' needs tokenizer\.json") as caught:
        load_tokenizer(CheckpointFolder(tmp_path), SIZE, None, "TokenizersBackend")
    assert (caught.value.code, caught.value.file) == ("tokenizer-class", None)


def test_a_damaged_map_is_refused_where_the_library_panics() -> None:
    """Of Rust's panics Python makes an exception that is none below Exception."""
    normalizer = {"type": "Precompiled", "precompiled_charsmap": "BAAAAA=="}
    parts = dict.fromkeys(("truncation", "padding", "pre_tokenizer", "post_processor", "decoder"))
    model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
    content = parts | {"version": "1.0", "added_tokens": [], "normalizer": normalizer, "model": model}
    with pytest.raises(EtchError) as caught:
        wheel_of(json.dumps(content))
    assert caught.value.code == "tokenizer-unreadable"


def test_syllables_that_are_dropped_are_refused() -> None:
    """The tables have no place for Hangul but in parts or as it is."""
    letters_only = {"type": "Replace", "pattern": {"Regex": "[^a-zA-Z ]"}, "content": ""}
    with pytest.raises(EtchError, match="Hangul syllables become something else"):
        compile_folding((json.dumps(letters_only),))
