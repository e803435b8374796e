# SPDX-License-Identifier: Apache-2.0
"""`etch convert`: pickled weights to safetensors, over a stand-in for PyTorch (stub_torch) and, where it can be
imported, over PyTorch itself."""

from __future__ import annotations

import importlib.util
import json
import os
import pickle
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder as recorded
from tiny_checkpoint import read_raw_safetensors, read_tensors, write_json, write_tiny_checkpoint
from tiny_heads import write_head
from tiny_sentence import write_tiny_sentence_model

from codegen import cli

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE / "generation"))
import record_translations  # noqa: E402 - of the folder beside

STUB = HERE / "stub_torch"
WEIGHTS = "model.safetensors"
PICKLE = "pytorch_model.bin"
WORDS = "bert.embeddings.word_embeddings.weight"


def stub_torch() -> ModuleType:
    """The stand-in, under the name that its pickles give its class."""
    spec = importlib.util.spec_from_file_location("torch", STUB / "torch.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Here and in the processes that are started."""
    module = stub_torch()
    monkeypatch.setitem(sys.modules, "torch", module)
    monkeypatch.setenv("PYTHONPATH", str(STUB))
    return module


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_tiny_checkpoint(tmp_path / "model")
    return tmp_path / "model"


def tensors(torch: ModuleType, path: Path) -> dict[str, Any]:
    return {name: torch.Tensor(values.reshape(-1), values.shape) for name, values in read_tensors(path).items()}


def pickled(torch: ModuleType, folder: Path, name: str = PICKLE) -> dict[str, Any]:
    """Exchanges the weights for a pickle; returns what it holds."""
    state = tensors(torch, folder / WEIGHTS)
    (folder / WEIGHTS).unlink()
    torch.save(state, folder / name)
    return state


def converted(folder: Path, *options: str) -> tuple[int, Path]:
    out = folder.parent / "out"
    return cli.main(["convert", str(folder), "--out", str(out), *options]), out


def refused(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """What is said where nothing is written."""
    code, out = converted(folder, *options)
    said = capsys.readouterr().err
    assert code in (1, 2)
    assert not out.exists()
    assert said.count("\n") == 1
    return said


def test_the_same_tensors_and_files(torch: ModuleType, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "LICENSE").write_text("terms")
    (folder / "optimizer.pt").write_bytes(b"not looked at")
    (folder / "etch.json").write_text("{}")  # as `etch fetch` leaves one
    before = read_tensors(folder / WEIGHTS)
    pickled(torch, folder)
    assert converted(folder)[0] == 0
    out = folder.parent / "out"
    after = read_tensors(out / WEIGHTS)
    assert list(after) == list(before)
    assert all(np.array_equal(after[name], before[name]) for name in before)
    kept = {"config.json", "tokenizer.json", "tokenizer_config.json", "LICENSE"}
    assert {path.name for path in out.iterdir()} == kept | {WEIGHTS, "etch.json"}
    assert "checked      bert, 25 tensors by name and shape" in capsys.readouterr().out
    assert cli.main(["inspect", str(out)]) == 0
    assert converted(folder)[0] == 0  # again, over what it wrote


def test_the_command_that_the_refusal_prints(torch: ModuleType, tmp_path: Path) -> None:
    """Run as it is printed, by a shell, for a folder with an awkward name."""
    folder = tmp_path / "it's a $(model)"
    write_tiny_checkpoint(folder)
    pickled(torch, folder)
    root = HERE.parents[1]
    environment = os.environ | {"PYTHONPATH": f"{STUB}:{root}"}
    etch = [sys.executable, "-m", "codegen"]
    said = subprocess.run(
        [*etch, "inspect", folder], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert said.returncode == 1
    command = said.stderr.strip().partition("convert the folder with: ")[2].removeprefix("python3 -m codegen ")
    subprocess.run(f"{shlex.join(etch)} {command}", shell=True, cwd=root, env=environment, check=True, timeout=60)
    assert (tmp_path / f"{folder.name}-safetensors" / WEIGHTS).is_file()


def test_shards_wrappers_and_names(torch: ModuleType, folder: Path) -> None:
    state = pickled(torch, folder)
    names = list(state)
    (folder / PICKLE).unlink()
    for part, of_it in enumerate((names[:9], names[9:]), 1):
        torch.save(
            {"state_dict": {name: state[name] for name in of_it}}, folder / f"pytorch_model-0000{part}-of-00002.bin"
        )
    write_json(folder / "pytorch_model.bin.index.json", {"weight_map": {}})
    code, out = converted(folder)
    assert code == 0
    assert list(read_tensors(out / WEIGHTS)) == names
    assert not (out / "pytorch_model.bin.index.json").exists()


def test_shared_and_transposed_tensors(torch: ModuleType, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A tensor that is stored under two names is kept under the first; a view is stored as its values say."""
    before = read_tensors(folder / WEIGHTS)
    state = pickled(torch, folder)
    dense = "bert.pooler.dense.weight"
    state[dense] = torch.Tensor(before[dense].T.copy().reshape(-1), before[dense].T.shape, transposed=True)
    state["bert.embeddings.position_ids"] = torch.Tensor(np.arange(32), (1, 32))
    state["cls.predictions.decoder.weight"] = state[WORDS]
    torch.save(state, folder / PICKLE)
    code, out = converted(folder)
    assert code == 0
    assert f"same as    {WORDS}: cls.predictions.decoder.weight, left out" in capsys.readouterr().out
    header, _ = read_raw_safetensors(out / WEIGHTS)
    assert header["bert.embeddings.position_ids"]["dtype"] == "I64"
    assert "cls.predictions.decoder.weight" not in header
    assert cli.main(["inspect", str(out)]) == 0


def test_two_heads_and_a_translator(torch: ModuleType, tmp_path: Path) -> None:
    """A checkpoint of two heads by itself, and one whose tokenizers are two SentencePiece files."""
    for name in ("both", "marian"):
        folder = tmp_path / name / "model"
        folder.mkdir(parents=True)
        if name == "both":
            write_head(folder, "both")
        else:
            record_translations.write_folder(record_translations.MODELS[0], folder)
        pickled(torch, folder)
        code, out = converted(folder)
        assert code == 0
        assert cli.main(["inspect", str(out)]) == 0


def test_a_bare_encoder_and_a_pickled_dense_module(torch: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    write_tiny_sentence_model(folder)
    modules = json.loads((folder / "modules.json").read_text())[:2]
    modules.append({"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"})
    write_json(folder / "modules.json", modules)
    (folder / "2_Dense").mkdir()
    dense = {
        "in_features": 10,
        "out_features": 4,
        "bias": False,
        "activation_function": "torch.nn.modules.linear.Identity",
    }
    write_json(folder / "2_Dense/config.json", dense)
    weight = torch.Tensor(np.ones(40, np.float32), (4, 10))
    torch.save({"linear.weight": weight}, folder / "2_Dense" / PICKLE)
    encoder = (folder / WEIGHTS).read_bytes()
    code, out = converted(folder)
    assert code == 0
    assert (out / WEIGHTS).read_bytes() == encoder
    pickled(torch, folder)
    code, out = converted(folder)
    assert code == 0
    assert read_tensors(out / "2_Dense" / WEIGHTS)["linear.weight"].shape == (4, 10)
    for name in ("modules.json", "2_Dense/config.json", "1_Pooling/config.json"):
        (folder / name).unlink()
    assert cli.main(["convert", str(folder), "--out", str(tmp_path / "bare")]) == 0


@pytest.mark.parametrize(("variant", "table"), [("mean", ""), ("dense", "0_StaticEmbedding")])
def test_a_table_without_a_transformer(torch: ModuleType, variant: str, table: str, tmp_path: Path) -> None:
    """At the top of the folder, or in a folder of its own, where nothing lies at the top."""
    source, folder = recorded(f"static_embedding/{variant}"), tmp_path / "model"
    shutil.copytree(source, folder)
    pickled(torch, folder / table)
    code, out = converted(folder)
    assert code == 0
    before, after = (read_tensors(path / table / WEIGHTS)["embedding.weight"] for path in (source, out))
    assert before.tobytes() == after.tobytes()


def spoil(change: Callable[[ModuleType, Path, dict[str, Any]], object]) -> Callable[[ModuleType, Path], None]:
    def apply(torch: ModuleType, folder: Path) -> None:
        state = pickled(torch, folder)
        change(torch, folder, state)

    return apply


def saved(change: Callable[[ModuleType, dict[str, Any]], object]) -> Callable[[ModuleType, Path], None]:
    """Pickles what `change` makes of the state."""

    def apply(torch: ModuleType, folder: Path, state: dict[str, Any]) -> None:
        found = change(torch, state)
        torch.save(state if found is None else found, folder / PICKLE)

    return spoil(apply)


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch evil",)


REFUSALS: dict[str, tuple[Callable[[ModuleType, Path], Any], str]] = {
    "code": (spoil(lambda t, p, s: (p / PICKLE).write_bytes(pickle.dumps({"a": Evil()}))), "error[pickle-holds-code]"),
    "not a pickle": (spoil(lambda t, p, s: (p / PICKLE).write_bytes(b"<html>")), "error[pickle-malformed]"),
    "empty": (spoil(lambda t, p, s: (p / PICKLE).write_bytes(b"")), "error[pickle-malformed]"),
    "a list": (saved(lambda t, s: [1]), "pytorch_model.bin: it holds no tensors by name, but list"),
    "no tensors": (saved(lambda t, s: {}), "error[no-state-dict]"),
    "a number": (saved(lambda t, s: s | {"epoch": 3}), "'epoch' is int, not a tensor"),
    "a number for a name": (saved(lambda t, s: {3: s[WORDS]}), "error[no-state-dict]"),
    "complex": (saved(lambda t, s: s | {"z": t.Tensor(np.zeros(2, np.complex64), (2,))}), "error[dtype-not-supported]"),
    "a tensor missing": (saved(lambda t, s: s.pop("classifier.bias") and None), "tensor 'classifier.bias'"),
    "one too many": (saved(lambda t, s: s | {"more": t.Tensor(np.ones(2, np.float32), (2,))}), "error[unused-tensor]"),
    "another shape": (saved(lambda t, s: s | {"classifier.bias": t.Tensor(np.ones(9, np.float32), (9,))}), "shape"),
    "float64": (saved(lambda t, s: s | {"classifier.bias": t.Tensor(np.ones(3), (3,))}), "got F64"),
    "no match": (lambda t, p: None, "error[nothing-to-convert] convert: the folder has model.safetensors"),
    "no weights": (lambda t, p: (p / WEIGHTS).unlink(), "error[nothing-to-convert] convert: the folder has no pickled"),
    "several": (spoil(lambda t, p, s: [(p / n).write_bytes(b"") for n in ("a.pt", "b.pt")] and (p / PICKLE).unlink()),
                "error[pickle-ambiguous] convert: 2 files could be the weights ('a.pt', 'b.pt'): say which"),
    "a shard missing": (spoil(lambda t, p, s: (p / PICKLE).rename(p / "pytorch_model-00001-of-00002.bin")),
                        "1 of 2 files are missing, the first: pytorch_model-00002-of-00002.bin"),
    "a link that leaves": (spoil(lambda t, p, s: ((p / PICKLE).unlink(), (p / PICKLE).symlink_to("/etc/passwd"))),
                           "error[symlink-escapes]"),
    "another family": (spoil(lambda t, p, s: write_json(p / "config.json", {"model_type": "reformer"})),
                       "error[model-type-not-supported]"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_refused(
    name: str, torch: ModuleType, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    change, words = REFUSALS[name]
    change(torch, folder)
    assert words in refused(folder, capsys)
    assert not (folder / "evil").exists()


def test_chosen_files(torch: ModuleType, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pickled(torch, folder, "last.ckpt")
    (folder / "first.ckpt").write_bytes(b"")
    assert converted(folder, "--file", "last.ckpt")[0] == 0
    assert cli.main(["convert", str(folder), "--out", str(folder.parent / "b"), "--file", "none.ckpt"]) == 1
    assert "error[pickle-missing]" in capsys.readouterr().err
    both = ["--file", "last.ckpt", "--file", "last.ckpt"]
    assert cli.main(["convert", str(folder), "--out", str(folder.parent / "b"), *both]) == 1
    assert "error[tensor-twice]" in capsys.readouterr().err


def test_without_pytorch_or_with_an_old_one(
    torch: ModuleType, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pickled(torch, folder)
    monkeypatch.setenv("STUB_TORCH_VERSION", "2.5.1")
    assert "error[pytorch-too-old]" in refused(folder, capsys)
    (tmp_path / "none").mkdir()
    (tmp_path / "none/torch.py").write_text("raise ImportError('none here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "none"))
    assert "error[pytorch-missing]" in refused(folder, capsys)
    (tmp_path / "none/torch.py").write_text("import os; os.kill(os.getpid(), 9)")
    assert "error[unpickling-failed] convert: the process that reads the pickle ended with -9" in refused(
        folder, capsys
    )
    assert "error[python-missing]" in refused(folder, capsys, "--python", str(tmp_path / "python"))


def test_pytorch_itself(folder: Path) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    before = read_tensors(folder / WEIGHTS)
    (folder / WEIGHTS).unlink()
    state = {name: torch.from_numpy(values.copy()) for name, values in before.items()}
    state["classifier.weight"] = state["classifier.weight"].T.contiguous().T
    state["cls.predictions.decoder.weight"] = state[WORDS]
    torch.save(state, folder / PICKLE)
    code, out = converted(folder)
    assert code == 0
    after = read_tensors(out / WEIGHTS)
    assert list(after) == list(before)
    assert all(np.array_equal(after[name], before[name]) for name in before)
    torch.save({name: state[name].to(torch.bfloat16) for name in before}, folder / PICKLE)
    assert converted(folder)[0] == 0
    (folder / PICKLE).write_bytes(pickle.dumps({"a": Evil()}))
    assert converted(folder)[0] == 1
