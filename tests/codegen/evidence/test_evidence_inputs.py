# SPDX-License-Identifier: Apache-2.0
"""What `etch evidence` lists as read: of every folder, links of a cache among it, and nothing that only lies there."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from tiny_checkpoint import write_tiny_checkpoint
from tiny_heads import write_encoder, write_head

from codegen import cli
from codegen.errors import EtchError
from codegen.evidence.inputs import digests_of_files, digests_of_folders
from codegen.evidence.request import Request
from codegen.evidence.shown_commands import commands, verify_command
from codegen.head_folders import HeadFolder

READ = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def move_to_cache(folder: Path, cache: Path) -> Path:
    """The folder as Hugging Face's cache has it: each file a link."""
    blobs, snapshot = cache / "models--owner--name" / "blobs", cache / "models--owner--name" / "snapshots" / "1"
    for made in (blobs, snapshot):
        made.mkdir(parents=True)
    for path in sorted(folder.iterdir()):
        blob = blobs / sha256(path)
        (snapshot / path.name).symlink_to(Path("..", "..", "blobs", blob.name))
        shutil.move(path, blob)
    return snapshot


def listed(model: Path, checkpoint: Path, heads: tuple[HeadFolder, ...] = ()) -> dict[str, str]:
    texts, out = model / "texts.txt", model / "page.html"
    request = Request(model, checkpoint, heads, texts, table=None, table_options=(), latency=False, out=out)
    return digests_of_folders(request, json.loads((model / "etch.json").read_text(encoding="utf-8")))


def test_a_folder_and_the_same_one_of_a_cache(tmp_path: Path) -> None:
    checkpoint, model = tmp_path / "checkpoint", tmp_path / "tiny"
    write_tiny_checkpoint(checkpoint)
    (checkpoint / "README.md").write_text("---\nlicense: mit\n---\n")
    (checkpoint / "training.log").write_text("nobody reads this")
    assert cli.main(["generate", str(checkpoint), "--out", str(model), "--recipe", "fp32"]) == 0
    expected = {f"checkpoint/{name}": sha256(checkpoint / name) for name in (*READ, "README.md")}
    expected |= {"model/etch.json": sha256(model / "etch.json")}
    assert listed(model, checkpoint) == expected
    assert listed(model, move_to_cache(checkpoint, tmp_path)) == expected


def test_folders_of_heads(tmp_path: Path) -> None:
    encoder = write_encoder(tmp_path / "encoder")
    heads = tuple(HeadFolder(name, write_head(tmp_path / name, name)) for name in ("single", "tags"))
    options = [word for head in heads for word in ("--head", f"{head.name}={head.folder}")]
    model = tmp_path / "several"
    assert cli.main(["generate", str(encoder), "--out", str(model), "--recipe", "fp32", *options]) == 0
    found = listed(model, encoder, heads)
    for place, folder in (("checkpoint", encoder), ("head SINGLE", heads[0].folder), ("head TAGS", heads[1].folder)):
        assert found[f"{place}/model.safetensors"] == sha256(folder / "model.safetensors")
    assert sorted({name.rpartition("/")[0] for name in found}) == ["checkpoint", "head SINGLE", "head TAGS", "model"]


def test_two_heads_of_one_folder_are_listed_once(tmp_path: Path) -> None:
    both = write_head(tmp_path / "both", "both")
    model = tmp_path / "model"
    assert cli.main(["generate", str(both), "--out", str(model), "--recipe", "fp32"]) == 0
    assert sorted(listed(model, both)) == [*(f"checkpoint/{name}" for name in READ), "model/etch.json"]


def test_another_checkpoint_is_refused(tmp_path: Path) -> None:
    for seed in (1, 2):
        write_tiny_checkpoint(tmp_path / str(seed), seed=seed)
    model = tmp_path / "tiny"
    assert cli.main(["generate", str(tmp_path / "1"), "--out", str(model), "--recipe", "fp32"]) == 0
    with pytest.raises(EtchError, match="other-checkpoint"):
        listed(model, tmp_path / "2")


def test_files_of_one_name(tmp_path: Path) -> None:
    """Each has its own line and its own place in the commands, which say the same again where the files are there."""
    for folder in ("a", "b", "c"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "test.csv").write_text(folder)
    manifest = {"name": "tiny", "recipe": "w8a8", "max_tokens": 8, "task": "classification", "target": "host"}

    def told(texts: Path, table: Path, smooth: Path, calibrate: Path | None = None) -> tuple[dict[str, str], list[str]]:
        request = Request(
            tmp_path, tmp_path, (), texts, table, (), latency=False, out=tmp_path / "page.html",
            smooth=smooth, calibrate=calibrate,
        )  # fmt: skip
        return digests_of_files(request), [verify_command(request), *commands(request, manifest)]

    files, typed = told(*(tmp_path / folder / "test.csv" for folder in ("a", "b", "c")))
    names = {"texts/test.csv": "a", "evaluate/test.csv": "b", "smooth/test.csv": "c"}
    assert files == {name: hashlib.sha256(content.encode()).hexdigest() for name, content in names.items()}
    assert typed[0].endswith(" --texts texts/test.csv --smooth smooth/test.csv")
    assert typed[1].endswith(" --smooth smooth/test.csv")
    assert " --texts texts/test.csv --smooth smooth/test.csv --evaluate evaluate/test.csv " in typed[3]
    for name, content in names.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(content)
    assert told(*(tmp_path / name for name in names)) == (files, typed)
    own = tmp_path / "own.txt"
    own.write_text("d")
    files, typed = told(own, tmp_path / "a/test.csv", tmp_path / "b/../a/test.csv", own)
    assert sorted(files) == ["own.txt", "test.csv"]
    assert typed[0].endswith(" --texts own.txt --smooth test.csv --calibrate own.txt")
