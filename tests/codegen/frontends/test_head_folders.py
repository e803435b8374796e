# SPDX-License-Identifier: Apache-2.0
"""Several heads on one encoder: a graph with the encoder once, each head's outputs those of a model of its own; folders
that do not fit are refused, by the first tensor that differs where the encoder does."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import configure, rename
from tiny_checkpoint import read_raw_safetensors, write_tiny_checkpoint
from tiny_heads import with_tensor, with_vocabulary, write_encoder, write_gru, write_head

from codegen import pipeline
from codegen.emulate import emulate_outputs, emulate_texts
from codegen.errors import EtchError
from codegen.head_folders import HeadFolder, parse_head
from codegen.ir import program as p
from codegen.ir import walks
from codegen.ir.text import Text
from codegen.pack.tables import make_tables, table_bytes
from codegen.request import Reading
from codegen.targets import TARGETS
from codegen.tokenizer import compile_tokenizer

IDS, SEGMENTS = [2, 5, 7, 4, 9, 11, 3], [0, 0, 0, 0, 1, 1, 1]
KINDS = ("single", "multi", "values", "tags", "masks", "next", "answers", "gru")
Change = Callable[[Path], Any]


def write(kind: str, folder: Path) -> Path:
    return write_gru(folder) if kind == "gru" else write_head(folder, kind)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By kind; `encoder` is what they have in common."""
    place = tmp_path_factory.mktemp("heads")
    return {"encoder": write_encoder(place / "encoder")} | {kind: write(kind, place / kind) for kind in KINDS}


def heads_of(folders: dict[str, Path], *kinds: str) -> tuple[HeadFolder, ...]:
    return tuple(HeadFolder(f"of_{kind}", folders[kind]) for kind in kinds)


@pytest.mark.parametrize("recipe", ["fp32", "w8a8", "w4a8"])
def test_outputs_are_those_of_each_head_alone(folders: dict[str, Path], recipe: str) -> None:
    program = pipeline.lower(pipeline.load(folders["encoder"], Reading(heads=heads_of(folders, *KINDS))), recipe, None)
    text = Text(IDS, SEGMENTS)
    for output, found, kind in zip(program.outputs, emulate_outputs(program, [text]), KINDS, strict=True):
        alone = pipeline.lower(pipeline.load(folders[kind]), recipe, None)
        assert output.name == f"of_{kind}" and output.task == alone.task
        assert np.asarray(found).tobytes() == np.asarray(emulate_texts(alone, [text])).tobytes(), kind


FAMILIES = (
    *(f"tags/{name}" for name in ("albert", "distilbert", "electra", "modernbert", "mpnet", "roberta", "t5")),
    "tags/xlm-roberta",
    *("masks/modernbert", "masks/electra", "masks/bert_untied", "deberta-v2/v3", "modernbert/softmax", "ernie/softmax"),
    *("albert/two_groups", "electra/projected", "gru/one_layer"),
)


@pytest.mark.parametrize("variant", FAMILIES)
def test_every_family(variant: str) -> None:
    """A folder's head beside that of another folder with the same encoder: itself, and alone what it is there."""
    whole = folder(variant)
    encoder = whole / "encoder" if variant.startswith("gru") else whole
    names = ("one",) if variant.startswith("masks") else ("one", "two")
    joined = pipeline.load(encoder, Reading(heads=[HeadFolder(name, whole) for name in names]))
    alone = pipeline.lower(pipeline.load(whole), "w8a8", None)
    mask = getattr(alone.task, "mask", None)
    text = Text([5, 6, 7, 5 if mask is None else mask.id, 8], [0] * 5)
    expected = np.asarray(emulate_texts(alone, [text])).tobytes()
    program = pipeline.lower(joined, "w8a8", None)
    assert [np.asarray(each).tobytes() for each in emulate_outputs(program, [text])] == [expected] * len(names)


def test_the_encoder_is_stored_once(folders: dict[str, Path]) -> None:
    def weights(program: p.Program) -> int:
        target = TARGETS["host"]
        spec = compile_tokenizer(pipeline.load(folders["single"]).tokenizer)
        return table_bytes(make_tables(program, target, spec, None), target)

    one = pipeline.lower(pipeline.load(folders["single"]), "w8a8", None)
    four = heads_of(folders, "single", "multi", "values", "masks")
    several = pipeline.lower(pipeline.load(folders["encoder"], Reading(heads=four)), "w8a8", None)
    names = [slot.name for slot, _ in walks.slots_of(several)]
    assert sorted(name for name in names if not name.startswith("of_")) == sorted(
        slot.name for slot, _ in walks.slots_of(one) if slot.name not in ("pooler", "classifier")
    )
    assert weights(several) < 2 * weights(one)


