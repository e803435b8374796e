# SPDX-License-Identifier: Apache-2.0
"""`etch wheel`: the package in a wheel gives the program's bits for every form of texts, threads, and after a fork; its
library exports the model's functions and nothing else. Sweep: built by CMake and installed by pip."""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from arrow_strings import Chunked, Strings
from classify_program import ROOT, Program, built
from generator_program import etch
from model_build import build_model
from recorded.outputs import folder as recorded
from tiny_checkpoint import write_tiny_checkpoint
from tiny_sentence import write_tiny_sentence_model
from wheels import imported, linked

from codegen.errors import EtchError
from codegen.wheel import load as loading
from codegen.wheel import wheel
from codegen.wheel.load import load
from tools.peers import embeddings

TEXTS = ["the cat", "", "a dog sat on the mat [SEP] and " * 9, "Ünïcode", "the dog"] * 20


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("wheel")
    write_tiny_checkpoint(place / "labels")
    write_tiny_sentence_model(place / "vectors")
    folders = {"labels": place / "labels", "vectors": place / "vectors", "tags": recorded("tags/mpnet")}
    for name, folder in folders.items():
        out = etch("generate", folder, "--out", place / f"tiny_{name}")
        assert out.code == 0, out.err
    return {name: place / f"tiny_{name}" for name in folders}


