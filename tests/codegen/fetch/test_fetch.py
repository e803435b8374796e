# SPDX-License-Identifier: Apache-2.0
"""`etch fetch`, with the real huggingface_hub against a local stand-in for the Hub, in processes of their own."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hub_server import COMMIT, hub
from tiny_checkpoint import split_weights, write_json, write_tiny_checkpoint
from tiny_sentence import write_tiny_sentence_model

from codegen.fetch.chosen import chosen
from codegen.load.hub_name import HubName

ROOT = Path(__file__).resolve().parents[3]


def etch(*arguments: str | Path, hub: str = "http://127.0.0.1:1", cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """A command that knows no Hub but this one, and no account."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "HF_ENDPOINT": hub, "HF_HOME": "/nowhere", "NO_PROXY": "*"}
    environment |= {"HF_HUB_DISABLE_XET": "1"}
    return subprocess.run(
        [sys.executable, "-m", "codegen", *arguments],
        env=environment, cwd=cwd, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture
def client() -> None:
    if importlib.util.find_spec("huggingface_hub") is None:
        pytest.skip("huggingface_hub is not installed")


def test_a_folder_that_generates(client: None, tmp_path: Path) -> None:
    """The files that etch reads, with their hashes, and no others; then without a network."""
    folder = tmp_path / "repository"
    write_tiny_sentence_model(folder)
    (folder / "README.md").write_text("---\nlicense: mit\n---\n")
    (folder / "onnx").mkdir()
    for name in ("onnx/model.onnx", "pytorch_model.bin", "tf_model.h5", "optimizer.pt", ".gitattributes"):
        (folder / name).write_bytes(b"not wanted")
    with hub(folder) as address:
        done = etch("fetch", "someone/model@v1", "--out", tmp_path / "here", hub=address)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == f"repository   someone/model, commit {COMMIT}"
    wanted = ["1_Pooling/config.json", "README.md", "config.json", "model.safetensors", "modules.json"]
    wanted += ["tokenizer.json", "tokenizer_config.json"]
    said = [line.split() for line in lines if line.startswith("sha256")]
    assert [line[3] for line in said] == wanted
    for _, sha256, _, name in said:
        assert hashlib.sha256((tmp_path / "here" / name).read_bytes()).hexdigest() == sha256
    found = {
        path.relative_to(tmp_path / "here").as_posix() for path in (tmp_path / "here").rglob("*") if path.is_file()
    }
    assert found == {*wanted, "etch.json"}
    origin = json.loads((tmp_path / "here/etch.json").read_text())
    assert (origin["fetched"], origin["revision"]) == ("someone/model", COMMIT)
    assert "etch generate" in lines[-1] or "codegen generate" in lines[-1]
    assert etch("inspect", tmp_path / "here").returncode == 0


def test_refused(client: None, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path / "repository")

    def refused(name: str, address: str = "http://127.0.0.1:1") -> str:
        done = etch("fetch", name, "--out", tmp_path / "out", hub=address)
        assert done.returncode == 1, done.stdout
        assert done.stderr.count("\n") == 1, done.stderr
        assert not (tmp_path / "out").exists()
        return done.stderr

    assert "error[hub-unreachable]" in refused("someone/model")
    with hub(tmp_path / "repository") as address:
        assert "error[hub-repository-missing]" in refused("someone/else", address)
        assert "has no revision 'v2'" in refused("someone/model@v2", address)
        assert "error[hub-gated]" in refused("someone/gated", address)
    for spoiled in ("model.safetensors", "config.json"):
        with hub(tmp_path / "repository", spoiled=spoiled) as address:
            assert f"error[hub-other-content] fetch: {spoiled}" in refused("someone/model", address)
    (tmp_path / "repository/config.json").unlink()
    with hub(tmp_path / "repository") as address:
        assert "error[hub-no-checkpoint]" in refused("someone/model", address)
    write_json(tmp_path / "repository/modules.json", [])
    with hub(tmp_path / "repository") as address:
        done = etch("fetch", "someone/model", "--out", tmp_path / "static", hub=address)
    assert done.returncode == 0, done.stderr


def test_pickled_weights_are_to_be_converted(client: None, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path / "repository")
    (tmp_path / "repository/model.safetensors").rename(tmp_path / "repository/pytorch_model.bin")
    with hub(tmp_path / "repository") as address:
        done = etch("fetch", "someone/model", "--out", tmp_path / "here", hub=address)
    assert done.returncode == 0, done.stderr
    assert f"convert {tmp_path}/here --out {tmp_path}/here-safetensors" in done.stdout.splitlines()[-1]


def test_an_adapter_is_to_be_merged(client: None, tmp_path: Path) -> None:
    recorded = ROOT / "tests/codegen/merge/recorded/head"
    (tmp_path / "repository").mkdir()
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        shutil.copy(recorded / name, tmp_path / "repository")
    with hub(tmp_path / "repository") as address:
        done = etch("fetch", "someone/model", "--out", tmp_path / "here", hub=address)
    assert done.returncode == 0, done.stderr
    assert f"merge {tmp_path}/here BASE --out {tmp_path}/here-merged" in done.stdout.splitlines()[-1]
    base = ROOT / "tests/codegen/recorded/masks/bert"
    assert etch("merge", tmp_path / "here", base, "--out", tmp_path / "merged").returncode == 0


def test_without_the_client(tmp_path: Path) -> None:
    (tmp_path / "huggingface_hub.py").write_text("raise ImportError('No module named huggingface_hub')")
    done = subprocess.run(
        [sys.executable, "-m", "codegen", "fetch", "a/b", "--out", tmp_path / "out"],
        env=os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}"},
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    message = "error[hub-client-missing] fetch: No module named huggingface_hub: pip install 'huggingface_hub>=1.0'"
    assert message in done.stderr


def test_a_name_of_the_hub_is_no_folder(tmp_path: Path) -> None:
    done = etch("inspect", "someone/model")
    assert done.returncode == 1
    assert (
        "'someone/model' is not a folder here; of the Hugging Face Hub: python3 -m codegen fetch someone/model"
        in done.stderr
    )
    assert "fetch" not in etch("inspect", "a/b/c").stderr
    done = etch("fetch", "model")
    assert done.returncode == 2
    assert "'model' is not OWNER/NAME or OWNER/NAME@REVISION" in done.stderr


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["model.safetensors", "pytorch_model.bin"], ["model.safetensors"]),
        (["pytorch_model-00001-of-00002.bin", "pytorch_model.bin.index.json"], ["pytorch_model-00001-of-00002.bin"]),
        (["2_Dense/pytorch_model.bin", "2_Dense/model.safetensors"], ["2_Dense/model.safetensors"]),
        (["2_Dense/pytorch_model.bin", "2_Dense/config.json"], ["2_Dense/config.json", "2_Dense/pytorch_model.bin"]),
        (
            ["0_StaticEmbedding/tokenizer.json", "0_StaticEmbedding/vocab.txt", "0_StaticEmbedding/model.safetensors"],
            ["0_StaticEmbedding/model.safetensors", "0_StaticEmbedding/tokenizer.json"],
        ),
        (
            ["spiece.model", "merges.txt", "LICENSE.txt", "a.py", "../x.json", "chat_template.jinja", "b/c.jinja"],
            ["LICENSE.txt", "chat_template.jinja", "merges.txt", "spiece.model"],
        ),
        (["bpe.codes", "vocab.txt", "a.py"], ["bpe.codes", "vocab.txt"]),
        (["source.spm", "target.spm", "model.fp16.pt"], ["source.spm", "target.spm"]),
        (["artifact.metadata", "vocab.txt", "other.metadata"], ["artifact.metadata", "vocab.txt"]),
        (["config.json", "etch.json"], ["config.json"]),  # of a folder that etch wrote: it gets a manifest of its own
    ],
)
def test_what_is_chosen(names: list[str], wanted: list[str]) -> None:
    assert chosen(names) == wanted


def test_shards_and_their_index(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    split_weights(tmp_path)
    names = [path.name for path in tmp_path.iterdir()]
    assert {name for name in chosen(names) if name.startswith("model")} == {n for n in names if n.startswith("model")}


@pytest.mark.parametrize(
    "text", ["a", "a/b/c", "/a/b", "../b", "a/..", "a b/c", "a/b@", "a/b@-x", "", "a/" + "b" * 200]
)
def test_names_that_are_none(text: str) -> None:
    assert HubName.parse(text) is None
