# SPDX-License-Identifier: Apache-2.0
"""StaticEmbedding folders of sentence-transformers and model2vec: what is read of them, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, add, assert_refused, changed, configure, graph_of, rename
from tiny_checkpoint import read_raw_safetensors, write_json, write_raw_safetensors, write_safetensors
from tokenizers import Tokenizer

from codegen import pipeline
from codegen.errors import EtchError
from codegen.ir import graph as g
from codegen.library_tokenizer.own_tokenizer import OwnTokenizer, own_tokenizer
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.load.files import CheckpointFolder
from codegen.load.static_embedding import other_library_notes
from codegen.oracle.interpret import Interpreter
from codegen.request import Reading

MEAN, DENSE, MODEL2VEC, SHARED = (f"static_embedding/{name}" for name in ("mean", "dense", "model2vec", "shared"))
WEIGHTS, TOKENIZER, MODULES = "model.safetensors", "tokenizer.json", "modules.json"
TEXT = "the cat, and what is new in the news ☃"


def put(name: str, **values: Any) -> Change:
    """Sets keys of a JSON file."""

    def change(path: Path) -> None:
        write_json(path / name, json.loads((path / name).read_text(encoding="utf-8")) | values)

    return change


def module(place: int, **values: Any) -> Change:
    def change(path: Path) -> None:
        items = json.loads((path / MODULES).read_text(encoding="utf-8"))
        items[place] |= values
        write_json(path / MODULES, items)

    return change


def types(*names: str) -> Change:
    """modules.json of these, each in a folder of its name but for the first."""

    def change(path: Path) -> None:
        paths = [f"{i}_{name}" if i else "" for i, name in enumerate(names)]
        items = [{"idx": i, "name": str(i), "path": each} for i, each in enumerate(paths)]
        kinds = [{"type": f"sentence_transformers.models.{name}"} for name in names]
        write_json(path / MODULES, [item | kind for item, kind in zip(items, kinds, strict=True)])

    return change


def dtype(name: str, kind: str) -> Change:
    def change(path: Path) -> None:
        header, data = read_raw_safetensors(path / WEIGHTS)
        header[name]["dtype"] = kind
        write_raw_safetensors(path / WEIGHTS, header, data)

    return change


def mapped_to(row: int) -> Change:
    """The first token's row."""

    def change(path: Path) -> None:
        header, data = read_raw_safetensors(path / WEIGHTS)
        begin = header["mapping"]["data_offsets"][0]
        row_bytes = row.to_bytes(4, "little", signed=True)
        write_raw_safetensors(path / WEIGHTS, header, data[:begin] + row_bytes + data[begin + 4 :])

    return change


def truncated(**values: Any) -> Change:
    usual = {"direction": "Right", "max_length": 9, "strategy": "LongestFirst", "stride": 0}
    return put(TOKENIZER, truncation=usual | values)


def stored(**tensors: Any) -> Change:
    return lambda path: write_safetensors(path / WEIGHTS, tensors)


