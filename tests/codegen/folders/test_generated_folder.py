# SPDX-License-Identifier: Apache-2.0
"""Generated folders from somewhere else: `bundle`, `verify` and `build` believe nothing that etch.json says and etch
would not write, read and write nothing outside, and refuse by name."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tiny_checkpoint import write_tiny_checkpoint

from codegen import pipeline
from codegen.building import build
from codegen.bundle import bundle
from codegen.errors import EtchError
from codegen.files.rendered import Rendered
from codegen.folders.manifest import ids_of, read_manifest
from codegen.verification import verify

SEED = 20261122
MUTANTS = 600


class Folder:
    """A generated folder between others that nobody may touch, and what becomes of it."""

    def __init__(self, root: Path) -> None:
        self.root, self.model = root, root / "here" / "model"
        self.checkpoint = root / "checkpoint"
        write_tiny_checkpoint(self.checkpoint)
        pipeline.generate(pipeline.Request(self.checkpoint, self.model, recipe="w4a8", max_tokens=16), lambda _: None)
        (root / "victim").mkdir()
        (root / "victim" / "secret").write_text("secret")
        self.manifest: dict[str, Any] = json.loads((self.model / "etch.json").read_text())
        self.raw = (self.model / "etch.json").read_bytes()
        self.loaded = pipeline.load(self.checkpoint)
        self.out = root / "there" / "out"

    def write(self, content: bytes | dict[str, Any]) -> None:
        raw = content if isinstance(content, bytes) else json.dumps(content).encode("utf-8", "surrogatepass")
        (self.model / "etch.json").write_bytes(raw)

    def outside(self) -> dict[str, bytes | None]:
        """Everything but the output."""
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes() if path.is_file() else None
            for path in sorted(self.root.rglob("*"))
            if self.out not in (path, *path.parents) and path != self.out.parent
        }

    def bundle(self) -> None:
        bundle.bundle(self.model, self.out, lambda _: None)

    def verify(self) -> None:
        verify.verify(self.model, self.checkpoint, None, lambda _: None)

    def build(self) -> None:
        build.build(self.model)


class Reached(Exception):
    """The folder was believed so far that something is compiled."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    """Without what takes its time: the compiler, the runtime's files, the disk, the checkpoint's own checks."""
    made = Folder(tmp_path)

    def compiled(*_: object) -> None:
        raise Reached

    monkeypatch.setattr(build, "_configure_and_build", compiled)
    monkeypatch.setattr(bundle, "_runtime_files", lambda: iter([Rendered("runtime/a.cpp", [b"int a;\n"])]))
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(pipeline, "load", lambda *_, **_of: made.loaded)
    monkeypatch.setattr(verify, "golden_texts", lambda *_: ["the cat"])
    yield made


COMMANDS: dict[str, Callable[[Folder], None]] = {
    "bundle": Folder.bundle,
    "verify": Folder.verify,
    "build": Folder.build,
}


def refused(work: Callable[[], None]) -> EtchError:
    with pytest.raises(EtchError) as caught:
        work()
    return caught.value


def test_as_it_is(folder: Folder) -> None:
    for name in ("verify", "build"):
        with pytest.raises(Reached):
            COMMANDS[name](folder)
    folder.bundle()
    assert (folder.out / "model" / "model.cpp").read_bytes() == (folder.model / "model.cpp").read_bytes()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_name_that_leads_out_through_a_link(folder: Folder, command: str) -> None:
    """Read through the link it named a file of somebody else, written without it one beside the output."""
    (folder.root / "deep" / "deeper").mkdir(parents=True)
    (folder.model / "a").symlink_to(folder.root / "deep" / "deeper")
    (folder.root / "owned").write_text("evil")
    name = "a/../../owned"
    assert (folder.model / name).resolve() == folder.root / "owned"
    folder.manifest["files"][name] = hashlib.sha256(b"evil").hexdigest()
    folder.write(folder.manifest)
    before = folder.outside()
    error = refused(lambda: COMMANDS[command](folder))
    assert (error.code, error.stage, error.file) == ("manifest-malformed", command, "etch.json")
    assert folder.outside() == before
    assert not folder.out.exists()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ["etch.json", "model.cpp", "model.tables", "CMakeLists.txt"])
@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "missing", "changed"])
def test_files_that_are_none(folder: Folder, command: str, name: str, kind: str) -> None:
    path = folder.model / name
    path.rename(folder.root / "victim" / "moved")
    if kind == "link":
        path.symlink_to(folder.root / "victim" / "moved")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "changed":
        path.write_bytes((folder.root / "victim" / "moved").read_bytes() + b" ")
        if name == "etch.json":
            return
    if command == "bundle" and name == "CMakeLists.txt":
        folder.bundle()  # not part of it
        return
    codes = {"missing": "file-missing", "changed": "model-changed"}
    expected = "not-generated" if name == "etch.json" else codes.get(kind, "not-a-regular-file")
    error = refused(lambda: COMMANDS[command](folder))
    assert (error.code, error.stage) == (expected, command)
    assert not folder.out.exists()


@pytest.mark.parametrize("name", ["build", "build/bin"])
def test_a_build_elsewhere(folder: Folder, name: str) -> None:
    path = folder.model / name
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(folder.root / "victim")
    for command in (folder.verify, folder.build):
        assert refused(command).code == "not-a-regular-file"


def test_a_program_that_is_a_link_is_not_run(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder.model / "build" / "bin").mkdir(parents=True)
    (folder.model / "build" / "bin" / "classify-model").symlink_to("/bin/true")
    with pytest.raises(Reached):
        folder.verify()


def test_cmake_that_is_more_than_a_call(folder: Folder) -> None:
    path = folder.model / "CMakeLists.txt"
    path.write_text(path.read_text() + "execute_process(COMMAND touch owned)\n")
    folder.manifest["files"]["CMakeLists.txt"] = hashlib.sha256(path.read_bytes()).hexdigest()
    folder.write(folder.manifest)
    for command in (folder.verify, folder.build):
        assert refused(command).code == "model-changed"


def test_a_huge_manifest(folder: Folder) -> None:
    with (folder.model / "etch.json").open("wb") as file:
        file.truncate(1 << 40)
    for command in (folder.bundle, folder.verify, folder.build):
        assert refused(command).code == "not-generated"


# --- mutated manifests -----------------------------------------------------------------------------------------------

HOSTILE: list[Any] = [
    *("", ".", "..", "/", "../x", "/etc/passwd", "a/../../../victim/owned", "../../victim/secret", "victim/secret"),
    *("model.cpp/..", "model_../x.cpp", "model.cpp\n", "model\0.cpp", "MODEL.cpp", "modelx.cpp", "model_.hpp", "con"),
    *("class", "abi", "model__x", "x" * 100_000, "\ud800", "\u202e", "${HOME}", "$(touch owned)", "%s%n", "{{7*7}}"),
    *(None, True, False, 0, -1, 1, 2, 3, 1 << 31, 1 << 63, 1 << 200, 10**99, 0.5, 1e300, -0.0),
    *([], {}, [[]], {"": ""}, [None] * 10, {"a": {"b": {}}}, "8", "4", "w8a8", "fp32", "host", "regression", "f" * 64),
    *("ffffffff", "f" * 70_000, "1" + "0" * 40_000, "0", "-1", "0x1", "g"),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every member of every object and list, from the outside in."""
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    for key, below in items:
        yield (*path, key)
        yield from places(below, (*path, key))


