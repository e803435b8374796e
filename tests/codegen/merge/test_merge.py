# SPDX-License-Identifier: Apache-2.0
"""`etch merge`: the weights that PEFT merges (record_merges.py), and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tiny_checkpoint import read_raw_safetensors, read_tensors, write_json, write_raw_safetensors

from codegen import cli

HERE = Path(__file__).resolve().parent
BASES = HERE.parent
CASES = sorted(path.name for path in (HERE / "recorded").iterdir())
CONFIG, ADAPTER, WEIGHTS = "adapter_config.json", "adapter_model.safetensors", "model.safetensors"
QUERY = "base_model.model.bert.encoder.layer.0.attention.self.query"

Change = Callable[[Path], None]


def case(name: str, to: Path) -> tuple[Path, Path, dict[str, Any]]:
    """A copy of a case's adapter, one of its base, and what was recorded."""
    recorded = json.loads((HERE / "recorded" / name / "recorded.json").read_text())
    shutil.copytree(HERE / "recorded" / name, to / "adapter", ignore=shutil.ignore_patterns("merged*", "recorded*"))
    shutil.copytree(BASES / recorded["base"], to / "base")
    return to / "adapter", to / "base", recorded


def merged(to: Path, *options: str) -> int:
    return cli.main(["merge", str(to / "adapter"), str(to / "base"), "--out", str(to / "out"), *options])


@pytest.mark.parametrize("name", CASES)
def test_as_peft_merges(name: str, tmp_path: Path) -> None:
    _, base, recorded = case(name, tmp_path)
    assert merged(tmp_path) == 0
    before, after = read_tensors(base / WEIGHTS), read_tensors(tmp_path / "out" / WEIGHTS)
    expected = read_tensors(HERE / "recorded" / name / "merged.safetensors")
    assert expected.keys() <= after.keys()
    for key, values in after.items():
        if key in expected:
            assert values.dtype == np.float32 or name == "tied_words"
            np.testing.assert_array_max_ulp(values.astype(np.float32), expected[key], maxulp=1)
        else:  # by its own name, or by that of the base's class
            old = next(before[of] for of in before if key.endswith(of) or of.endswith(key))
            assert values.dtype == old.dtype
            assert np.array_equal(values, old)
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["architectures"] == [recorded["class"]]
    assert name == "bare_dora" or cli.main(["inspect", str(tmp_path / "out")]) == 0


def test_what_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = {
        "head": "LoRA of rank 2, weights changed: 2, whole tensors: 4, trained beside recorded/masks/bert",
        "bare_dora": "DoRA of rank 2, weights changed: 4, whole tensors: 4, trained beside recorded/bert/poolings",
        "tokens": "LoRA of rank 2, weights changed: 1, tokens: 2, trained beside generation/gpt2/texts",
    }
    for name, words in said.items():
        case(name, tmp_path / name)
        assert merged(tmp_path / name) == 0
        assert capsys.readouterr().out.splitlines()[0] == f"adapter      {words}"
        assert json.loads((tmp_path / name / "out" / "etch.json").read_text())["merged"] is True


def test_settings_of_older_files(tmp_path: Path) -> None:
    """Without what newer ones say."""
    adapter, _, _ = case("conv1d", tmp_path)
    assert merged(tmp_path) == 0
    before = (tmp_path / "out" / WEIGHTS).read_bytes()
    kept = ("peft_type", "task_type", "r", "lora_alpha", "target_modules", "fan_in_fan_out", "bias")
    told = json.loads((adapter / CONFIG).read_text())
    write_json(adapter / CONFIG, {key: told[key] for key in kept})
    assert merged(tmp_path) == 0
    assert (tmp_path / "out" / WEIGHTS).read_bytes() == before


def test_something_is_merged() -> None:
    assert len(CASES) == 12
    changed = {name: read_tensors(HERE / "recorded" / name / "merged.safetensors") for name in CASES}
    assert all(changed.values())
    assert "lm_head.weight" in changed["logits_of_their_own"]
    assert "score.weight" in changed["labels_of_decoder"]


def test_classes_have_names(tmp_path: Path) -> None:
    case("head", tmp_path)
    assert merged(tmp_path) == 0
    told = json.loads((tmp_path / "out" / "config.json").read_text())
    assert told["id2label"] == {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}
    assert merged(tmp_path, "--labels", "no,maybe,ja, schön") == 1
    assert merged(tmp_path, "--labels", "no,maybe,schön") == 0
    raw = (tmp_path / "out" / "config.json").read_text(encoding="utf-8")
    assert '"schön"' in raw
    told = json.loads(raw)
    assert told["id2label"] == {"0": "no", "1": "maybe", "2": "schön"}
    assert told["label2id"] == {"no": 0, "maybe": 1, "schön": 2}