@pytest.fixture(scope="module")
def packages(generated: dict[str, Path]) -> Iterator[dict[str, ModuleType]]:
    """Imported from their wheels, unpacked."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        site = generated["labels"].parent / "site"
        patch.syspath_prepend(str(site))
        for name, folder in generated.items():
            found[name] = imported(folder, site, patch)
        yield found


def printed(program: Program, texts: list[str]) -> list[dict[str, Any]]:
    """What the program says of each, one call for each: a line cannot hold all of them."""
    done = program.well("--json", *[text for text in texts])
    return [json.loads(line) for line in done.out.decode().splitlines()]


def test_the_bits_of_the_program(packages: dict[str, ModuleType], generated: dict[str, Path]) -> None:
    for threads in (1, 3):
        said = printed(build_model(generated["labels"]).program, TEXTS)
        answers = packages["labels"].Model(threads).classify(TEXTS)
        assert np.array_equal(answers.logits, np.array([one["logits"] for one in said], np.float32))
        assert answers.labels == [one["label"] for one in said]
        assert answers.tokens.tolist() == [one["tokens"] for one in said]
        assert answers.truncated.tolist() == [one["truncated"] for one in said]
        assert answers.probabilities.max(axis=1).tolist() == [np.float32(one["probability"]) for one in said]
        said = printed(build_model(generated["vectors"]).program, TEXTS)
        rows = packages["vectors"].Model(threads).embed(TEXTS)
        assert rows.dtype == np.float32
        assert np.array_equal(rows, np.array([one["embedding"] for one in said], np.float32))


def test_texts_of_every_kind(packages: dict[str, ModuleType]) -> None:
    model = packages["vectors"].Model()
    wanted = model.embed(TEXTS)
    forms = [iter(TEXTS), tuple(TEXTS), [text.encode() for text in TEXTS], np.array(TEXTS), np.array(TEXTS, object)]
    for form in forms:
        assert np.array_equal(model.embed(form), wanted)
    assert np.array_equal(model.embed(TEXTS[0]), wanted[:1])
    assert model.embed([]).shape == (0, wanted.shape[1])
    for wrong in ([1], [None], ["a", 2.5]):
        with pytest.raises(TypeError, match="not str or bytes"):
            model.embed(wrong)
    for single in (3, None):
        with pytest.raises(TypeError, match=f"texts: {type(single).__name__} is neither str nor bytes"):
            model.embed(single)
    with pytest.raises(ValueError, match="threads: 65"):
        packages["vectors"].Model(65)
    for threads in ("2", 2.0, None):
        with pytest.raises(TypeError, match=f"threads: {threads!r} is not a number from 0 to 64"):
            packages["vectors"].Model(threads)


def test_pairs(packages: dict[str, ModuleType], generated: dict[str, Path]) -> None:
    seconds = [text[::-1] for text in TEXTS[:7]]
    options = [option for pair in zip(TEXTS, seconds, strict=False) for option in ("--pair", *pair)]
    said = build_model(generated["labels"]).program.well("--json", *options).objects
    for threads in (1, 2):
        model = packages["labels"].Model(threads)
        answers = model.classify(TEXTS[:7], seconds)
        assert np.array_equal(answers.logits, np.array([one["logits"] for one in said], np.float32))
        assert answers.tokens.tolist() == [one["tokens"] for one in said]
        assert np.array_equal(model.classify(Strings(TEXTS[:7]), Strings(seconds, b"U")).logits, answers.logits)
        assert model.classify([], []).logits.shape == (0, answers.logits.shape[1])
        for first, second in ((TEXTS[:7], seconds[:6]), (Chunked(), seconds), (TEXTS[:7], Chunked(Strings(seconds)))):
            if len(getattr(second, "chunks", ())) != 1:
                with pytest.raises(ValueError, match="not as many first texts as second ones"):
                    model.classify(first, second)


@pytest.mark.parametrize("aggregation", ["none", "simple", "first", "average", "max"])
def test_tags(packages: dict[str, ModuleType], generated: dict[str, Path], aggregation: str) -> None:
    texts = ["the cat sat on the mat", "", "Mary likes Paris in May " * 30, "a dog"] * 3
    said = build_model(generated["tags"]).program.well("--json", "--aggregation", aggregation, *texts).objects
    wanted = [[(one["label"], np.float32(one["score"]), one["start"], one["end"]) for one in each["entities"]]
              for each in said]  # fmt: skip
    assert any(wanted)
    for threads in (1, 3):
        model = packages["tags"].Model(threads)
        found = [
            [(s.label, np.float32(s.score), s.begin, s.end) for s in spans] for spans in model.tag(texts, aggregation)
        ]
        assert found == wanted
    assert model.tag([]) == []
    many = model.tag(texts * 200, aggregation)  # more than go into one call
    assert [[tuple(s) for s in spans] for spans in many[-12:]] == [[tuple(s) for s in spans] for spans in many[:12]]
    with pytest.raises(ValueError, match="aggregation: 'all' is none of"):
        model.tag(texts, "all")


def test_plain_text(packages: dict[str, ModuleType]) -> None:
    package = packages["labels"]
    tokens = [package.Model(plain_text=plain).classify("the [SEP] cat").tokens[0] for plain in (False, True)]
    assert tokens[0] < tokens[1]


def test_huge_pages(packages: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    """Are asked for where they are wanted, and change no answer."""
    package, session = packages["vectors"], sys.modules["tiny_vectors._session"].Session
    called: list[str] = []
    own = session._function

    def function(self: Any, name: str, *rest: Any) -> Any:
        called.append(name)
        return own(self, name, *rest)

    monkeypatch.setattr(session, "_function", function)
    wanted = package.Model().embed(TEXTS)
    assert "use_huge_pages" not in called
    assert np.array_equal(package.Model(huge_pages=True).embed(TEXTS), wanted)
    assert called.count("use_huge_pages") == 1


# --- Arrow -----------------------------------------------------------------------------------------------------------


def test_arrow_arrays_are_not_copied(packages: dict[str, ModuleType]) -> None:
    model = packages["vectors"].Model(2)
    texts = sys.modules["tiny_vectors._texts"]
    wanted = model.embed(TEXTS)
    for kind in (b"u", b"U"):
        strings = Strings(TEXTS, kind)
        [(data, offsets, *_)] = texts.packed(strings)
        assert data == strings.data.ctypes.data
        assert offsets == strings.offsets.ctypes.data + strings.offsets.itemsize
        assert np.array_equal(model.embed(strings), wanted)
        assert np.array_equal(model.embed(Chunked(strings, Strings([]), Strings(TEXTS[:3], kind)))[:100], wanted)
    assert model.embed(Chunked()).shape == (0, wanted.shape[1])
    assert np.array_equal(model.embed(Strings(TEXTS[:5], nulls=b"\xff", null_count=-1)), wanted[:5])
    for strings in (Strings(TEXTS[:5], nulls=b"\xff", null_count=1), Strings(TEXTS[:5], nulls=b"\xef", null_count=-1)):
        with pytest.raises(ValueError, match="has nulls"):
            model.embed(strings)
    with pytest.raises(TypeError, match=r"strings is needed .*'i'"):
        model.embed(Strings(TEXTS, b"i"))


# --- threads and processes -------------------------------------------------------------------------------------------


def test_threads_and_forks(packages: dict[str, ModuleType], generated: dict[str, Path]) -> None:
    """In a process of its own, which may fork: Python threads that share a model, and a child of it."""
    program = """