STRINGS = [text for text in HOSTILE if isinstance(text, str)]


def mutant(source: random.Random, manifest: dict[str, Any], raw: bytes) -> bytes | dict[str, Any]:
    """Other bytes, or one to five members changed, and some hostile ones more."""
    if source.random() < 0.3:
        return spoiled(source, raw)
    result = copy.deepcopy(manifest)
    for _ in range(source.choice([1, 1, 1, 2, 5])):
        change(source, result, manifest)
    if isinstance(result.get("files"), dict) and source.random() < 0.3:
        result["files"][source.choice(STRINGS)] = hashlib.sha256(b"secret").hexdigest()
    if source.random() < 0.2:
        result["kept_ids"] = source.choice(HOSTILE)
    if source.random() < 0.1:
        result["bits"] = source.choice(
            [{"0.query": 4}, {"0.query": 3}, {"9.query": 4}, {"nothing": 8}, {"": 4}, HOSTILE]
        )
    return result


def spoiled(source: random.Random, raw: bytes) -> bytes:
    """Bytes that need not be JSON."""
    at = source.randrange(len(raw))
    opening = source.choice([b"[", b'{"a":', b'{"files":'])
    return source.choice(
        [
            raw[:at] + bytes([source.randrange(256)]) + raw[at + source.randrange(2) :],
            raw[:at],
            opening * 100_000,
            b'{"files": ' + opening * source.randrange(1, 3000),
        ]
    )