def test_files_of_the_adapter_go_before_those_of_the_base(tmp_path: Path) -> None:
    adapter, base, _ = case("head", tmp_path)
    config = json.loads((base / "config.json").read_text())
    config |= {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "a", "1": "b", "2": "c"}}
    write_json(adapter / "config.json", config)
    vocabulary = (base / "vocab.txt").read_text()
    (adapter / "vocab.txt").write_text(vocabulary + "more\n", encoding="utf-8")
    (adapter / "trainer_state.json").write_text("{}")
    (adapter / "README.md").write_text("---\nlicense: mit\n---\nof the adapter\n")
    (base / "README.md").write_text("---\nlicense: apache-2.0\n---\nof the base\n")
    assert merged(tmp_path) == 0
    out = tmp_path / "out"
    assert json.loads((out / "config.json").read_text())["id2label"] == {"0": "a", "1": "b", "2": "c"}
    assert (out / "vocab.txt").read_text() == vocabulary + "more\n"
    assert "of the base" in (out / "README.md").read_text()
    assert "license: mit" in (out / "NOTICE").read_text()
    assert not {CONFIG, ADAPTER, "trainer_state.json"} & {path.name for path in out.iterdir()}


def test_the_same_bytes_again(tmp_path: Path) -> None:
    case("conv1d_dora", tmp_path)
    assert merged(tmp_path) == 0
    first = (tmp_path / "out" / WEIGHTS).read_bytes()
    assert merged(tmp_path) == 0  # over what it wrote
    assert (tmp_path / "out" / WEIGHTS).read_bytes() == first


def test_an_adapter_alone_says_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    adapter, _, _ = case("head", tmp_path)
    assert cli.main(["inspect", str(adapter)]) == 1
    said = capsys.readouterr().err
    assert "error[adapter-not-supported]" in said
    assert f"merge {adapter} BASE --out FOLDER" in said


def settings(**values: Any) -> Change:
    """Sets keys of adapter_config.json; None removes one."""

    def change(folder: Path) -> None:
        told = json.loads((folder / "adapter" / CONFIG).read_text()) | values
        write_json(folder / "adapter" / CONFIG, {key: value for key, value in told.items() if value is not None})

    return change


def weights(edit: Callable[[dict[str, NDArray[Any]]], None]) -> Change:
    """Edits the adapter's tensors."""

    def change(folder: Path) -> None:
        found = dict(read_tensors(folder / "adapter" / ADAPTER))
        edit(found)
        entries, data = {}, b""
        for name, values in found.items():
            raw = values.astype("<f4").tobytes()
            entries[name] = {
                "dtype": "F32",
                "shape": list(values.shape),
                "data_offsets": [len(data), len(data) + len(raw)],
            }
            data += raw
        write_raw_safetensors(folder / "adapter" / ADAPTER, entries, data)

    return change


def longer(found: dict[str, NDArray[Any]]) -> None:
    found[f"{QUERY}.lora_A.weight"] = np.ones((4, 20), np.float32)


def wider(found: dict[str, NDArray[Any]]) -> None:
    found[f"{QUERY}.lora_B.weight"] = np.ones((20, 4), np.float32)


def flat(found: dict[str, NDArray[Any]]) -> None:
    found[f"{QUERY}.lora_A.weight"] = np.ones(60, np.float32)


def narrow(found: dict[str, NDArray[Any]]) -> None:
    found[f"{QUERY}.lora_A.weight"] = np.ones((3, 19), np.float32)


def removed(name: str) -> Change:
    return weights(lambda found: found.__delitem__(name))


def renamed(old: str, new: str) -> Change:
    return weights(lambda found: found.update({new: found.pop(old)}))


def base_config(**values: Any) -> Change:
    def change(folder: Path) -> None:
        told = json.loads((folder / "base" / "config.json").read_text()) | values
        write_json(folder / "base" / "config.json", told)

    return change


def pickled(folder: Path) -> None:
    (folder / "adapter" / ADAPTER).rename(folder / "adapter" / "adapter_model.bin")


def base_is_an_adapter(folder: Path) -> None:
    shutil.copy(folder / "adapter" / CONFIG, folder / "base" / CONFIG)


def infinite(found: dict[str, NDArray[Any]]) -> None:
    found[f"{QUERY}.lora_B.weight"] = found[f"{QUERY}.lora_B.weight"] + np.float32(3e38)


def scalar(found: dict[str, NDArray[Any]]) -> None:
    found["base_model.model.classifier.weight"] = np.zeros((), np.float32)