REFUSED: list[tuple[str, Change, str, str]] = [
    (MEAN, lambda path: (path / WEIGHTS).unlink(), "weights-missing", "model.safetensors: the weights of"),
    (MEAN, lambda path: (path / WEIGHTS).rename(path / "pytorch_model.bin"), "pickle-refused", "pytorch_model.bin"),
    (MEAN, lambda path: (path / TOKENIZER).unlink(), "tokenizer-missing", "tokenizer.json: "),
    (MEAN, rename("embedding.weight", "words.weight"), "missing-tensor", "tensor 'embedding.weight'"),
    (MEAN, add("embeddings", (2, 21)), "unused-tensor", "'embeddings'"),
    (MEAN, dtype("embedding.weight", "I16"), "dtype-not-supported", "got I16"),
    (MEAN, stored(**{"embedding.weight": np.ones(64, np.float32)}), "wrong-shape", "expected [entries, width]"),
    (MEAN, stored(**{"embedding.weight": np.ones((9, 4), np.float32)}), "token-id-out-of-range", "only 9 rows"),
    (MEAN, truncated(max_length=0), "tokenizer-type", "truncation.max_length must be an integer from 1, got 0"),
    (MEAN, truncated(direction="Left"), "tokenizer-setting", "direction 'Left' is not supported"),
    (MEAN, truncated(strategy="OnlySecond"), "tokenizer-setting", "strategy 'OnlySecond' is not supported"),
    (MEAN, put(TOKENIZER, truncation=[3]), "tokenizer-type", "truncation.max_length"),
    (MEAN, module(0, path="0_Static"), "not-a-folder", "0_Static: it is not a folder"),
    (MEAN, module(0, path="../mean"), "sentence-path", "'../mean' is not the plain name"),
    (MEAN, types("StaticEmbedding", "Pooling"), "sentence-modules-order", "got StaticEmbedding, Pooling"),
    (MEAN, types("StaticEmbedding", "Normalize", "Dense"), "sentence-modules-order", "got StaticEmbedding, Normalize"),
    (MEAN, put("config_sentence_transformers.json", truncate_dim=8), "sentence-setting", "'truncate_dim': 8"),
    (MEAN, put("config_sentence_transformers.json", model_type="SparseEncoder"), "sentence-setting", "'model_type'"),
    (DENSE, put("1_Dense/config.json", in_features=23), "sentence-width", "the row before it has 24 values"),
    (MODEL2VEC, configure(normalize=False), "sentence-conflict", "'normalize' is false"),
    (SHARED, dtype("mapping", "U32"), "dtype-not-supported", "expected one of I32, I64, got U32"),
    (SHARED, mapped_to(23), "index-out-of-range", "tensor 'mapping': expected rows 0 to 22, got 0 to 23"),
    (SHARED, mapped_to(-1), "index-out-of-range", "expected rows 0 to 22, got -1 to"),
]


@pytest.mark.parametrize(("variant", "change", "code", "words"), REFUSED)
def test_refused(variant: str, change: Change, code: str, words: str, tmp_path: Path) -> None:
    assert_refused(variant, change, code, words, tmp_path)


def test_a_configuration_says_nothing_of_it(tmp_path: Path) -> None:
    config = {"model_type": "static_embedding", "hidden_size": 21, "vocab_size": 64}
    (tmp_path / "alone").mkdir()
    write_json(tmp_path / "alone/config.json", config)
    with pytest.raises(EtchError, match=r"modules\.json names StaticEmbedding, no config\.json does") as caught:
        pipeline.load(tmp_path / "alone")
    assert caught.value.code == "model-type-not-supported"


@pytest.mark.parametrize("options", [{"pooling": "cls"}, {"languages": ("eng_Latn", "fra_Latn")}])
def test_options_of_others(options: dict[str, Any]) -> None:
    with pytest.raises(EtchError, match=f"--?{next(iter(options))}") as caught:
        pipeline.load(folder(MEAN), Reading(**options))
    assert caught.value.code == "option-conflict"


@pytest.mark.parametrize(("variant", "path"), [(MEAN, ""), (DENSE, "0_StaticEmbedding"), (MODEL2VEC, ""), (SHARED, "")])
def test_ids_are_those_of_tokenizers_without_special_tokens(variant: str, path: str) -> None:
    checkpoint = pipeline.load(folder(variant))
    own = Tokenizer.from_file(str(folder(variant) / path / TOKENIZER))
    expected = own.encode(TEXT, add_special_tokens=False).ids
    assert own.encode(TEXT).ids != expected or variant in (MODEL2VEC, SHARED)
    assert text_tokenizer(checkpoint.tokenizer, checkpoint.default_max_tokens).encode(TEXT).ids == expected
    template = checkpoint.tokenizer.template
    assert template.special_ids == () and template.segments == 1
    found = own_tokenizer(folder(variant), checkpoint.default_max_tokens, template)
    assert isinstance(found, OwnTokenizer)
    assert found.tokenizer.encode(TEXT).ids == expected
    assert "without special tokens" in found.read_by