def change(source: random.Random, result: dict[str, Any], manifest: dict[str, Any]) -> None:
    """One member: gone, renamed, doubled, or of another value."""
    # Half of the time in a field of its own, or it would mostly be one of the many tables.
    spots = [(key,) for key in result] if source.random() < 0.5 else list(places(result))
    if not spots:
        return
    path = source.choice(spots)
    holder: Any = result
    for key in path[:-1]:
        holder = holder[key]
    key, way = path[-1], source.randrange(5)
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(holder, dict):
        holder[source.choice(STRINGS)] = holder.pop(key)
    elif way == 2 and isinstance(holder, dict):
        holder[source.choice(STRINGS)] = copy.deepcopy(holder[key])
    elif way == 3:
        holder[key] = copy.deepcopy(manifest[source.choice(list(manifest))])
    else:
        holder[key] = copy.deepcopy(source.choice(HOSTILE))


def test_mutated_manifests(folder: Folder) -> None:
    """No bug, nothing outside, for what is accepted the same as before."""
    source = random.Random(SEED)
    (folder.model / "a").symlink_to(folder.root / "victim")
    before = folder.outside()
    del before["here/model/etch.json"]
    codes: dict[str, int] = {}
    for number in range(MUTANTS):
        content = mutant(source, folder.manifest, folder.raw)
        folder.write(content)
        for name, command in COMMANDS.items():
            try:
                command(folder)
                code = "accepted"
            except Reached:
                code = "reached"
            except EtchError as error:
                assert error.stage in (name, "front-end", "arguments", "load", "build"), (number, error)
                code = error.code
            except BaseException as error:
                raise AssertionError(f"seed {SEED}, mutant {number}, {name}") from error
            codes[code] = codes.get(code, 0) + 1
        if folder.out.parent.exists():
            assert [path.name for path in folder.out.parent.iterdir()] == ["out"], number
            names = {path.relative_to(folder.out).parts[0] for path in folder.out.rglob("*")}
            assert names <= {"include", "model", "runtime", "LICENSE", "README.txt", "etch.json", "example.cpp"}, number
            shutil.rmtree(folder.out.parent)
        after = folder.outside()
        del after["here/model/etch.json"]
        assert after == before, number
    assert codes["not-generated"] > 100
    assert codes["manifest-malformed"] > 400
    assert codes["reached"] > 30  # fields that the commands do not use


def test_every_field_is_checked(folder: Folder) -> None:
    """Whatever etch writes into a manifest has a type here, or it would be believed."""
    for path in places(folder.manifest):
        if path[0] == "files" and len(path) == 1:
            continue
        changed = copy.deepcopy(folder.manifest)
        holder: Any = changed
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = {"of": "another type"}
        folder.write(changed)
        assert refused(lambda: read_manifest(folder.model)).code == "manifest-malformed", path  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("kept", ["1", "f" * 4000, "fe"])
def test_kept_ids_of_another_vocabulary(folder: Folder, kept: str) -> None:
    folder.manifest["kept_ids"] = kept
    folder.write(folder.manifest)
    assert ids_of(kept)
    assert refused(folder.verify).code == "manifest-malformed"