def test_any_folder_of_the_encoder_may_come_first(folders: dict[str, Path]) -> None:
    """Its own head is not used."""
    chosen = heads_of(folders, "tags", "values")
    text, found = Text(IDS, SEGMENTS), set()
    for first in ("encoder", "masks", "single", "tags"):
        program = pipeline.lower(pipeline.load(folders[first], Reading(heads=chosen)), "w8a8", None)
        assert [output.name for output in program.outputs] == ["of_tags", "of_values"]
        found.add(b"".join(np.asarray(each).tobytes() for each in emulate_outputs(program, [text])))
    assert len(found) == 1


def test_a_pre_training_checkpoint_is_two_heads(tmp_path: Path) -> None:
    folder = write_head(tmp_path / "both", "both")
    graph = pipeline.to_graph(pipeline.load(folder), None)
    assert [(head.name, head.task.name) for head in graph.heads] == [
        ("fill_mask", "fill_mask"),
        ("is_next", "next_sentence"),
    ]
    for ending, output in (("ForMaskedLM", 0), ("ForNextSentencePrediction", 1)):
        configure(architectures=[f"Bert{ending}"])(folder)
        alone = emulate_texts(pipeline.lower(pipeline.load(folder), "w8a8", None), [Text(IDS, SEGMENTS)])
        configure(architectures=["BertForPreTraining"])(folder)
        both = pipeline.lower(pipeline.load(folder), "w8a8", None)
        found = emulate_outputs(both, [Text(IDS, SEGMENTS)])[output]
        assert np.asarray(found).tobytes() == np.asarray(alone).tobytes()


def test_the_shortest_limit_counts(folders: dict[str, Path], tmp_path: Path) -> None:
    short = tmp_path / "short"
    shutil.copytree(folders["values"], short)
    path = short / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"model_max_length": 20}))
    checkpoint = pipeline.load(folders["encoder"], Reading(heads=[HeadFolder("short", short)]))
    assert pipeline.to_graph(checkpoint, None).max_tokens == 20


def test_digests_tell_heads_apart(folders: dict[str, Path]) -> None:
    asked = [
        heads_of(folders, "tags"),
        heads_of(folders, "values"),
        heads_of(folders, "tags", "values"),
        (HeadFolder("other", folders["tags"]),),
    ]
    assert len({pipeline.load(folders["encoder"], Reading(heads=heads)).digest for heads in asked}) == len(asked)


# --- refusals --------------------------------------------------------------------------------------------------------


def layers(count: int) -> Change:
    """Another encoder, of so many layers."""

    def change(path: Path) -> None:
        shutil.rmtree(path)
        write_tiny_checkpoint(path, hidden=24, layers=count, intermediate=37, max_positions=32)

    return change


def removed(name: str) -> Change:
    return lambda path: (path / name).unlink()


def tensor(name: str) -> Change:
    return lambda path: with_tensor(path, name)


def halves(path: Path) -> None:
    """The same weights, rounded to 16 bits."""
    from tiny_checkpoint import write_safetensors

    header, data = read_raw_safetensors(path / "model.safetensors")
    tensors = {
        name: np.frombuffer(data, "<f4")[entry["data_offsets"][0] // 4 : entry["data_offsets"][1] // 4].reshape(
            entry["shape"]
        )
        for name, entry in header.items()
        if name != "__metadata__"
    }
    write_safetensors(path / "model.safetensors", tensors, dtype="F16")