import os, threading
import numpy as np
import tiny_vectors
texts = ["the cat", "a dog sat on the mat", ""] * 100
model = tiny_vectors.Model(3)
wanted = model.embed(texts)
same = []
work = [threading.Thread(target=lambda: same.append(np.array_equal(model.embed(texts), wanted))) for _ in range(4)]
[thread.start() for thread in work]
[thread.join() for thread in work]
assert same == [True] * 4
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(model.embed(texts), wanted) and model.threads == 3 else 1)
assert os.waitpid(child, 0)[1] == 0
assert np.array_equal(model.embed(texts), wanted)
"""
    site = Path(packages["vectors"].__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": str(site)}, timeout=60, check=False)
    assert done.returncode == 0


def test_rust(packages: dict[str, ModuleType], generated: dict[str, Path], tmp_path: Path) -> None:
    """tools/examples/lines.rs over the same library."""
    rustc = shutil.which("rustc")
    if rustc is None or subprocess.run([rustc, "--version"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no rustc: apt-get install rustc")
    package = packages["labels"]
    source = (ROOT / "tools/examples/lines.rs").read_text().replace("agnews", "tiny_labels")
    (tmp_path / "lines.rs").write_text(source.replace("WIDTH: usize = 4", f"WIDTH: usize = {len(package.LABELS)}"))
    place = generated["labels"] / "build"
    command = [rustc, "-D", "warnings", "lines.rs", "-L", f"native={place}", "-C", f"link-arg=-Wl,-rpath,{place}"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
    texts = [text.replace("\n", " ") for text in TEXTS]
    lines = "".join(text + "\n" for text in texts)
    done = subprocess.run([tmp_path / "lines"], input=lines, capture_output=True, text=True, check=True, timeout=60)
    answers = package.Model(plain_text=True).classify(texts)
    best = answers.probabilities.max(axis=1)
    wanted = [f"{label}\t{share:.4f}" for label, share in zip(answers.labels, best, strict=True)]
    assert done.stdout.splitlines() == wanted


def test_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`etch.load`, twice of a folder that has another model the second time: the first one goes on as it was."""
    monkeypatch.setattr(wheel, "build_shared", lambda directory, echo: linked(directory))
    found = []
    for seed in (1, 2):
        write_tiny_checkpoint(tmp_path / f"checkpoint{seed}", seed=seed)
        shutil.rmtree(tmp_path / "tiny", ignore_errors=True)
        done = etch("generate", tmp_path / f"checkpoint{seed}", "--out", tmp_path / "tiny", "--name", "tiny")
        assert done.code == 0, done.err
        said = printed(build_model(tmp_path / "tiny").program, TEXTS)
        wanted = np.array([one["logits"] for one in said], np.float32)
        found.append((load(tmp_path / "tiny", 2), wanted))
    for model, wanted in found:
        assert model.threads == 2
        assert np.array_equal(model.classify(TEXTS).logits, wanted)
    assert not np.array_equal(found[0][1], found[1][1])
    plain = load(str(tmp_path / "tiny"), plain_text=True)
    assert plain.threads == 1
    assert plain.classify("the [SEP] cat").tokens[0] > found[1][0].classify("the [SEP] cat").tokens[0]
    assert len(list((tmp_path / "tiny/build/python").iterdir())) == 1  # generate wrote the folder anew


