# SPDX-License-Identifier: Apache-2.0
"""SetFit's folders: the probabilities that it computes (record_setfit.py), and what is refused."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import pickle
import shutil
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tiny_checkpoint import write_json, write_tiny_checkpoint

from codegen import cli, pipeline
from codegen.convert import setfit
from codegen.convert.joblib_file import Estimator, read_estimator
from codegen.convert.setfit import write_head
from codegen.errors import EtchError
from codegen.load.files import CheckpointFolder
from codegen.oracle.interpret import Interpreter

HERE = Path(__file__).resolve().parent
CASES = sorted(path.name for path in (HERE / "setfit").iterdir())
HEAD = "model_head.pkl"


def folder_of(name: str, to: Path) -> dict[str, Any]:
    """A copy of a case's folder, whole, and what was recorded."""
    recorded = json.loads((HERE / "setfit" / name / "recorded.json").read_text(encoding="utf-8"))
    shutil.copytree(HERE.parent / "recorded" / recorded["base"], to / "model")
    for file in (HEAD, "config_setfit.json"):
        shutil.copy(HERE / "setfit" / name / file, to / "model")
    return recorded


def converted(to: Path) -> int:
    return cli.main(["convert", str(to / "model"), "--out", str(to / "out")])


def test_all_kinds_are_there() -> None:
    assert CASES == ["names", "outputs", "several", "sparse_numbers", "three", "two"]


@pytest.mark.parametrize("name", CASES)
def test_as_setfit_computes(name: str, tmp_path: Path) -> None:
    recorded = folder_of(name, tmp_path)
    assert converted(tmp_path) == 0
    checkpoint = pipeline.load(tmp_path / "out")
    graph = pipeline.to_graph(checkpoint, None)
    told = json.loads((tmp_path / "out" / "head.json").read_text(encoding="utf-8"))
    assert len({tuple(text["probabilities"]) for text in recorded["texts"]}) > 4
    for text in recorded["texts"]:
        logits = Interpreter(graph).output(text["ids"], [0] * len(text["ids"]))
        if told["activation"] == "softmax":
            shares = np.exp(logits - logits.max())
            shares /= shares.sum()
        else:
            shares = 1 / (1 + np.exp(-logits))
        assert shares.shape == (len(told["labels"]),)
        np.testing.assert_allclose(shares, text["probabilities"], rtol=0, atol=1e-6)  # weights are float32


def test_labels(tmp_path: Path) -> None:
    expected = {
        "three": ["low", "mid", "high"],
        "two": ["no", "yes"],
        "names": ["a", "b", "c"],
        "sparse_numbers": ["b", "d"],
        "several": ["x", "y", "z"],
        "outputs": ["0", "1"],
    }
    for name, labels in expected.items():
        write_head(CheckpointFolder(HERE / "setfit" / name), tmp_path)
        assert json.loads((tmp_path / "head.json").read_text(encoding="utf-8"))["labels"] == labels
        (tmp_path / "head.safetensors").unlink()


def test_the_folder_itself_says_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("three", "names"):  # with an encoder, with a table alone
        folder_of(name, tmp_path / name)
        assert cli.main(["inspect", str(tmp_path / name / "model")]) == 1
        said = capsys.readouterr().err
        assert "error[pickle-refused] load: model_head.pkl: pickle is refused; convert the folder with: " in said