_QUERY = "bert.encoder.layer.1.attention.self.query.weight"
_WORDS = "bert.embeddings.word_embeddings.weight"
BAD_FOLDERS: list[tuple[str, str, Change, str, str]] = [
    ("no config", "tags", removed("config.json"), "config-file-missing", "--head bad"),
    ("no weights", "tags", removed("model.safetensors"), "weights-missing", "--head bad"),
    ("no tokenizer", "tags", removed("tokenizer.json"), "tokenizer-missing", "--head bad"),
    ("more layers", "tags", layers(3), "encoder-differs", "layers"),
    ("fewer layers", "tags", layers(1), "encoder-differs", "layers"),
    ("another width", "tags", configure(hidden_size=20), "wrong-shape", "--head bad"),
    ("other heads of attention", "tags", configure(num_attention_heads=4), "encoder-differs", "layers"),
    ("another activation", "tags", configure(hidden_act="relu"), "encoder-differs", "layers"),
    ("another epsilon", "tags", configure(layer_norm_eps=1e-5), "encoder-differs", "layers"),
    ("another family", "tags", configure(model_type="distilbert"), "config-missing", "--head bad"),
    ("an unknown family", "tags", configure(model_type="reformer"), "model-type-not-supported", "--head bad"),
    ("another weight", "tags", tensor(_QUERY), "encoder-differs", f"'{_QUERY}'"),
    ("another bias", "tags", tensor(_QUERY.replace("weight", "bias")), "encoder-differs", "query.bias"),
    ("another word", "tags", tensor(_WORDS), "encoder-differs", f"'{_WORDS}'"),
    ("another position", "tags", tensor("bert.embeddings.position_embeddings.weight"), "encoder-differs", "position"),
    ("another norm", "tags", tensor("bert.encoder.layer.0.output.LayerNorm.bias"), "encoder-differs", "LayerNorm"),
    ("rounded weights", "tags", halves, "encoder-differs", _WORDS),
    (
        "another case",
        "tags",
        lambda path: with_vocabulary(path, lowercase=False),
        "head-tokenizer-differs",
        "normalizer",
    ),
    ("a missing tensor", "tags", rename("classifier.weight", "other.weight"), "missing-tensor", "classifier.weight"),
    ("an encoder alone", "bare", lambda path: None, "modules-missing", "--head bad"),
    ("choices", "choices", lambda path: None, "head-not-supported", "multiple_choice"),
]


@pytest.mark.parametrize(
    ("kind", "change", "code", "words"), [bad[1:] for bad in BAD_FOLDERS], ids=[b[0] for b in BAD_FOLDERS]
)
def test_bad_folders_are_refused(
    kind: str, change: Change, code: str, words: str, folders: dict[str, Path], tmp_path: Path
) -> None:
    bad = write(kind, tmp_path / "bad")
    change(bad)
    out = tmp_path / "out"
    request = pipeline.Request(folders["encoder"], out, heads=(*heads_of(folders, "single"), HeadFolder("bad", bad)))
    with pytest.raises(EtchError) as caught:
        pipeline.generate(request, lambda _: None)
    assert caught.value.code == code and words in str(caught.value), str(caught.value)
    assert not out.exists()


@pytest.mark.parametrize("kind", ["masks", "answers"])
def test_two_heads_of_masks_or_of_answers_are_refused(kind: str, folders: dict[str, Path], tmp_path: Path) -> None:
    heads = (HeadFolder("one", folders[kind]), HeadFolder("two", folders[kind]))
    with pytest.raises(EtchError) as caught:
        pipeline.generate(pipeline.Request(folders["encoder"], tmp_path / "out", heads=heads), lambda _: None)
    assert caught.value.code == "head-not-supported" and "'one' and 'two'" in caught.value.message


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (["tags"], "head-value"),
        (["tags="], "head-value"),
        (["=folder"], "name-not-allowed"),
        (["Tags=folder"], "name-not-allowed"),
        (["2=folder"], "name-not-allowed"),
        (["class=folder"], "name-not-allowed"),
        (["tokens=folder"], "name-not-allowed"),
        (["step=folder"], "name-not-allowed"),
        (["a=folder", "a=folder"], "head-twice"),
        ([f"h{i}=folder" for i in range(17)], "heads-many"),
    ],
)
def test_bad_arguments_are_refused(texts: list[str], code: str, folders: dict[str, Path]) -> None:
    with pytest.raises(EtchError) as caught:
        pipeline.load(folders["encoder"], Reading(heads=[parse_head(text) for text in texts]))
    assert (caught.value.code, caught.value.stage) == (code, "arguments")


@pytest.mark.parametrize("option", [{"task": "zero-shot"}, {"pooling": "mean"}, {"gpu": True}, {"beams": 2}])
def test_options_of_one_head_are_refused(option: dict[str, Any], folders: dict[str, Path], tmp_path: Path) -> None:
    request = pipeline.Request(folders["encoder"], tmp_path / "out")
    with pytest.raises(EtchError) as caught:
        replace(request, heads=heads_of(folders, "tags"), **option)
    assert caught.value.code == "option-conflict"