def test_what_nobody_has_loaded_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Older contents of a folder; but for one that this process has, or another one."""
    files = {"tiny/__init__.py": b""}
    monkeypatch.setattr(loading, "package_files", lambda directory, echo: files)
    place = tmp_path / "build/python"

    def load_one(number: int) -> str:
        files["tiny/__init__.py"] = f"def Model(*_, **__): return {number}\n".encode()
        before = set(place.iterdir()) if place.exists() else set()
        assert load(tmp_path) == number
        [new] = set(place.iterdir()) - before
        return new.name

    for name in ("left", "elsewhere"):
        (place / name / "tiny").mkdir(parents=True)
    told = "import sys; sys.stdin.readline()"
    imports = "from pathlib import Path; from codegen.files.folder_lock import keep"
    keeps = f"{imports}; keep(Path({str(place / 'elsewhere')!r}))"
    command = [sys.executable, "-c", f"{keeps}; print(flush=True); {told}"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        kept = [load_one(1), load_one(2)]
        assert {path.name for path in place.iterdir()} == {*kept, "elsewhere"}
        other.communicate(b"\n")
    kept.append(load_one(3))
    assert {path.name for path in place.iterdir()} == set(kept)
    assert load(tmp_path) == 3


def test_beside_sentence_transformers(packages: dict[str, ModuleType], generated: dict[str, Path]) -> None:
    """etch's part of `tools/peers/embeddings.py`: the texts at once, for each line that asks."""
    place = generated["vectors"].parent
    [path] = (place / "site/wheels").glob("tiny_vectors-*.whl")
    (place / "lines.txt").write_text("the cat\na dog\nthe dog\n")
    setup = {"peer": "etch", "threads": 2, "limit": 2, "texts": str(place / "lines.txt"), "wheel": str(path)}
    command = [*embeddings.WORK, json.dumps(setup | {"place": str(place / "peer")})]
    done = subprocess.run(command, cwd=ROOT, input="texts\n", capture_output=True, text=True, check=True, timeout=60)
    about, answer = map(json.loads, done.stdout.splitlines())
    assert about["texts"] == 2
    assert min(answer["seconds"], answer["computed"], answer["peak"]) > 0
    assert np.array_equal(np.array(answer["first"], np.float32), packages["vectors"].Model().embed(["the cat"])[0])


# --- the library and the wheel ---------------------------------------------------------------------------------------


def test_what_the_library_exports(packages: dict[str, ModuleType], generated: dict[str, Path]) -> None:
    library = generated["labels"] / "build/libetch_tiny_labels.so"
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    names = [line.split()[2] for line in done.stdout.splitlines()]
    assert {"etch_tiny_labels_classify@@ETCH_0", "etch_tiny_labels_workspace_bytes@@ETCH_0"} <= set(names)
    assert not [name for name in names if not name.startswith(("etch_tiny_labels_", "ETCH_0"))]
    size = ctypes.CDLL(str(library)).etch_tiny_labels_workspace_bytes
    size.restype = ctypes.c_size_t
    assert size() > json.loads((generated["labels"] / "etch.json").read_text())["arena_bytes"]


def test_the_wheel_holds_what_its_record_says(packages: dict[str, ModuleType], generated: dict[str, Path]) -> None:
    [path] = (generated["labels"].parent / "site/wheels").glob("tiny_labels-*.whl")
    again = wheel.make_wheel(generated["labels"], path.parent.parent / "again", lambda _: None)
    assert again.read_bytes() == path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        [record] = [name for name in names if name.endswith("/RECORD")]
        listed = [line.split(",")[0] for line in archive.read(record).decode().splitlines()]
        assert sorted(listed) == sorted(names)
        [metadata] = [name for name in names if name.endswith("/METADATA")]
        assert "Name: tiny_labels\n" in archive.read(metadata).decode()