def words_changed(folder: Path) -> None:
    """T5's, in a base whose logits are made by the words."""
    header, data = read_raw_safetensors(folder / "base" / WEIGHTS)
    header["lm_head.unused"] = header.pop("lm_head.weight")
    write_raw_safetensors(folder / "base" / WEIGHTS, header, data)
    rank = {"shared.lora_embedding_A": (2, 47), "shared.lora_embedding_B": (20, 2)}
    weights(lambda found: found.update({f"base_model.model.{k}": np.ones(v, np.float32) for k, v in rank.items()}))(
        folder
    )


REFUSED: dict[str, tuple[str, Change, str]] = {
    "another kind": ("head", settings(peft_type="IA3"), "adapter-not-supported"),
    "a new setting": ("head", settings(use_something=True), "adapter-not-supported"),
    "experts' parameters": ("head", settings(target_parameters=["a"]), "adapter-not-supported"),
    "PiSSA": ("head", settings(init_lora_weights="pissa"), "adapter-not-supported"),
    "a pattern": ("head", settings(rank_pattern={"(a+)+b": 3}), "adapter-not-supported"),
    "a rank of nothing": ("head", settings(rank_pattern={"query": 0}), "adapter-malformed"),
    "patterns that are none": ("head", settings(alpha_pattern=[1]), "adapter-malformed"),
    "another rank": ("head", settings(rank_pattern={}), "wrong-shape"),
    "one matrix of another rank": ("head", weights(longer), "wrong-shape"),
    "the other of another rank": ("head", weights(wider), "wrong-shape"),
    "a matrix that is none": ("head", weights(flat), "wrong-shape"),
    "another width": ("head", weights(narrow), "wrong-shape"),
    "no rank": ("head", settings(r=None), "config-missing"),
    "magnitudes that are not said": ("bare_dora", settings(use_dora=False), "adapter-malformed"),
    "no magnitudes": ("head", settings(use_dora=True), "adapter-malformed"),
    "tokens that are none": ("tokens", settings(trainable_token_indices={"wte": [-1, 2]}), "adapter-malformed"),
    "a token twice": ("tokens", settings(trainable_token_indices={"wte": [2, 2]}), "wrong-shape"),
    "a token beyond": ("tokens", settings(trainable_token_indices={"wte": [2, 1 << 40]}), "wrong-shape"),
    "fewer tokens": ("tokens", settings(trainable_token_indices=[2]), "wrong-shape"),
    "a task": ("head", settings(task_type="IMAGES"), "adapter-class"),
    "texts of an encoder": ("bare_dora", settings(task_type="CAUSAL_LM"), "adapter-class"),
    "a class of no form": ("head", base_config(architectures=["Bert"]), "adapter-class"),
    "no class": ("head", base_config(architectures=[]), "adapter-class"),
    "one matrix": ("head", removed(f"{QUERY}.lora_A.weight"), "adapter-malformed"),
    "another root": ("head", renamed(f"{QUERY}.lora_A.weight", "query.lora_A.weight"), "adapter-malformed"),
    "an unknown part": ("head", renamed(f"{QUERY}.lora_A.weight", f"{QUERY}.lora_C.weight"), "adapter-not-supported"),
    "no matrices": ("head", weights(lambda found: found.clear()), "adapter-malformed"),
    "values that are none": ("head", weights(infinite), "tensor-not-finite"),
    "a pickle": ("head", pickled, "weights-missing"),
    "no weights": ("head", lambda folder: (folder / "adapter" / ADAPTER).unlink(), "weights-missing"),
    "no settings": ("head", lambda folder: (folder / "adapter" / CONFIG).unlink(), "config-file-missing"),
    "an adapter as base": ("head", base_is_an_adapter, "adapter-not-supported"),
    "a module that is saved as base has none": (
        "head",
        removed("base_model.model.classifier.weight"),
        "missing-tensor",
    ),
    "a head that is a number": ("head", weights(scalar), "wrong-shape"),
    "words that are logits' too": ("seq2seq", words_changed, "adapter-ties"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, change, code = REFUSED[what]
    case(name, tmp_path)
    change(tmp_path)
    assert merged(tmp_path) == 1
    said = capsys.readouterr().err
    assert f"error[{code}]" in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_another_base_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case("head", tmp_path)
    shutil.rmtree(tmp_path / "base")
    shutil.copytree(BASES / "generation" / "llama" / "texts", tmp_path / "base")
    write_json(tmp_path / "adapter" / CONFIG, json.loads((tmp_path / "adapter" / CONFIG).read_text()))
    assert merged(tmp_path) == 1
    said = capsys.readouterr().err
    assert "error[adapter-mismatch] merge: adapter_model.safetensors: it changes 2 tensors, 2 of which" in said


def test_labels_that_are_too_few(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case("head", tmp_path)
    assert merged(tmp_path, "--labels", "no,yes") == 1
    assert "error[label-count] merge: adapter_config.json: --labels has 2 names" in capsys.readouterr().err