def test_the_length(tmp_path: Path) -> None:
    """As tokenizer.json cuts texts; where it does not the library has no limit."""
    plain, cut = pipeline.load(folder(MEAN)), pipeline.load(folder(DENSE))
    assert (plain.default_max_tokens, plain.max_tokens_source) == (512, "etch: the library has no limit")
    assert (cut.default_max_tokens, cut.max_tokens_source) == (20, "tokenizer.json truncation.max_length")
    for checkpoint, tokens in ((plain, 1), (plain, 30_000), (cut, 1), (cut, 20)):
        assert pipeline.to_graph(checkpoint, tokens).max_tokens == tokens
    for checkpoint, tokens in ((plain, 0), (plain, 32_769), (cut, 0), (cut, 21)):
        with pytest.raises(EtchError) as caught:
            pipeline.to_graph(checkpoint, tokens)
        assert caught.value.code == "max-tokens-out-of-range"
    assert pipeline.load(changed(MEAN, truncated(), tmp_path)).default_max_tokens == 9


def test_no_other_file_counts(tmp_path: Path) -> None:
    path = changed(MEAN, configure_of_another_kind, tmp_path)
    ours, other = pipeline.load(folder(MEAN)), pipeline.load(path)
    assert (other.tokenizer, other.default_max_tokens) == (ours.tokenizer, ours.default_max_tokens)
    assert other.notes == ours.notes


def configure_of_another_kind(path: Path) -> None:
    write_json(path / "config.json", {"model_type": "bert", "normalize": False})
    write_json(path / "tokenizer_config.json", {"tokenizer_class": "T5Tokenizer", "model_max_length": 3})
    write_json(path / "sentence_bert_config.json", {"max_seq_length": 4})
    (path / "vocab.txt").write_text("a\n", encoding="utf-8")


def test_its_files_count_for_the_digest(tmp_path: Path) -> None:
    path = changed(DENSE, lambda _: None, tmp_path)
    names = (MODULES, f"0_StaticEmbedding/{TOKENIZER}", "1_Dense/config.json")
    seen = {pipeline.load(path).digest}
    for name in names:
        (path / name).write_text((path / name).read_text() + "\n")
        seen.add(pipeline.load(path).digest)
    assert len(seen) == 4
    assert {*names, f"0_StaticEmbedding/{WEIGHTS}"} <= pipeline.load(path).files.keys()


def test_model2vec_says_what_is_otherwise(tmp_path: Path) -> None:
    (note,) = pipeline.load(folder(MODEL2VEC)).notes
    assert note.startswith("unknown tokens (id 1) count, as in sentence-transformers")
    assert pipeline.load(folder(MEAN)).notes == ()
    for name, values in (("other", {"model_type": "bert"}), ("unsaid", {"normalize": None})):
        path = changed(MODEL2VEC, configure(**values), tmp_path / name)
        assert len(pipeline.load(path).notes) == (name == "unsaid")


def test_byte_level_tokenizers_have_no_unknown_token() -> None:
    sentence = pipeline.load(folder(MODEL2VEC)).sentence
    assert sentence is not None
    tokenizer = pipeline.load(folder("roberta/softmax")).tokenizer
    assert other_library_notes(CheckpointFolder(folder(MODEL2VEC)), tokenizer, sentence) == ()


def test_shared_rows_are_folded() -> None:
    """A text of one token has its row, times its factor, before it is normalized."""
    graph = graph_of(folder(SHARED))
    (embed, pool, _) = graph.body
    assert isinstance(embed, g.Embed) and isinstance(pool, g.Pool)
    table = embed.terms[0].table.at(0)
    assert table.shape == (64, 19) and len(np.unique(table.values, axis=0)) == 64
    directions = table.values / np.linalg.norm(table.values, axis=1, keepdims=True)
    alike = directions @ directions.T > 1 - 1e-6
    assert 10 < len(np.unique(alike, axis=0)) <= 23
    assert np.allclose(Interpreter(graph).output([7], [0]), directions[7], atol=1e-6)