def test_what_is_generated_otherwise_has_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip keeps a package of the same version; PEP 440 has a local version of letters and digits."""
    write_tiny_checkpoint(tmp_path / "checkpoint")
    monkeypatch.setattr(wheel, "build_shared", lambda directory, echo: directory / "etch.json")
    names = []
    for options in ((), (), ("--recipe", "fp32"), ("--max-tokens", "16"), ("--embedding-bits", "4")):
        shutil.rmtree(tmp_path / "tiny", ignore_errors=True)
        done = etch("generate", tmp_path / "checkpoint", "--out", tmp_path / "tiny", *options)
        assert done.code == 0, done.err
        names.append(wheel.make_wheel(tmp_path / "tiny", tmp_path / "out", lambda _: None).name)
    assert names[0] == names[1]
    assert len(set(names)) == 4
    assert all(re.fullmatch(r"tiny-[0-9.]+\+m[0-9a-f]{12}-py3-none-.*\.whl", name) for name in names), names


def test_labels_are_what_the_folder_says(generated: dict[str, Path], packages: dict[str, ModuleType]) -> None:
    assert packages["labels"].LABELS == ("label 0", "label 1", "label 2")
    assert set(packages["labels"].Model().classify(TEXTS).labels) <= set(packages["labels"].LABELS)
    rows = '    {"a\\"\\303\\251" "b\\\\", 6},\n    {"", 0},'
    header = f"inline constexpr std::string_view kLabels[kLabelCount] = {{\n{rows}\n}};"
    assert wheel._names(header, "Labels") == repr(('a"éb\\', ""))


def test_refused(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path / "checkpoint")
    assert etch("generate", tmp_path / "checkpoint", "--out", tmp_path / "board", "--target", "m-profile").code == 0
    done = etch("wheel", tmp_path / "board", "--out", tmp_path / "out")
    assert (done.code, "for m-profile, not for this machine: generate it without --target" in done.err) == (1, True), (
        done.err
    )
    done = etch("wheel", tmp_path / "checkpoint", "--out", tmp_path / "out")
    assert (done.code, "error[not-generated]" in done.err) == (1, True), done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["lambda", "email", "numpy"])
def test_a_model_called_like_what_python_has(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No package can be imported by a keyword, or should be in the place of a module that others import."""
    write_tiny_checkpoint(tmp_path / "checkpoint")
    done = etch("generate", tmp_path / "checkpoint", "--out", tmp_path / "made", "--name", name)
    assert done.code == 0, done.err
    monkeypatch.setattr(wheel, "build_shared", lambda *_: pytest.fail("it was built"))
    with pytest.raises(EtchError, match=f"'{name}' is .* in Python: .*another --name") as refused:
        wheel.make_wheel(tmp_path / "made", tmp_path / "out", lambda _: None)
    assert (refused.value.code, refused.value.stage) == ("name-taken", "wheel")


@pytest.mark.sweep
def test_built_by_cmake_and_installed_by_pip(tmp_path: Path) -> None:
    """The default model, with a Python that sees this environment's NumPy only."""
    for name in (ROOT / "generated/agnews").iterdir():
        if name.is_file():
            (tmp_path / "agnews").mkdir(exist_ok=True)
            (tmp_path / "agnews" / name.name).write_bytes(name.read_bytes())
    done = etch("wheel", tmp_path / "agnews", "--out", tmp_path)
    assert done.code == 0, done.err
    [path] = tmp_path.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", tmp_path / "site", path]
    subprocess.run(pip, check=True)
    program = "import agnews, sys; print(*agnews.Model(2).classify(sys.argv[1:]).logits.ravel().tolist())"
    texts = ["Oil prices climb after the summit", "The striker scored twice"]
    environment = {"PYTHONPATH": str(tmp_path / "site")}
    said = subprocess.run([sys.executable, "-c", program, *texts], env=environment, capture_output=True, check=True)
    wanted = [json.loads(line)["logits"] for line in built("classify").well("--json", *texts).lines]
    assert np.array_equal(np.array(said.stdout.split(), np.float32), np.ravel(np.array(wanted, np.float32)))
