# SPDX-License-Identifier: Apache-2.0
"""Generative models: evaluated on a table, calibrated, smoothed, and against a budget."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_bart import folder as bart
from tiny_checkpoint import write_tiny_checkpoint

from codegen import cli, evaluate, pipeline
from codegen.budget.limits import ALLOWANCES, Allowance, Size
from codegen.budget.space import Form, Space
from codegen.calibration.calibrate import calibrate
from codegen.calibration.smooth import smooth
from codegen.emulate.generation import Generation
from codegen.files.table_file import Columns
from codegen.ir.program import LinearWeights
from codegen.ir.search import Sampling
from codegen.library_tokenizer.spelled import Speller
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.oracle.interpret import Interpreter
from codegen.pack.tables import table_bytes
from codegen.quantize import choose_recipe
from codegen.quantize.bits import places_of
from codegen.render.model import Model
from codegen.report import evaluation_report, memory_report
from codegen.request import Reading
from codegen.targets import TARGETS

TALES = Path(__file__).parents[1] / "generation" / "gpt2" / "texts"
LLAMA = TALES.parents[1] / "llama" / "texts"
_KEYS = {"beams": "beams", "target": "max_target", "source": "max_tokens"}
PROMPTS = ["The cat sat", "", "a b c", "0 1 2 3 4 5 6 7", "Caf\u00e9 \u6771", "xyz", "one two", "Zz"]


def swept(*values: object) -> Any:
    """A case of the sweep."""
    return pytest.param(*values, marks=pytest.mark.sweep)


def written(folder: Path, recipe: str, texts: list[str], beams: int | None = None) -> list[str]:
    """One after the other."""
    loaded = pipeline.load(folder, Reading(beams=beams))
    program = pipeline.lower(loaded, recipe, None)
    assert loaded.target is not None and program.target_rules is not None
    tokenizer, speller = text_tokenizer(loaded.tokenizer, program.max_tokens), Speller(loaded.target)
    found = []
    for text in texts:
        ids = tokenizer.encode(text).ids
        read = ids if program.target_rules.begin else list(program.target_rules.read_first(ids))
        best = Generation(program, read, [0] * len(read)).written()[0]
        found.append(speller.text(best.tokens, () if program.target_rules.begin else read))
    return found


@pytest.mark.parametrize(("folder", "beams"), [(TALES, 1), swept(LLAMA, 1), swept(TALES, 2)])
def test_scores_are_those_of_what_is_written(folder: Path, beams: int, tmp_path: Path) -> None:
    texts = [text for text in PROMPTS if text]
    expected = written(folder, "w8a8", texts, beams)
    table = tmp_path / "rows.jsonl"
    wanted = ["other", *expected[1:]]
    rows = [
        f'{{"label": {json.dumps(one)}, "text": {json.dumps(text)}}}\n' for one, text in zip(wanted, texts, strict=True)
    ]
    table.write_text("".join(rows), encoding="utf-8")
    loaded = pipeline.load(folder, Reading(beams=beams))
    program = pipeline.lower(loaded, "w8a8", None)
    for measure in (None, "exact", "bleu", "chrf"):
        read = evaluate.read_rows(table, Columns("label"), program.task, 100, measure=measure)
        score = evaluate.score(program, loaded.tokenizer, read, loaded.target)
        assert score.answers.tolist() == expected
        assert score.measure == {"bleu": "BLEU", "chrf": "chrF"}.get(measure or "", "exact match")
        assert len(score.others) == 2
    assert evaluate.score(program, loaded.tokenizer, read, loaded.target).value > 50  # chrF
    exact = evaluate.read_rows(table, Columns("label"), program.task, 100)
    assert evaluate.score(program, loaded.tokenizer, exact, loaded.target).value == pytest.approx(600 / 7)


def test_a_model_that_draws_is_judged_by_its_best_tokens_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("".join(f'"{text}","{text}"\n' for text in PROMPTS[2:5]), encoding="utf-8")
    loaded = pipeline.load(TALES)
    program = pipeline.lower(loaded, "w8a8", None)
    assert program.target_rules is not None
    rows = evaluate.read_rows(tmp_path / "rows.csv", Columns("1"), program.task, 3)
    draws = replace(program, target_rules=replace(program.target_rules, sampling=Sampling()))
    scores = [evaluate.score(each, loaded.tokenizer, rows, loaded.target) for each in (program, draws)]
    assert scores[0].answers.tolist() == scores[1].answers.tolist()
    said = (
        "  of the best tokens, which the program writes at --temperature 0: the folder asks for drawn ones (do_sample)"
    )
    assert [said in evaluation_report(rows, score, {}) for score in scores] == [False, True]


@pytest.mark.parametrize("made", ["bart", swept("gpt2")])
def test_calibration_lowers_the_error(made: str, tmp_path: Path) -> None:
    folder = bart(tmp_path / "model") if made == "bart" else TALES
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(PROMPTS * 4), encoding="utf-8")
    loaded = pipeline.load(folder)
    graph = pipeline.to_graph(loaded, None)
    program = pipeline.lower(loaded, "w4a8", None)
    found = calibrate(program, graph, loaded.tokenizer, texts, Interpreter(graph))
    assert re.match(r"calibration  28 texts, [\d,]+ tokens, [\d,]+ written", found.lines[0])
    errors = [re.findall(r"([\d.]+) %", line) for line in found.lines if line.endswith("%")]
    places = {place for place, _, weights in places_of(program) if isinstance(weights, LinearWeights)}
    assert len(errors) == len(places) > 4
    assert sum(float(calibrated) for _, calibrated in errors) < sum(float(nearest) for nearest, _ in errors)
    assert "tokens changed" in found.lines[-1]
    again = calibrate(program, graph, loaded.tokenizer, texts)
    assert again.sha256 == found.sha256
    assert again.lines == found.lines[:-2]


def test_smoothing_sees_what_is_written(tmp_path: Path) -> None:
    """So that norms of the decoder have factors, too."""
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(PROMPTS), encoding="utf-8")
    loaded = pipeline.load(bart(tmp_path / "model"))
    found = smooth(pipeline.to_graph(loaded, None), loaded.tokenizer, choose_recipe("w8a8", 8, {}), texts)
    assert re.match(r"smoothing    7 texts, [\d,]+ tokens, [\d,]+ written", found.lines[0])
    assert any(line.startswith("  model.decoder.layers.") for line in found.lines)


@pytest.mark.parametrize("made", ["bart", swept("gpt2")])
def test_arenas_beside_each_other(made: str, tmp_path: Path) -> None:
    """What the report says of other beams and lengths is what they take, with next to no gap."""
    folder = bart(tmp_path / "model") if made == "bart" else TALES

    def model_of(beams: int, max_target: int, max_tokens: int) -> Model:
        loaded = pipeline.load(folder, Reading(beams=beams, max_target=max_target))
        graph = pipeline.to_graph(loaded, max_tokens)
        return pipeline.make_model("tiny", loaded, graph, choose_recipe("w8a8", 8, {}), "m-profile")

    whole = model_of(2, 16, 20)
    lines = "\n".join(memory_report(whole))
    assert f"arena        {whole.plan.arena_bytes:,} bytes" in lines
    others = {"beams": (1, 2, 4, 8), "target": (4, 8), "source": (5, 10)}
    for name, sizes in others.items():
        models = [model_of(**({"beams": 2, "max_target": 16, "max_tokens": 20} | {_KEYS[name]: n})) for n in sizes]
        assert all(model.plan.regions[0].gap <= 5 for model in models)
        said = ", ".join(f"{n}: {model.plan.arena_bytes:,}" for n, model in zip(sizes, models, strict=True))
        assert re.search(rf"^  by {name} +{said}$", lines, re.MULTILINE), (name, said, lines)


def test_an_arena_beside_may_be_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of 8 beams is none of this model's: what it is generated with fits."""
    loaded = pipeline.load(bart(tmp_path / "model"), Reading(beams=1))
    model = pipeline.make_model("tiny", loaded, pipeline.to_graph(loaded, None), choose_recipe("w8a8"), "m-profile")
    sizes = re.findall(r"\d: ([\d,]*\d)", next(line for line in memory_report(model) if line.startswith("  by beams")))
    assert len(sizes) == 4
    monkeypatch.setattr("codegen.memory.plan.MAX_ARENA_BYTES", int(sizes[-1].replace(",", "")))
    lines = memory_report(model)
    assert f"  by beams   1: {sizes[0]}, 2: {sizes[1]}, 4: {sizes[2]}, 8: too large" in lines


