# SPDX-License-Identifier: Apache-2.0
"""Tokenizers of GGUF files: ids are those of the tokenizer that was written into the file, by the `tokenizers` wheel or
the `sentencepiece` library; gguf_vocabularies.py compares with llama.cpp's own vocabularies, where these are."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_checkpoint import tokenizer_json, write_json, write_tiny_checkpoint
from tokenizers import Tokenizer

gguf = pytest.importorskip("gguf")

from gguf_files import KIND, write_gguf  # noqa: E402

from codegen import cli  # noqa: E402
from codegen.convert.gguf.file import GgufFile  # noqa: E402
from codegen.convert.gguf.metadata import Metadata  # noqa: E402
from codegen.convert.gguf.tokenizers.tokenizer import TokenizerFiles, read_tokenizer  # noqa: E402
from codegen.errors import EtchError  # noqa: E402
from codegen.load.tokenizer_files.sentencepiece_model import read_sentencepiece_model  # noqa: E402

RECORDED = Path(__file__).resolve().parents[1]
TEXTS = [
    *("", "a", "Hello  world", " leading", "trailing ", "don't DON'T we'll", "1234 5 67", "a1b22", "x\n\n y\t z"),
    *(
        "caf\u00e9 cafe\u0301",
        "\u4f60\u597d \u4e16\u754c",
        "\U0001f600\U0001f600 ok",
        "\u2581 \u2581a",
        "ab<|end_of_text|>c",
    ),
    *("[CLS] a [SEP]", "\u00c9T\u00c9 \u00fcber", "<s>the cat</s>", "...!!!???", "\u00a0nbsp", "tabs\t\tand   spaces"),
]


def read(values: dict[str, Any], rows: int | None = None) -> TokenizerFiles:
    values = {"general.architecture": "llama", **values}
    file = GgufFile("m.gguf", values, {})
    count = len(values["tokenizer.ggml.tokens"])
    return read_tokenizer(Metadata(file), ("bert", "gpt2", "llama", "t5"), rows or count, 64)


def of_pieces(texts: list[str], **more: Any) -> dict[str, Any]:
    kinds = more.pop("kinds", [1] * len(texts))
    scores = more.pop("scores", [0.0] * len(texts))
    values = {
        KIND: "llama",
        "tokenizer.ggml.tokens": texts,
        "tokenizer.ggml.token_type": np.array(kinds, np.int32),
        "tokenizer.ggml.scores": np.array(scores, np.float32),
    }
    return values | {f"tokenizer.ggml.{key}": value for key, value in more.items()}


def refused(values: dict[str, Any], part: str, rows: int | None = None) -> None:
    with pytest.raises(EtchError) as caught:
        read(values, rows)
    assert caught.value.code in ("gguf-tokenizer", "gguf-key")
    assert part in caught.value.message


def same_ids(left: Tokenizer, right: Tokenizer) -> None:
    for text in TEXTS:
        assert left.encode(text).ids == right.encode(text).ids, text
        ids = left.encode(text, add_special_tokens=False).ids
        assert left.decode(ids, skip_special_tokens=False) == right.decode(ids, skip_special_tokens=False), text


@pytest.mark.parametrize(("variant", "pre"), [("llama/texts", "llama-bpe"), ("qwen2/texts", "qwen2")])
def test_byte_level(variant: str, pre: str, tmp_path: Path) -> None:
    source = RECORDED / "generation" / variant
    file = write_gguf(source, tmp_path / "model.gguf", add=lambda writer: writer.add_tokenizer_pre(pre))
    assert cli.main(["convert", str(file), "--out", str(tmp_path / "out")]) == 0
    paths = source / "tokenizer.json", tmp_path / "out/tokenizer.json"
    same_ids(*(Tokenizer.from_file(str(path)) for path in paths))
    before, after = (json.loads(path.read_text(encoding="utf-8")) for path in paths)
    assert (before["normalizer"], before["pre_tokenizer"]) == (after["normalizer"], after["pre_tokenizer"])
    assert before["model"]["ignore_merges"] is after["model"]["ignore_merges"]


@pytest.mark.parametrize("pre", ["gpt-2", "llama-bpe", "qwen2", "smollm", "olmo", "dbrx"])
def test_where_words_are_parted(pre: str) -> None:
    """By the pre_tokenizer alone, over a vocabulary of bytes."""
    from codegen.ir.byte_pieces import BYTE_OF

    found = Tokenizer.from_str(json.dumps(read(of_bytes(list(BYTE_OF), pre)).tokenizer))
    assert found.pre_tokenizer is not None

    def words(text: str) -> list[str]:
        assert found.pre_tokenizer is not None
        return [word for word, _ in found.pre_tokenizer.pre_tokenize_str(text)]

    digits = {
        "gpt-2": ["\u01201234"],
        "olmo": ["\u01201234"],
        "llama-bpe": ["\u0120", "123", "4"],
        "dbrx": ["\u0120", "123", "4"],
    }
    assert words(" 1234") == digits.get(pre, ["\u0120", "1", "2", "3", "4"])
    assert words("x'LL") == (["x", "'LL"] if pre in ("llama-bpe", "qwen2", "dbrx") else ["x", "'", "LL"])
    composed = found.normalizer is not None
    assert composed == (pre in ("qwen2", "olmo"))


def of_bytes(pieces: list[str], pre: str | None, **more: Any) -> dict[str, Any]:
    values = of_pieces(pieces, **more) | {KIND: "gpt2", "tokenizer.ggml.bos_token_id": 0}
    return values | ({} if pre is None else {"tokenizer.ggml.pre": pre})


@pytest.mark.parametrize("lower", [True, False])
def test_word_piece(lower: bool, tmp_path: Path) -> None:
    """U+2581 is taken back; whether texts are in lower case is seen by the pieces."""
    words = ["the", "cat", "##s", "##e", "a", "c", "##a", "##f", "##\u00e9", "e", ".", "!", "?", "\u4f60", "[unused1]"]
    words += ["Berlin", *(f"w{i}" for i in range(60))] if lower else ["The", "DON", "##T", "E"]
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    write_tiny_checkpoint(tmp_path / "source", vocab=vocab)
    described = tokenizer_json(vocab, lowercase=lower)
    write_json(tmp_path / "source/tokenizer.json", described)
    config = json.loads((tmp_path / "source/config.json").read_text())
    write_json(tmp_path / "source/config.json", config | {"architectures": ["BertModel"]})
    file = write_gguf(tmp_path / "source", tmp_path / "model.gguf")
    assert cli.main(["convert", str(file), "--out", str(tmp_path / "out")]) == 0
    same_ids(Tokenizer.from_str(json.dumps(described)), Tokenizer.from_file(str(tmp_path / "out/tokenizer.json")))
    settings = json.loads((tmp_path / "out/tokenizer_config.json").read_text())
    assert settings["do_lower_case"] is lower
    assert settings["sep_token"] == "[SEP]"


@pytest.mark.parametrize("prefix", [True, False])
def test_sentencepiece(prefix: bool) -> None:
    """A model that SentencePiece trained: its own ids, but for pieces of one score, of which it takes the first."""
    import sentencepiece

    lines = (RECORDED / "load/corpus.py").read_text(encoding="utf-8").splitlines()
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(line for line in lines if line.strip()),
        model_writer=written,
        model_type="bpe",
        vocab_size=600,
        byte_fallback=True,
        add_dummy_prefix=prefix,
        remove_extra_whitespaces=False,
        normalization_rule_name="identity",
        user_defined_symbols=["<turn>"],
        minloglevel=2,
    )
    model = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    count = model.vocab_size()
    kinds = [
        2 if model.is_unknown(i) else 3 if model.is_control(i) else 6 if model.is_byte(i) else 4 if i == 3 else 1
        for i in range(count)
    ]
    values = of_pieces(
        [model.id_to_piece(i) for i in range(count)],
        kinds=kinds,
        scores=[model.get_score(i) for i in range(count)],
        add_space_prefix=prefix,
        bos_token_id=1,
        eos_token_id=2,
        unknown_token_id=0,
    )
    found = Tokenizer.from_str(json.dumps(read(values).tokenizer))
    for text in [*(text for text in TEXTS if "<s>" not in text), *lines[:300], "\u20ac\u20ac"]:
        ids = found.encode(text).ids
        expected = [] if not text and not prefix else model.encode(text)
        assert ids == [1, *expected], text
    assert found.encode("a<turn>b").ids.count(3) == 1
    for text in ("Hello  world", " leading", "\u20ac", "a\n b"):
        assert found.decode(model.encode(text)) == text


def test_unigram(tmp_path: Path) -> None:
    source = RECORDED / "recorded/xlm-roberta/mean"
    file = write_gguf(source, tmp_path / "model.gguf")
    assert cli.main(["convert", str(file), "--out", str(tmp_path / "out")]) == 0
    before, after = (Tokenizer.from_file(str(path / "tokenizer.json")) for path in (source, tmp_path / "out"))
    same_ids(before, after)
    for pair in (("a tea", "e a"), ("", "t")):
        assert before.encode(*pair).ids == after.encode(*pair).ids


def test_a_compiled_map_goes_along() -> None:
    import sentencepiece

    written = io.BytesIO()
    lines = (RECORDED / "load/corpus.py").read_text(encoding="utf-8").splitlines()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(line for line in lines if line.strip()),
        model_writer=written,
        model_type="unigram",
        vocab_size=300,
        normalization_rule_name="nmt_nfkc",
        minloglevel=2,
    )
    model = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    compiled = read_sentencepiece_model(written.getvalue(), "m").charsmap
    values = of_pieces(
        [model.id_to_piece(i) for i in range(300)],
        kinds=[2, 3, 3, *[1] * 297],
        scores=[model.get_score(i) for i in range(300)],
        unknown_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        precompiled_charsmap=np.frombuffer(compiled, np.uint8),
    )
    found = Tokenizer.from_str(json.dumps(read(values | {KIND: "t5"}).tokenizer))
    for text in [*(text for text in TEXTS if "s>" not in text), "\uff21\ufb01\u2460", *lines[:300]]:
        assert found.encode(text, add_special_tokens=False).ids == model.encode(text), text
    wrong = np.array([256], np.int32)
    refused(values | {KIND: "t5", "tokenizer.ggml.precompiled_charsmap": wrong}, "holds no bytes")
    refused(values | {KIND: "t5", "tokenizer.ggml.eos_token_id": 1}, "must name three tokens")


def test_ends_around_texts() -> None:
    texts = ["<unk>", "<s>", "</s>", "\u2581", "a", "\u2581a"]
    kinds = [2, 3, 3, 1, 1, 1]
    ends = {"bos_token_id": 1, "eos_token_id": 2, "unknown_token_id": 0}

    def ids(**more: Any) -> list[int]:
        found = read(of_pieces(texts, kinds=kinds, **ends, **more))
        return Tokenizer.from_str(json.dumps(found.tokenizer)).encode("a").ids

    assert ids() == [1, 5]
    assert ids(add_bos_token=False) == [5]
    assert ids(add_bos_token=False, add_eos_token=True) == [5, 2]
    refused(of_pieces(texts, kinds=kinds, unknown_token_id=0), "add_bos_token, and no")
    refused(of_pieces(texts, kinds=kinds, bos_token_id=6), "is 6 of 6 tokens")


def test_what_fills_up_the_table_is_no_token() -> None:
    texts = ["<unk>", "\u2581", "a", "[PAD3]", "[PAD4]"]
    values = of_pieces(texts, kinds=[2, 1, 1, 5, 5], unknown_token_id=0, add_bos_token=False)
    assert list(read(values, 8).tokenizer["model"]["vocab"]) == texts[:3]


PIECES = ["<unk>", "\u2581", "a"]
WRONG: list[tuple[Callable[[], dict[str, Any]], str]] = [
    (lambda: of_pieces([*PIECES, "a"]), "there twice"),
    (lambda: of_pieces([*PIECES, ""]), "is empty"),
    (lambda: of_pieces([*PIECES, "a" * 1025]), "more than 1024 characters"),
    (lambda: of_pieces(PIECES, kinds=[1, 1]), "not a kind for each of 3 tokens"),
    (lambda: of_pieces(PIECES, kinds=[1, 1, 7]), "not a kind for each of 3 tokens"),
    (lambda: of_pieces(PIECES, scores=[0.0], add_bos_token=False), "1 values for 3 tokens"),
    (lambda: of_pieces(PIECES, scores=[0.0, 1.0, float("nan")], add_bos_token=False), "must be a list of numbers"),
    (lambda: of_pieces(PIECES) | {KIND: "rwkv"}, "'rwkv' is not read (read: bert, gpt2, llama"),
    (lambda: of_pieces(PIECES) | {"tokenizer.ggml.tokens": "a"}, "must be a list of texts"),
    (lambda: of_pieces([]), "0 tokens"),
    (lambda: of_bytes(PIECES, None), "'default' does not say where words are parted"),
    (lambda: of_bytes(["a", "b"], "gpt-2", merges=["a b"]), "'a b' is no pair"),
    (lambda: of_bytes(["a", "b", "ab"], "gpt-2", merges=["a b c"]), "'a b c' is no pair"),
    (lambda: of_pieces(["a", "b"]) | {KIND: "bert"}, "no token is named as [UNK]"),
    (lambda: of_pieces(["[UNK]", "[CLS]", "[SEP]", "a", "\u2581##a"]) | {KIND: "bert"}, "two tokens are '##"),
]


@pytest.mark.parametrize(("values", "part"), WRONG)
def test_what_is_refused(values: Callable[[], dict[str, Any]], part: str) -> None:
    found = values()
    refused(found, part, max(1, len(found["tokenizer.ggml.tokens"])))


def test_more_tokens_than_rows() -> None:
    refused(of_pieces(PIECES), "3 tokens, and 2 rows", 2)
