# SPDX-License-Identifier: Apache-2.0
"""config.json: malformed text, wrong types, labels; and the getters that the front-ends read it through."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from malformed import CONFIG, Case, check_refused, drop, load_and_take, parametrize, put, raw
from tiny_checkpoint import write_tiny_checkpoint

from codegen.errors import EtchError
from codegen.frontends import build_graph, limits_of
from codegen.load.config import Config, is_neutral
from codegen.load.folder import load_checkpoint
from codegen.load.json_file import MAX_DEPTH, MAX_NUMBER_LENGTH, MAX_VALUES, parse_json


def c(name: str, change: Callable[[Path], object], code: str, words: str = "") -> Case:
    return Case(name, change, code, CONFIG, None, words)


CASES = [
    c("empty", raw(CONFIG, b""), "json-malformed", "is empty: get the file again"),
    c("white space", raw(CONFIG, b" \n"), "json-malformed", "is empty: get the file again"),
    c("not json", raw(CONFIG, b"model_type: bert"), "json-malformed", "line 1 column 1"),
    c("a byte order mark", raw(CONFIG, b"\xef\xbb\xbf{}"), "json-malformed", "begins with a byte order mark"),
    c("array", raw(CONFIG, b"[]"), "json-not-an-object"),
    c("null", raw(CONFIG, b"null"), "json-not-an-object"),
    c("truncated", raw(CONFIG, b'{"model_type": "be'), "json-malformed"),
    c("byte order mark", raw(CONFIG, b"\xef\xbb\xbf{}"), "json-malformed"),
    c("utf-16", raw(CONFIG, '{"a": 1}'.encode("utf-16")), "json-not-utf8"),
    c("surrogate bytes", raw(CONFIG, b'{"a": "\xed\xa0\x80"}'), "json-not-utf8"),
    c("lone surrogate", raw(CONFIG, rb'{"a": ["\udc00"]}'), "json-lone-surrogate"),
    c("duplicate key", raw(CONFIG, b'{"hidden_size": 1, "hidden_size": 2}'), "json-duplicate-key", "'hidden_size'"),
    c("duplicate key below", raw(CONFIG, b'{"a": {"b": 1, "b": 1}}'), "json-duplicate-key", "'b'"),
    c("duplicate by escape", raw(CONFIG, rb'{"a": 1, "\u0061": 2}'), "json-duplicate-key"),
    c("NaN", raw(CONFIG, b'{"layer_norm_eps": NaN}'), "json-not-finite", "NaN"),
    c("-Infinity", raw(CONFIG, b'{"layer_norm_eps": -Infinity}'), "json-not-finite", "-Infinity"),
    c("1e400", raw(CONFIG, b'{"layer_norm_eps": 1e400}'), "json-not-finite"),
    c("101 digits", raw(CONFIG, b'{"hidden_size": 1' + b"0" * 100 + b"}"), "json-number-too-long"),
    c("a million digits", raw(CONFIG, b'{"hidden_size": ' + b"1" * 10**6 + b"}"), "json-number-too-long"),
    c("a long fraction", raw(CONFIG, b'{"layer_norm_eps": 0.' + b"1" * 100 + b"}"), "json-number-too-long"),
    c("nested lists", raw(CONFIG, b"[" * 200_000), "json-too-deep"),
    c("nested objects", raw(CONFIG, b'{"a":' * 200_000 + b"1" + b"}" * 200_000), "json-too-deep"),
    c("too many values", raw(CONFIG, b'{"a": [' + b"1," * 10**6 + b"1]}"), "json-too-large"),
    c("over 64 MiB", raw(CONFIG, b"{}" + b" " * (64 << 20)), "file-too-large"),
    c("auto_map null", put(CONFIG, auto_map=None), "config-type", "'auto_map' must be an object"),
    c("auto_map list", put(CONFIG, auto_map=["AutoModel"]), "config-type", "'auto_map' must be an object"),
    c("custom_pipelines", put(CONFIG, custom_pipelines={}), "remote-code", "'custom_pipelines'"),
    c(
        "quantization_config",
        put(CONFIG, quantization_config={"quant_method": "gptq", "bits": 4}),
        "config-not-supported",
        "'quantization_config': weights that are quantized already by gptq are not read",
    ),
    c("quantization_config {}", put(CONFIG, quantization_config={}), "config-not-supported"),
    c("pruned_heads", put(CONFIG, pruned_heads={"0": [0]}), "config-not-supported", "'pruned_heads'"),
    c("pruned_heads false", put(CONFIG, pruned_heads=False), "config-not-supported"),
    c(
        "encoder and decoder",
        put(CONFIG, is_encoder_decoder=True),
        "config-not-supported",
        "'is_encoder_decoder': true",
    ),
    c("an adapter's keys", put(CONFIG, adapters={"adapters": {"a": "b"}}), "config-not-supported"),
    c("no vocab_size", drop(CONFIG, "vocab_size"), "config-missing", "'vocab_size'"),
    c("vocab_size null", put(CONFIG, vocab_size=None), "config-type", "got null"),
    c("vocab_size true", put(CONFIG, vocab_size=True), "config-type", "got true/false"),
    c("vocab_size 49.0", put(CONFIG, vocab_size=49.0), "config-type"),
    c("vocab_size text", put(CONFIG, vocab_size="49"), "config-type", "'49'"),
    c("vocab_size 0", put(CONFIG, vocab_size=0), "config-out-of-range"),
    c("vocab_size negative", put(CONFIG, vocab_size=-1), "config-out-of-range"),
    c("vocab_size 10^12", put(CONFIG, vocab_size=10**12), "config-out-of-range"),
    c("no max_position_embeddings", drop(CONFIG, "max_position_embeddings"), "config-missing"),
    c("10^9 layers", put(CONFIG, num_hidden_layers=10**9), "config-out-of-range", "1..1000, got 1000000000"),
    c("label gap", put(CONFIG, id2label={"0": "a", "2": "c"}, label2id={"a": 0, "c": 2}), "labels-gap", "no '1'"),
    c("label id 00", put(CONFIG, id2label={"00": "a"}, label2id={"a": 0}), "labels-gap"),
    c("label id negative", put(CONFIG, id2label={"-1": "a", "0": "b"}), "labels-gap"),
    c("label a number", put(CONFIG, id2label={"0": 7}), "labels-type"),
    c("label null", put(CONFIG, id2label={"0": None}), "labels-type"),
    c("labels a list", put(CONFIG, id2label=["a", "b", "c"]), "labels-type"),
    c("labels empty", put(CONFIG, id2label={}, label2id={}), "labels-type"),
    c("label twice", put(CONFIG, id2label={"0": "a", "1": "a"}, label2id={"a": 1}), "labels-duplicate"),
    c("label2id swapped", put(CONFIG, id2label={"0": "a", "1": "b"}, label2id={"a": 1, "b": 0}), "labels-conflict"),
    c("label2id other names", put(CONFIG, label2id={"LABEL_0": 0, "LABEL_1": 1, "LABEL_2": 2}), "labels-conflict"),
    c("label2id shorter", put(CONFIG, label2id={"label 0": 0}), "labels-conflict"),
    c(
        "label2id longer",
        put(CONFIG, label2id={"label 0": 0, "label 1": 1, "label 2": 2, "label 3": 3}),
        "labels-conflict",
        "label2id has 4 labels, id2label 3",
    ),
    c("label2id true", put(CONFIG, id2label={"0": "a", "1": "b"}, label2id={"a": 0, "b": True}), "labels-conflict"),
    c("label2id text", put(CONFIG, id2label={"0": "a"}, label2id={"a": "0"}), "labels-conflict"),
    c("label2id a list", put(CONFIG, label2id=[0, 1, 2]), "labels-type"),
    c("label2id alone", drop(CONFIG, "id2label"), "labels-conflict"),
    c("num_labels other", put(CONFIG, num_labels=4), "labels-conflict", "num_labels is 4, id2label has 3"),
    c("num_labels 10^9", put(CONFIG, num_labels=10**9), "config-out-of-range"),
    c("num_labels true", put(CONFIG, num_labels=True), "config-out-of-range"),
]


@parametrize(CASES)
def test_refused(case: Case, tmp_path: Path) -> None:
    check_refused(case, tmp_path / "model")


def test_code_of_a_known_type_is_not_run(tmp_path: Path) -> None:
    """Nor is it in `transformers` that trusts nobody: the model is that of its own class."""
    write_tiny_checkpoint(tmp_path / "model")
    before = load_checkpoint(tmp_path / "model")
    config_file = tmp_path / "model" / CONFIG
    own_class = {"AutoConfig": "configuration.Own", "AutoModel": "modeling.Own"}
    config_file.write_text(json.dumps(json.loads(config_file.read_text()) | {"auto_map": own_class}))
    after = load_checkpoint(tmp_path / "model", limits_of)
    note = "config.json names code that comes with the checkpoint (auto_map): never run, read as bert"
    assert after.notes == (*before.notes, note)
    assert not build_graph(after, 16).notes


def config(**values: object) -> Config:
    return Config.from_json(dict(values))


def test_getters() -> None:
    values = config(text="x", count=3, eps=1e-12, whole=2, on=True, names=["a", "b"], model_type="bert")
    assert values.text("text") == "x"
    assert values.text("absent", "gelu") == "gelu"
    assert values.positive_int("count") == 3
    assert values.positive_int("count", maximum=3) == 3
    assert values.positive_int("absent", 5) == 5
    assert values.number("eps") == 1e-12
    assert values.number("whole") == 2.0
    assert isinstance(values.number("whole"), float)
    assert values.flag("on") is True
    assert values.flag("absent", False) is False
    assert values.strings("names") == ("a", "b")
    assert values.strings("absent", ()) == ()
    assert values.model_type == "bert"
    assert "on" in values
    assert "off" not in values


@pytest.mark.parametrize(
    ("read", "code"),
    [
        (lambda v: v.text("number"), "config-type"),
        (lambda v: v.text("nothing", "x"), "config-type"),
        (lambda v: v.text("absent"), "config-missing"),
        (lambda v: v.positive_int("on"), "config-type"),
        (lambda v: v.positive_int("nothing", 3), "config-type"),
        (lambda v: v.positive_int("number", maximum=11), "config-out-of-range"),
        (lambda v: v.number("on"), "config-type"),
        (lambda v: v.number("text"), "config-type"),
        (lambda v: v.flag("number"), "config-type"),
        (lambda v: v.flag("text"), "config-type"),
        (lambda v: v.flag("absent"), "config-missing"),
        (lambda v: v.strings("text"), "config-type"),
        (lambda v: v.strings("mixed"), "config-type"),
        (lambda v: v.architectures, "config-type"),
        (lambda v: v.problem_type, "config-value"),
        (lambda v: v.model_type, "config-missing"),
    ],
)
def test_getters_refuse(read: Callable[[Config], object], code: str) -> None:
    values = config(
        text="yes", number=12, on=True, nothing=None, mixed=["a", 1], architectures="Bert", problem_type="guess"
    )
    with pytest.raises(EtchError) as caught:
        read(values)
    assert (caught.value.code, caught.value.stage, caught.value.file) == (code, "load", CONFIG)


def test_what_may_be_absent_or_null() -> None:
    for values in (config(), config(architectures=None, problem_type=None, id2label=None, label2id=None)):
        assert values.architectures == ()
        assert values.problem_type is None
        assert values.labels() == ("LABEL_0", "LABEL_1")
        assert values.notes() == ("config.json names no labels: LABEL_0..LABEL_1 assumed",)
    assert config(num_labels=1).labels() == ("LABEL_0",)
    assert config(num_labels=2, label2id={"LABEL_0": 0, "LABEL_1": 1}).labels() == ("LABEL_0", "LABEL_1")


@pytest.mark.parametrize(
    ("value", "neutral", "is_one"),
    [
        *((value, (None, False, 1, 1.0, {}), True) for value in (None, False, 1, 1.0, {})),
        *((value, (None, False, {}), False) for value in (0, 0.0, "", [], True, {"a": 1})),
        (True, (1,), False),
        (1.0, (1,), False),
    ],
)
def test_a_neutral_value_is_one_of_its_type(value: object, neutral: tuple[object, ...], is_one: bool) -> None:
    assert is_neutral(value, neutral) == is_one


def test_labels_are_kept_as_they_are() -> None:
    hostile = ("", '"; #include </etc/passwd>', "*/", "\x00", "{{ 7*7 }}", "\u202e", "x" * 10**6, "a\\\n??/")
    values = config(id2label={str(i): label for i, label in enumerate(hostile)})
    assert values.labels() == hostile
    assert values.notes() == ()


def test_eleven_labels_keep_numeric_order(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path, labels=11)
    put(CONFIG, id2label={str(i): f"label {i}" for i in reversed(range(11))})(tmp_path)
    assert load_and_take(tmp_path).config.labels()[10] == "label 10"


def test_note_of_assumed_labels_reaches_the_checkpoint(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    drop(CONFIG, "id2label")(tmp_path)
    drop(CONFIG, "label2id")(tmp_path)
    assert any("LABEL_0" in note for note in load_checkpoint(tmp_path).notes)
    for named in ("BertForMaskedLM", "BertForQuestionAnswering", "BertModel"):
        put(CONFIG, architectures=[named])(tmp_path)
        assert load_checkpoint(tmp_path).notes == ()


def test_a_family_is_refused_before_the_other_files_are_read(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    (tmp_path / "tokenizer.json").write_text("not json")

    def refuse(values: Config) -> None:
        raise EtchError("model-type", "front-end", values.model_type)

    with pytest.raises(EtchError) as caught:
        load_checkpoint(tmp_path, refuse)
    assert caught.value.code == "model-type"


def test_numbers_that_are_long_but_usual() -> None:
    assert parse_json(b'{"n": 1000000000000000019884624838656}', "x")["n"] == 1000000000000000019884624838656
    assert parse_json(b'{"n": 1e-12, "z": -0}', "x") == {"n": 1e-12, "z": 0}


def test_limits_are_met_exactly() -> None:
    number = b"1" * MAX_NUMBER_LENGTH
    fraction = b"0." + b"1" * (MAX_NUMBER_LENGTH - 2)
    assert parse_json(b'{"n": %b, "f": %b}' % (number, fraction), "x")["n"] == int(number)
    values = MAX_VALUES - 2  # beside the object and its list
    assert len(parse_json(b'{"a":[' + b"0," * (values - 1) + b"0]}", "x")["a"]) == values
    lists = MAX_DEPTH - 1
    assert parse_json(b'{"a":' + b"[" * lists + b"]" * lists + b"}", "x")
    for text in (
        b'{"n": %b1}' % number,
        b'{"n": %b1}' % fraction,
        b'{"a":[' + b"0," * values + b"0]}",
        b'{"a":' + b"[" * (lists + 1) + b"]" * (lists + 1) + b"}",
    ):
        with pytest.raises(EtchError):
            parse_json(text, "x")