class Runs:
    """What a pickle does that runs something."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return os.system, ("touch ran",)


def head_of(value: object) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        (path / HEAD).write_bytes(pickle.dumps(value))

    return change


def cut(path: Path) -> None:
    raw = (path / HEAD).read_bytes()
    (path / HEAD).write_bytes(raw[: len(raw) * 2 // 3])


def replaced(old: bytes, new: bytes) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        raw = (path / HEAD).read_bytes()
        assert old in raw
        (path / HEAD).write_bytes(raw.replace(old, new))

    return change


REFUSED: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "code": ("three", head_of(Runs()), "pickle-holds-code"),
    "code of NumPy's": ("three", head_of(np.float64(1)), "pickle-malformed"),
    "a cut file": ("three", cut, "pickle-malformed"),
    "no pickle": ("three", lambda path: (path / HEAD).write_bytes(b"\x80\x04nothing"), "pickle-malformed"),
    "nothing": ("three", lambda path: (path / HEAD).write_bytes(b""), "pickle-malformed"),
    "a list": ("three", head_of([1, 2]), "pickle-malformed"),
    "another estimator": ("three", replaced(b"LogisticRegression", b"LogisticRegressiom"), "head-type-not-supported"),
    "another solver": ("three", replaced(b"\x05lbfgs", b"\x09liblinear"), "head-type-not-supported"),
    "no coefficients": ("three", replaced(b"coef_", b"coeff"), "pickle-malformed"),
    "no classes": ("three", replaced(b"classes_", b"classez_"), "pickle-malformed"),
    "bytes in another order": ("three", replaced(b"\x8c\x01<", b"\x8c\x01>"), "pickle-holds-code"),
    "chains": ("several", replaced(b"OneVsRestClassifier", b"OneVsRestClassifies"), "head-type-not-supported"),
    "one of several": ("several", replaced(b"multilabel-", b"multiclass-"), "head-type-not-supported"),
    "fewer labels": (
        "sparse_numbers",
        lambda path: write_json(path / "config_setfit.json", {"labels": ["a", "b"]}),
        "labels-conflict",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    name, change, code = REFUSED[what]
    monkeypatch.chdir(tmp_path)
    folder_of(name, tmp_path)
    change(tmp_path / "model")
    assert converted(tmp_path) == 1
    said = capsys.readouterr().err
    assert f"error[{code}" in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "name",
    [
        "os system",
        "numpy.linalg norm",
        "numpy load",
        "joblib.numpy_pickle load",
        "other NumpyArrayWrapper",
        "sklearn x",
    ],
)
def test_names_that_are_no_part_of_an_estimator(name: str) -> None:
    with pytest.raises(EtchError) as caught:
        read_estimator(f"c{name.replace(' ', chr(10))}\n.".encode(), HEAD)
    assert caught.value.code == "pickle-holds-code"


def test_an_estimator_that_was_given_no_state() -> None:
    """Made by copyreg.__newobj__, which calls no __init__, and left so."""
    found = read_estimator(b"\x80\x02csklearn.linear_model LogisticRegression\n)\x81.".replace(b" ", b"\n"), HEAD)
    assert (found.kind, found.attributes) == ("LogisticRegression", {})


def test_the_state_of_random_numbers_is_not_looked_at() -> None:
    """`random_state` of an estimator that was given a RandomState: its parts have states that are no dictionaries."""
    bits = b"cnumpy.random._pickle\n__bit_generator_ctor\nX\x07\x00\x00\x00MT19937\x85R}N\x86b"
    source = b"cnumpy.random._pickle\n__randomstate_ctor\n" + bits + b"\x85R}b"
    head = b"\x80\x02csklearn.linear_model\nLogisticRegression\n)\x81}X\x0c\x00\x00\x00random_state"
    assert list(read_estimator(head + source + b"sb.", HEAD).attributes) == ["random_state"]


@pytest.mark.parametrize("form", ["zlib", "gzip", "bz2", "xz", "lzma", "lz4"])
def test_a_head_that_joblib_compressed_says_so(form: str) -> None:
    raw = (HERE / "setfit" / "three" / HEAD).read_bytes()
    forms: dict[str, Callable[[], list[bytes]]] = {
        "zlib": lambda: [zlib.compress(raw, level) for level in range(10)],
        "gzip": lambda: [gzip.compress(raw)],
        "bz2": lambda: [bz2.compress(raw)],
        "xz": lambda: [lzma.compress(raw)],
        "lzma": lambda: [lzma.compress(raw, lzma.FORMAT_ALONE)],
        "lz4": lambda: [b"\x04\x22\x4d\x18" + raw],  # by the standard library none can be made
    }
    for compressed in forms[form]():
        with pytest.raises(EtchError) as caught:
            read_estimator(compressed, HEAD)
        assert caught.value.code == "pickle-malformed"
        assert f"it is compressed ({form}): dump it again without `compress`" in str(caught.value)


def test_several_of_none_and_of_different_widths() -> None:
    def part(width: int) -> Estimator:
        made = read_estimator(b"\x80\x02csklearn.linear_model\nLogisticRegression\n)\x81.", HEAD)
        made.attributes = {
            "coef_": np.zeros((1, width)),
            "intercept_": np.zeros(1),
            "classes_": np.array([0, 1]),
        }
        return made

    several = read_estimator(b"\x80\x02csklearn.multioutput\nMultiOutputClassifier\n)\x81.", HEAD)
    for parts, code in (([], "head-type-not-supported"), ([part(2), part(3)], "pickle-malformed")):
        several.attributes = {"estimators_": parts}
        with pytest.raises(EtchError) as caught:
            setfit._classifier(several)
        assert caught.value.code == code


def described(monkeypatch: pytest.MonkeyPatch, values: bytes, code: Any, **state: Any) -> bytes:
    """A pickle of LogisticRegression whose coef_ joblib would have described so."""

    class Dtype:
        def __reduce__(self) -> tuple[Any, ...]:
            return np.dtype, (code, False, True), (3, "<", None, None, None, -1, -1, 0)

    def made(module: str, name: str) -> Any:
        holder = ModuleType(module)
        kind = type(name, (), {"__module__": module})
        setattr(holder, name, kind)
        monkeypatch.setitem(sys.modules, module.partition(".")[0], holder)
        monkeypatch.setitem(sys.modules, module, holder)
        return kind()

    array = made("joblib.numpy_pickle", "NumpyArrayWrapper")
    array.__dict__.update({"shape": (1, 2), "order": "C", "dtype": Dtype()} | state)
    estimator = made("sklearn.linear_model", "LogisticRegression")
    estimator.__dict__["coef_"] = array
    raw = pickle.dumps(estimator, protocol=2)
    end = raw.rindex(b"b", 0, raw.rindex(b"b")) + 1  # behind what sets the description's state
    return raw[:end] + values + raw[end:]


TWO = np.array([1.5, -2.0]).tobytes()


def test_an_array_as_joblib_describes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read_estimator(described(monkeypatch, TWO, "f8"), HEAD)
    assert found.kind == "LogisticRegression"
    assert found.attributes["coef_"].tolist() == [[1.5, -2.0]]
    aligned = b"\x03\xff\xff\xff" + TWO
    found = read_estimator(described(monkeypatch, aligned, "f8", numpy_array_alignment_bytes=16), HEAD)
    assert found.attributes["coef_"].tolist() == [[1.5, -2.0]]
    found = read_estimator(described(monkeypatch, TWO * 2, "f8", shape=(2, 2), order="F"), HEAD)
    assert found.attributes["coef_"].tolist() == [[1.5, 1.5], [-2.0, -2.0]]


@pytest.mark.parametrize(
    ("code", "state"),
    [
        ("O8", {}),
        ("V16", {}),
        (7, {}),
        ("f8", {"dtype": "f8"}),
        ("f8", {"shape": [1, 2]}),
        ("f8", {"shape": (1,) * 5}),
        ("f8", {"shape": (-1, 2)}),
        ("f8", {"shape": (1.0, 2)}),
        ("f8", {"shape": (1 << 20, 1 << 20)}),
    ],
)
def test_arrays_that_are_refused(code: Any, state: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EtchError) as caught:
        read_estimator(described(monkeypatch, TWO, code, **state), HEAD)
    assert caught.value.code == "pickle-holds-code"


def test_fewer_values_than_described(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EtchError) as caught:
        read_estimator(described(monkeypatch, TWO, "f8", shape=(3, 2)), HEAD)
    assert caught.value.code == "pickle-malformed"


@pytest.mark.parametrize("name", CASES)
def test_wherever_a_file_is_cut(name: str) -> None:
    """Within an array, too, what is missing is no code."""
    raw = (HERE / "setfit" / name / HEAD).read_bytes()
    for length in range(len(raw)):
        with pytest.raises(EtchError) as caught:
            read_estimator(raw[:length], HEAD)
        assert caught.value.code == "pickle-malformed", length


def test_any_damage_is_refused_or_read(tmp_path: Path) -> None:
    """Whatever byte is another one: an estimator, or a refusal, and nothing else."""
    random = np.random.default_rng(1)
    raw = (HERE / "setfit" / "several" / HEAD).read_bytes()
    refused = 0
    for _ in range(600):
        spoiled = bytearray(raw)
        for place in random.integers(0, len(raw), 3):
            spoiled[place] = random.integers(0, 256)
        try:
            assert isinstance(read_estimator(bytes(spoiled), HEAD), Estimator)
        except EtchError as error:
            assert error.code in ("pickle-holds-code", "pickle-malformed")
            refused += 1
    assert refused > 100


def test_a_head_on_what_makes_no_embedding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder_of("three", tmp_path)
    assert converted(tmp_path) == 0
    shutil.rmtree(tmp_path / "out" / "encoder")
    write_tiny_checkpoint(tmp_path / "out" / "encoder")
    assert cli.main(["inspect", str(tmp_path / "out")]) == 1
    assert "error[head-conflict] load: head.json: a logistic head reads an embedding" in capsys.readouterr().err
