# SPDX-License-Identifier: Apache-2.0
"""`etch wheel` of models that answer questions and that write: the lines of the program, whatever the threads, options
and forms of texts."""

from __future__ import annotations

import json
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
from classify_program import ROOT
from generator_program import etch
from model_build import build_program
from once import once
from recorded.outputs import recorded_answers
from recorded_tasks import generated
from wheels import imported

from codegen import pipeline

GENERATION = ROOT / "tests" / "codegen" / "generation"
sys.path.insert(0, str(GENERATION))
from record_translations import MODELS, TEXTS, write_folder  # noqa: E402 - of the folder beside

# Of the program, and of the call; the settings of recorded cases by their names in `transformers`.
SETTINGS = {
    "top_k": ("--top", "top"),
    "max_answer_len": ("--longest", "longest"),
    "doc_stride": ("--stride", "stride"),
    "max_seq_len": ("--window", "window"),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        site = tmp_path_factory.mktemp("site")
        patch.syspath_prepend(str(site))
        yield site


@pytest.fixture(scope="module")
def answering(site: Path, shared: Path) -> tuple[ModuleType, Path]:
    with pytest.MonkeyPatch.context() as patch:
        folder = generated("answers/bert", "w8a8", shared)
        return imported(folder, site, patch), folder


@pytest.fixture(scope="module")
def translator(site: Path, shared: Path) -> tuple[ModuleType, Path]:
    """Of two beams."""
    out = shared / "wheel_marian" / "wheel_marian"
    checkpoint = out.parent / "checkpoint"

    def make() -> None:
        checkpoint.mkdir(parents=True)
        write_folder(MODELS[0], checkpoint)
        pipeline.generate(pipeline.Request(checkpoint, out, recipe="w8a8", beams=2), lambda _: None)

    once(out.parent / "made", "wheel", make)
    with pytest.MonkeyPatch.context() as patch:
        return imported(out, site, patch), out


@pytest.fixture(scope="module")
def teller(site: Path, shared: Path) -> tuple[ModuleType, Path]:
    out = shared / "wheel_gpt2" / "wheel_gpt2"
    request = pipeline.Request(GENERATION / "gpt2" / "texts", out, recipe="w8a8")
    once(out.parent / "made", "wheel", lambda: pipeline.generate(request, lambda _: None))
    with pytest.MonkeyPatch.context() as patch:
        return imported(out, site, patch), out


def said(folder: Path, *options: str, lines: list[str]) -> list[dict[str, Any]]:
    return build_program(folder).well("--json", *options, stdin="".join(f"{x}\n" for x in lines).encode()).objects


def asked(settings: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Options of the program, and of the call."""
    options: list[str] = []
    given: dict[str, Any] = {}
    for key, (option, name) in SETTINGS.items():
        if key in settings:
            options += [option, str(settings[key])]
            given[name] = settings[key]
    for holds, option, name in (
        (settings.get("handle_impossible_answer", False), "--no-answer", "no_answer"),
        (not settings.get("align_to_words", True), "--by-tokens", "by_tokens"),
    ):
        if holds:
            options += [option]
            given[name] = True
    return options, given


def test_answers(answering: tuple[ModuleType, Path]) -> None:
    package, folder = answering
    by_settings: dict[str, list[dict[str, Any]]] = {}
    for case in recorded_answers("answers/bert"):
        by_settings.setdefault(json.dumps(case["settings"]), []).append(case)
    models = [package.Model(threads) for threads in (1, 3)]
    for settings, cases in by_settings.items():
        options, given = asked(json.loads(settings))
        questions, contexts = ([case[key] for case in cases] for key in ("question", "context"))
        pairs = [part for pair in zip(questions, contexts, strict=True) for part in ("--pair", *pair)]
        lines = build_program(folder).well("--json", *options, *pairs).objects
        keys = ("text", "score", "start", "end")
        wanted = [[tuple(one[key] for key in keys) for one in line["answers"]] for line in lines]
        for model in models:
            found = model.answer(questions, contexts, **given)
            assert [[(s.text, s.score, s.begin, s.end) for s in spans] for spans in found] == [
                [(text, float(np.float32(score)), *place) for text, score, *place in spans] for spans in wanted
            ]
            if max(map(len, contexts)) < 1 << 16:
                assert model.answer(Strings(questions), Chunked(Strings(contexts, b"U")), **given) == found
    assert len(by_settings) > 3
    assert models[0].answer("the dog?", "a dog sat on the mat") == models[1].answer(
        ["the dog?"], [b"a dog sat on the mat"]
    )
    assert models[0].answer([], []) == []
    for wrong in ({"top": 0}, {"top": 1001}, {"window": package.MAX_TOKENS + 1}, {"stride": -1}):
        with pytest.raises(ValueError, match="is not a number from"):
            models[0].answer("a", "b", **wrong)
    with pytest.raises(ValueError, match="not as many first texts as second ones"):
        models[0].answer(["a", "b"], ["c"])


def compare(package: ModuleType, folder: Path, verb: str, lines: list[str], given: dict[str, Any]) -> list[str]:
    """With one thread and several: what the program writes."""
    options = [word for name, value in given.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    wanted = said(folder, *options, lines=lines)
    for threads in (1, 3):
        found = getattr(package.Model(threads), verb)(lines, **given)
        assert found.texts == [one["text"] for one in wanted]
        assert found.scores.tolist() == [np.float32(one["score"]) for one in wanted]
        assert found.reasons == [one["reason"] for one in wanted]
        assert found.tokens.tolist() == [one["tokens"] for one in wanted]
        assert found.truncated.tolist() == [one["truncated"] for one in wanted]
    return [one["text"] for one in wanted]


def test_translations(translator: tuple[ModuleType, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    package, folder = translator
    assert package.BEAMS == 2
    texts = [text for text in TEXTS if "\n" not in text] * 3
    best = compare(package, folder, "translate", texts, {})
    greedy = compare(package, folder, "translate", texts, {"beams": 1})
    assert best != greedy
    short = compare(package, folder, "translate", texts, {"max_length": 3})
    assert short != best
    drawn = compare(package, folder, "translate", texts, {"temperature": 2.0, "seed": 7})
    assert len(set(drawn)) > len(set(best))
    monkeypatch.setattr(sys.modules["wheel_marian._writing"], "_AT_ONCE", 1)  # more calls than otherwise
    assert compare(package, folder, "translate", texts, {"temperature": 2.0, "seed": 7}) == drawn
    assert compare(package, folder, "translate", texts, {}) == best


def test_summaries(site: Path, translator: tuple[ModuleType, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the same checkpoint, which is asked for them."""
    out = translator[1].with_name("wheel_summaries")
    request = pipeline.Request(out.parent / "checkpoint", out, recipe="w8a8", beams=2, task="summarize")
    once(out.parent / "summaries", "wheel", lambda: pipeline.generate(request, lambda _: None))
    package = imported(out, site, monkeypatch)
    texts = [text for text in TEXTS if "\n" not in text]
    assert compare(package, out, "summarize", texts, {}) == translator[0].Model().translate(texts).texts


def test_stories(teller: tuple[ModuleType, Path]) -> None:
    package, folder = teller
    recorded = json.loads((GENERATION / "gpt2" / "texts" / "texts.json").read_text(encoding="utf-8"))
    prompts = [text["prompt"] for text in recorded]
    best = compare(package, folder, "generate", prompts, {})
    for given in ({"top_k": 3}, {"top_p": 0.5, "seed": 2}, {"seed": 1}, {"temperature": 0.5, "top_k": 5}):
        assert compare(package, folder, "generate", prompts, given) != best
    assert compare(package, folder, "generate", prompts, {"temperature": 0}) == best
    model = package.Model(2)
    assert model.generate(Chunked(Strings(prompts[:2]), Strings(prompts[2:], b"U"))).texts == best
    assert model.generate(prompts, top_k=2**32 - 1, top_p=1, seed=0).texts == model.generate(prompts, seed=0).texts
    assert model.generate(prompts, seed=2**64 - 1).texts != model.generate(prompts, seed=0).texts
    nothing = model.generate([])
    assert (nothing.texts, nothing.reasons, nothing.scores.shape, nothing.truncated.dtype) == ([], [], (0,), bool)
    for wrong, words in (
        ({"max_length": package.MAX_TARGET + 1}, "max_length: "),
        ({"beams": 2}, "beams: 2 is not a number from 0 to 1"),
        ({"seed": 2**64}, "seed: 18446744073709551616 is not a number from 0 to 18446744073709551615"),
        ({"seed": -1}, "seed: -1 "),
        ({"top_k": -1}, "top_k: -1 is not a number from 0 to 4294967295"),
        ({"top_k": 2**32}, "top_k: 4294967296 "),
        ({"top_p": 0}, "top_p: 0 "),
        ({"top_p": 1.5}, "top_p: 1.5 is not a number from .* to 1"),
        ({"temperature": -0.5}, "temperature: -0.5 is not a number from 0 to 1024"),
        ({"temperature": 1025}, "temperature: 1025 "),
        ({"temperature": float("nan")}, "temperature: nan "),
    ):
        with pytest.raises(ValueError, match=words):
            model.generate("a", **wrong)
    with pytest.raises(RuntimeError, match=r"wheel_gpt2: .*temperature"):
        model.generate("a", temperature=1e-9)
    with pytest.raises(TypeError, match="not str or bytes"):
        model.generate([1])


def test_nothing_is_written_without_a_call(teller: tuple[ModuleType, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of no texts: the library may be at work for another thread."""
    model = teller[0].Model()
    monkeypatch.setattr(type(model._session), "call", lambda *_: pytest.fail("the library was called"))
    for none in ([], iter(()), Chunked(), Chunked(Strings([]))):
        nothing = model.generate(none)
        assert (nothing.texts, nothing.reasons) == ([], [])
        assert [array.dtype for array in (nothing.scores, nothing.tokens, nothing.truncated)] == [
            np.float32, np.int32, np.bool_
        ]  # fmt: skip


def test_what_is_searched_for_is_not_drawn(translator: tuple[ModuleType, Path]) -> None:
    with pytest.raises(ValueError, match="beams: tokens that are drawn"):
        translator[0].Model().translate("a", beams=2, seed=1)


def test_calls_in_parts(
    answering: tuple[ModuleType, Path], teller: tuple[ModuleType, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many texts are several calls, so that Ctrl-C is seen between them; the answers are those of one call."""
    questions, contexts = ([f"{word} {i}" for i in range(90)] for word in ("who saw the dog", "the cat saw a dog"))
    prompts = ["the cat", "a dog sat", "x"] * 30
    given = {"max_length": 5, "temperature": 1.5, "seed": 3}

    def answers(threads: int) -> list[Any]:
        written = teller[0].Model(threads).generate(prompts, **given)
        return [answering[0].Model(threads).answer(questions, contexts, top=2), written.texts, written.scores.tolist()]

    calls: list[int] = []
    for package in (answering[0], teller[0]):
        session = sys.modules[f"{package.__name__}._session"].Session
        own = session.call

        def call(self: Any, first: Any, second: Any, begin: int, count: int, out: Any, own: Any = own) -> None:
            calls.append(count)
            own(self, first, second, begin, count, out)

        monkeypatch.setattr(session, "call", call)
    parts = answers(1)
    assert calls == [32, 32, 26] * 2
    assert answers(2) == parts
    assert calls[6:] == [64, 26] * 2
    for package, module in ((answering[0], "_answers"), (teller[0], "_writing")):
        monkeypatch.setattr(sys.modules[f"{package.__name__}.{module}"], "_AT_ONCE", 1000)
    assert answers(1) == parts
    assert calls[10:] == [90, 90]


def test_texts_are_read_before_a_turn(answering: tuple[ModuleType, Path], teller: tuple[ModuleType, Path]) -> None:
    """What makes them may wait for another thread, or ask the same model."""
    for (package, _), verb, arguments in ((answering, "answer", 2), (teller, "generate", 1)):
        model = package.Model()

        def texts(model: Any = model) -> Iterator[str]:
            assert not model._session._lock.locked()
            yield "a dog sat"

        found = getattr(model, verb)(*(texts() for _ in range(arguments)))
        assert found is not None


@pytest.mark.sweep
@pytest.mark.minutes(2)
@pytest.mark.parametrize("kind", ["answering", "translator"])
def test_built_by_cmake(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """The same, and the C library is all that the model's needs."""
    package, folder = request.getfixturevalue(kind)
    shutil.copytree(folder, tmp_path / folder.name, ignore=shutil.ignore_patterns("build"))
    done = etch("wheel", tmp_path / folder.name, "--out", tmp_path, timeout=900)
    assert done.code == 0, done.err
    [path] = tmp_path.glob("*.whl")
    zipfile.ZipFile(path).extractall(tmp_path / "site")
    call = "answer(['the dog?'], ['a dog sat'])" if kind == "answering" else "translate(['ab']).texts"
    program = f"import {package.__name__} as package; print(package.Model(2).{call})"
    environment = {"PYTHONPATH": str(tmp_path / "site")}
    said = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert said.stdout == f"{eval(f'package.Model().{call}')}\n"
    library = next((tmp_path / "site").glob("*/*.so"))
    told = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    needed = {line.rpartition("[")[2].rstrip("]") for line in told.splitlines() if "(NEEDED)" in line}
    assert all(name.startswith(("libc.", "libm.", "ld-linux")) for name in needed), needed
