# SPDX-License-Identifier: Apache-2.0
"""Models that search with beams, generated and built: every sequence that the emulator finds and its score, bit for
bit, on every kernel, with threads, in steps, with fewer beams and where there is little room."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from classify_program import ROOT
from model_build import build_program, build_test
from once import once
from sampling import sampled
from test_bart import folder
from test_generation_programs import ROOMY, SOURCE, bits, checkpoint, generate, graph, kernels, texts, written
from tokenizers import Tokenizer

from codegen import pipeline
from codegen.emulate.beams import Written
from codegen.emulate.generation import Generation
from codegen.errors import EtchError
from codegen.ir.search import Sampling, Search
from codegen.lower import lower
from codegen.quantize import RECIPES
from codegen.verification.verify import verify

__all__ = ["checkpoint"]  # a fixture

QUICK = [
    ("decoder only, restricted", "w8a8", "host", Search(3, 0.8)),
    ("decoder only, roomy", "w8a8", "host", Search(2)),
    ("encoder and decoder, roomy", "fp32", "host", Search(3)),
    ("encoder and decoder, many words, roomy", "w8a8", "host", Search(4)),
    ("gpt2/two_layers", "fp32", "m-profile", Search(3, -0.5, "never")),
    ("bart/ends", "w8a8", "host", Search(3)),
    ("lfm2/texts", "w8a8", "host", Search(4)),
]
EVEN = Sampling(9.0, 40, 0.99, seed=4)  # any token may come, the end as well
LONG = [
    ("encoder and decoder", "w8a8", "host", Search(4)),
    ("encoder and decoder, many words", "w4a8", "m-profile", Search(2, renormalize=True)),
    ("encoder and decoder, many words, restricted", "w8a8", "host", Search(3)),
    ("encoder and decoder, restricted", "fp32", "m-profile", Search(4, renormalize=True)),
    ("encoder and decoder, roomy, restricted", "w4a8", "m-profile", Search(8)),
    ("bart/two_layers", "w4a8", "m-profile", Search(8, 2.0, True)),
    ("bart/two_layers", "w8a8", "host", Search(5, 0.6, "never")),
    ("bart/uneven", "fp32", "host", Search(2)),
    ("decoder only", "w8a8", "m-profile", Search(4, 1.0, True)),
    ("encoder and decoder, one layer", "w4a8", "host", Search(6, 0.0, "never")),
    ("gpt2/narrow", "w8a8", "host", Search(7)),
    ("lfm2/own", "fp32", "m-profile", Search(5)),
    ("qwen3_5_text/own", "w8a8", "host", Search(4)),
    ("mamba2/own", "w8a8", "host", Search(3)),
    ("llama/tied", "fp32", "host", Search(4, 2.0, "never")),
    ("llama/wide_heads", "w8a8", "m-profile", Search(8)),
    ("marian/opus", "w8a8", "host", Search(6, 1.0, True)),
    ("led/texts", "w8a8", "host", Search(2, 0.8)),
    ("mbart/texts", "w8a8", "host", Search(3, 2.0)),
    ("transformer/paper", "w8a8", "host", Search(4)),
    ("t5/tied", "w8a8", "host", Search(4, 0.6, True)),
    ("t5/untied", "fp32", "m-profile", Search(3)),
    ("marian/settings", "fp32", "host", Search(4, 0.7, True, renormalize=True)),
]


@pytest.mark.parametrize(
    ("form", "recipe", "target", "search"),
    [*QUICK, *(pytest.param(*case, marks=pytest.mark.sweep) for case in sampled(LONG, 2, "models that search"))],
)
def test_the_emulators_beams(
    form: str, recipe: str, target: str, search: Search, checkpoint: Path, shared: Path, tmp_path: Path
) -> None:
    plain = graph(form)
    assert plain.target_rules is not None
    made = replace(plain, target_rules=replace(plain.target_rules, search=search, least_tokens=2))
    name = f"{form}_{recipe}_{target}_{search.beams}".replace(", ", "_").replace(" ", "_").replace("/", "_")
    folder = shared / "searchers" / name / "form"
    once(folder.parent / "made", repr(search), lambda: generate(made, recipe, target, checkpoint, folder))
    program = build_test(folder, SOURCE, tmp_path / "program", "-DETCH_MODEL_SEARCHES=1")
    most, lowered = plain.target_rules.max_tokens, lower(made, RECIPES[recipe])
    ids_of = texts(form)[::3]
    emulated = [Generation(lowered, ids, [0] * len(ids)) for ids in ids_of]
    asked = [(most, ids) for ids in ids_of]
    found = [text.beams() for text in emulated]
    expected = lines(found, ids_of, most)
    assert len(expected) == len(asked) * search.beams
    names = kernels(program)
    for kernel in names:
        assert written(program, kernel, 1, 0, asked) == expected, kernel
    last = names[-1]
    assert written(program, last, 3, 0, asked, beams=9) == expected
    for budget in (1, 1000, 1 << 40):
        assert written(program, last, 1, budget, asked) == expected, budget
        assert written(program, last, 3, budget, asked, by_token=True) == expected, budget
    assert written(program, last, 1, 0, [(3, ids) for ids in ids_of]) == lines(found, ids_of, 3)
    fewer = [text.beams(replace(search, beams=2)) for text in emulated]
    assert written(program, last, 1, 0, asked, beams=2) == lines(fewer, ids_of, most)
    for budget in (0, 1000):
        assert written(program, last, 1, budget, asked, together=True) == expected[:: search.beams]
    few = most // 2
    short = lines([Generation(lowered, ids, [0] * len(ids), few).beams() for ids in ids_of], ids_of, most)
    assert short != expected
    for budget in (0, 1000):
        assert written(program, last, 1, budget, asked, most=few) == short, budget
        assert written(program, last, 1, budget, asked, together=True, most=few) == short[:: search.beams]
    check_batches(program, names, form, most)
    for line, text in zip(written(program, last, 1, 0, asked, beams=1), emulated, strict=True):
        tokens, logits = text.greedy()
        assert line.split()[2:] == [bits(text.score(tokens, logits)), *map(str, tokens)]


def check_batches(program: Path, names: list[str], form: str, most: int) -> None:
    """Texts that share passes, more than there are slots and than fit together: each as it is alone."""
    several = [*texts(form), *texts(form)[::-1], *texts(form)]
    for capacity in (most, 2, 0):
        asked = [(capacity, ids) for ids in several]
        for sampling in (None, EVEN):
            few = written(program, names[0], 1, 0, asked, 1, sampling=sampling, most=3)
            for budget in (0, 1000):
                assert written(program, names[-1], 1, budget, asked, 1, False, sampling, True, 3) == few, budget
            alone = written(program, names[0], 1, 0, asked, 1, sampling=sampling)
            assert len(set(alone)) > 1
            if sampling is EVEN and capacity == most and form == f"encoder and decoder{ROOMY}":
                assert len({len(line.split()) for line in alone}) > 1  # some leave before the others
            for kernel in names:
                assert written(program, kernel, 1, 0, asked, 1, sampling=sampling, together=True) == alone, kernel
            assert written(program, kernel, 3, 0, asked, 1, sampling=sampling, together=True) == alone
            for budget in (1, 1000, 1 << 40):
                assert written(program, kernel, 1, budget, asked, 1, sampling=sampling, together=True) == alone, budget


def lines(found: Sequence[Sequence[Written]], ids_of: Sequence[Sequence[int]], most: int) -> list[str]:
    """What the program prints where there is room for so many tokens."""
    printed = []
    for sequences, ids in zip(found, ids_of, strict=True):
        for one in sequences:
            ended = 2 if len(one.tokens) > most else 0 if one.by_itself else 1
            printed.append(" ".join(map(str, (ended, len(ids), bits(one.score), *one.tokens[:most]))))
    return printed


def test_the_program(tmp_path: Path) -> None:
    """Fewer beams, several texts, and what it is refused."""
    checkpoint, out = folder(tmp_path / "model", num_beams=4, length_penalty=0.5), tmp_path / "speller"
    pipeline.generate(pipeline.Request(checkpoint, out, recipe="fp32"), lambda _: None)
    program = build_program(out)
    best, *others = program.well("--nbest", "4", "abba").lines
    (answer,) = program.well("--json", "--nbest", "4", "abba").objects
    scores = [one["score"] for one in answer["nbest"]]
    assert [f"{one['score']:.4f}\t{one['text']}" for one in answer["nbest"]] == [best, *others]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 4
    assert {key: answer[key] for key in ("text", "score", "reason")} == answer["nbest"][0]
    assert program.well("abba").lines == [best.split("\t")[1]]
    loaded = pipeline.load(checkpoint)
    made = lower(pipeline.to_graph(loaded, None), RECIPES["fp32"])
    ids = Tokenizer.from_str(loaded.tokenizer.json).encode("abba").ids
    (greedy,) = program.well("--json", "--beams", "1", "abba").objects
    text = Generation(made, ids, [0] * len(ids))
    assert made.target_rules is not None
    two = text.beams(replace(made.target_rules.search, beams=2))[0]
    (fewer,) = program.well("--json", "--beams", "2", "abba").objects
    assert fewer["score"] == pytest.approx(float(two.score), abs=1e-6)
    assert greedy["score"] == pytest.approx(float(text.score(*text.greedy())), abs=1e-6)
    several = b"abba\n\nb\nbab\naa\na\n"
    drawing = ("--temperature", "1.5", "--seed", "2")
    for options in (("--beams", "1"), ("--beams", "2"), drawing):
        together = program.well("--json", *options, stdin=several).out
        one_by_one = program.well("--json", *options, "abba", "", "b", "bab", "aa", "a").out
        assert program.well("--json", *options, "--threads", "2", stdin=several).out == together == one_by_one
    streamed = program.well("--stream", "--beams", "1", stdin=b"abba\n\nb\n").lines
    assert streamed == program.well("--beams", "1", stdin=b"abba\n\nb\n").lines
    assert program.well("--stream", "abba").lines == program.well("abba").lines
    for refused in (("--stream", "--json"), ("--stream", "--nbest", "2"), ("--stream", "--tokens")):
        program.refused(2, *refused, "abba")
    told: list[str] = []
    assert verify(out, checkpoint, None, told.append, lambda *_: program.path) == 0, told
    assert told[0].endswith(", 4 beams")
    for refused in (("--beams", "0"), ("--beams", "5"), ("--nbest", "5"), ("--beams", "2", "--nbest", "3")):
        program.refused(2, *refused, "abba")


@pytest.mark.parametrize("beams", [0, 9, -1])
def test_beams_that_there_are_none_of(beams: int, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        pipeline.generate(pipeline.Request(folder(tmp_path / "model"), tmp_path / "out", beams=beams), lambda _: None)
    assert (caught.value.code, caught.value.stage) == ("generation-value", "arguments")


def test_beams_of_another_model(checkpoint: Path, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        pipeline.generate(pipeline.Request(checkpoint, tmp_path / "out", beams=2), lambda _: None)
    assert caught.value.code == "option-conflict"


@pytest.mark.sweep
def test_a_trained_model(tmp_path: Path) -> None:
    """Words to phonemes by four beams, and their scores: the library's."""
    models = os.environ.get("ETCH_MODELS")
    if models is None:
        pytest.skip("ETCH_MODELS is not set")
    folder_of, out = Path(models) / "bart_g2p_us", tmp_path / "speller"
    pipeline.generate(pipeline.Request(folder_of, out, recipe="fp32", beams=4), lambda _: None)
    recorded = ROOT / "tests" / "codegen" / "generation" / "bart_g2p_us_beams.json"
    words = json.loads(recorded.read_text(encoding="utf-8"))
    characters = json.loads((folder_of / "config.json").read_text(encoding="utf-8"))["phoneme_chars"]
    answers = build_program(out).well("--json", stdin="".join(f"{word}\n" for word, *_ in words).encode()).objects
    for answer, (_, ids, target, score) in zip(answers, words, strict=True):
        assert (answer["tokens"], answer["text"]) == (len(ids), "".join(characters[i] for i in target if i > 3))
        assert answer["score"] == pytest.approx(score, abs=1e-4)