@pytest.mark.parametrize("target", ["m-profile", swept("host")])
@pytest.mark.parametrize("made", ["bart", swept("gpt2"), swept("llama")])
def test_sizes_are_those_of_the_generated_model(made: str, target: str, tmp_path: Path) -> None:
    folder = bart(tmp_path / "model") if made == "bart" else {"gpt2": TALES, "llama": LLAMA}[made]
    loaded = pipeline.load(folder)
    graph = pipeline.to_graph(loaded, None)
    space = Space(loaded, graph, TARGETS[target], Allowance(1000, 100), None)
    for bits, four in ((8, ()), (4, space.linears[::2]), (8, space.linears)):
        form = Form(graph.max_tokens, None, bits, frozenset(four))
        recipe = choose_recipe("w8a8", bits, space.bits(form))
        model = pipeline.make_model("tiny", loaded, graph, recipe, target)
        stack = model.stack_budget
        tables = table_bytes(model.tables, model.target)
        assert space.size(form) == Size(tables + 1000, model.plan.arena_bytes + stack + 100, stack), form


def test_a_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What it writes is what the options that it prints give without a search."""
    monkeypatch.setitem(ALLOWANCES, "m-profile", Allowance(code=1000, static=100))
    folder = bart(tmp_path / "model")
    words = ["abba", "baa", "ab", "b", "aab", "bab"]
    table = tmp_path / "rows.tsv"
    rows = zip(written(folder, "w8a8", words), words, strict=True)
    table.write_text("".join(f"{text}\t{word}\n" for text, word in rows), encoding="utf-8")
    loaded = pipeline.load(folder)
    space = Space(loaded, pipeline.to_graph(loaded, None), TARGETS["m-profile"], Allowance(1000, 100), None)
    whole = space.size(space.whole).flash
    least = space.size(Form(space.tokens, None, 4, frozenset(space.linears))).flash
    common = ["generate", str(folder), "--name", "tiny", "--target", "m-profile", "--out"]
    limits = ["--max-flash", str((whole + least) // 2), "--evaluate", str(table), "--measure", "chrf"]
    assert cli.main([*common, str(tmp_path / "found"), *limits]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^chosen       chrF [\d.]+, flash [\d,]+ bytes", printed, re.MULTILINE)
    assert re.search(
        r"^evaluation   chrF [\d.]+, exact match [\d.]+ %, BLEU [\d.]+ on all 6 rows", printed, re.MULTILINE
    )
    same = re.search(r"^  the same   (.+)$", printed, re.MULTILINE)
    assert same
    assert cli.main([*common, str(tmp_path / "same"), *same[1].split()]) == 0
    for path in (tmp_path / "found").iterdir():
        assert path.read_bytes() == (tmp_path / "same" / path.name).read_bytes(), path.name
    capsys.readouterr()
    assert cli.main([*common, str(tmp_path / "none"), *limits, "--min-tokens", "4"]) == 2
    assert "--min-tokens: generative models do without so far" in capsys.readouterr().err


def test_a_measure_that_there_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_tiny_checkpoint(tmp_path / "in")
    (tmp_path / "rows.csv").write_text("0,the cat\n1,sat\n")
    common = ["generate", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    assert cli.main([*common, "--evaluate", str(tmp_path / "rows.csv"), "--measure", "bleu"]) == 2
    assert "--measure bleu: single_label has accuracy" in capsys.readouterr().err
    assert cli.main([*common, "--measure", "bleu"]) == 2
    assert "--measure needs --evaluate" in capsys.readouterr().err
