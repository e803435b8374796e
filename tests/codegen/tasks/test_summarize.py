# SPDX-License-Identifier: Apache-2.0
"""Models that are asked for summaries: what config.json says of that task counts, its prefix is read before every text,
and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recorded.outputs import folder as recorded_folder
from test_decoders import RECORDED, folder

from codegen import cli, pipeline
from codegen.asked import TASKS
from codegen.asked_task import ASKED, asked_by
from codegen.emulate.generation import Generation
from codegen.errors import EtchError
from codegen.evidence.same_options import same_options
from codegen.ir.search import Restrictions, Search
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.lower import lower
from codegen.quantize import RECIPES
from codegen.request import Reading

SUMMARIES: dict[str, Any] = json.loads((RECORDED / "summaries.json").read_text(encoding="utf-8"))
PREFIX = "of: "


def asked(out: Path, family: str, **params: Any) -> Path:
    """A recorded folder that says so of summaries."""
    return folder(out, family, task_specific_params={"summarization": params, "translation_en_to_de": {"prefix": 7}})


@pytest.mark.parametrize("variant", SUMMARIES)
def test_what_the_library_writes(variant: str, tmp_path: Path) -> None:
    """Tokens and scores of a search as the task's settings ask for it, read behind its prefix."""
    made = asked(tmp_path / "model", variant.partition("/")[0], **SUMMARIES[variant]["params"])
    checkpoint = pipeline.load(made, Reading(task="summarize"))
    graph = pipeline.to_graph(checkpoint, None)
    program, tokenizer = lower(graph, RECIPES["fp32"]), text_tokenizer(checkpoint.tokenizer, graph.max_tokens)
    assert (graph.task.name, graph.task.verb) == ("summarization", "summarize")
    for prompt, ids, written, _, score in SUMMARIES[variant]["texts"]:
        assert tokenizer.encode(prompt).ids == ids, prompt
        best = Generation(program, ids, [0] * len(ids)).written()[0]
        assert list(best.tokens) == written, prompt
        assert float(best.score) == pytest.approx(score, abs=1e-4)


def test_what_counts(tmp_path: Path) -> None:
    """Of the task that is asked for only, over what generation_config.json says."""
    params = {"num_beams": 4, "length_penalty": 2.0, "early_stopping": True, "no_repeat_ngram_size": 3}
    made = asked(tmp_path / "model", "t5", prefix=PREFIX, max_new_tokens=9, min_length=6, colour="blue", **params)
    plain = pipeline.to_graph(pipeline.load(made), None)
    assert plain.target_rules is not None
    assert (plain.task.verb, plain.target_rules.search, plain.target_rules.max_tokens) == ("translate", Search(), 17)
    assert pipeline.load(made).tokenizer.prefix == ""
    loaded = pipeline.load(made, Reading(task="summarize"))
    rules = pipeline.to_graph(loaded, None).target_rules
    assert rules is not None
    assert rules.search == Search(4, 2.0, True)
    assert (rules.max_tokens, rules.least_tokens, rules.restrictions) == (9, 5, Restrictions(no_repeat=3))
    place = "config.json (task_specific_params.summarization)"
    counting = "early_stopping, length_penalty, max_new_tokens, min_length, no_repeat_ngram_size, num_beams"
    assert tuple(note for note in loaded.notes if place in note) == (
        f"{place}: '{PREFIX}' is read before every text",
        f"{place} counts for {counting}",
        f"{place}: not used: colour",
    )
    fewer = pipeline.load(made, Reading(task="summarize", beams=1, max_target=7))
    rules = pipeline.to_graph(fewer, None).target_rules
    assert rules is not None
    assert (rules.search.beams, rules.max_tokens) == (1, 7)


def test_a_folder_that_says_nothing(tmp_path: Path) -> None:
    """The same model under another name."""
    made = folder(tmp_path / "model", "mbart")
    own, loaded = pipeline.load(made), pipeline.load(made, Reading(task="summarize"))
    assert loaded.notes == own.notes
    assert pipeline.to_graph(loaded, None).target_rules == pipeline.to_graph(own, None).target_rules


def test_the_prefix_is_never_cut(tmp_path: Path) -> None:
    """Neither is it a reason for a text to have other tokens: white space, special tokens and marks that combine may be
    what it begins with."""
    made = asked(tmp_path / "model", "t5", prefix=PREFIX)
    own, prefixed = pipeline.load(made).tokenizer, pipeline.load(made, Reading(task="summarize")).tokenizer
    before = text_tokenizer(own, 64).encode(PREFIX, add_special_tokens=False).ids
    assert before
    odd = ("\u0301a", "\u2581a", "\u3000a")
    for text in ("", " ", "a", "  the  cat ", "</s>the", " <extra_id_0> a", *odd, "the " * 40):
        alone, whole = text_tokenizer(own, 64), text_tokenizer(own, 64 + len(before))
        expected = [*before, *alone.encode(text).ids]
        assert text_tokenizer(prefixed, 64 + len(before)).encode(text).ids == expected
        assert whole.encode(PREFIX + text).ids == expected


@pytest.mark.parametrize(
    ("params", "code", "words"),
    [
        ({"num_beams": 9}, "generation-not-supported", "num_beams"),
        ({"num_beams": 0}, "generation-value", "num_beams"),
        ({"num_beams": 2, "do_sample": True}, "generation-not-supported", "do_sample"),
        ({"encoder_no_repeat_ngram_size": 3}, "generation-not-supported", "encoder_no_repeat_ngram_size"),
        ({"max_new_tokens": "9"}, "config-type", "max_new_tokens"),
        ({"min_length": 40}, "generation-value", "min_length"),
        ({"prefix": 3}, "config-type", "prefix"),
        ({"prefix": "of:"}, "generation-not-supported", "the prefix 'of:'"),
        ({"prefix": "the cat and the hat "}, "tokenizer-template", "at most 8"),
    ],
)
def test_what_is_refused(params: dict[str, Any], code: str, words: str, tmp_path: Path) -> None:
    made = asked(tmp_path / "model", "t5", **params)
    out = tmp_path / "out"
    with pytest.raises(EtchError) as caught:
        pipeline.generate(pipeline.Request(made, out, task="summarize"), lambda _: None)
    assert (caught.value.code, words in str(caught.value)) == (code, True), str(caught.value)
    assert not out.exists()


@pytest.mark.parametrize("values", [3, {"summarization": []}])
def test_settings_that_are_no_objects(values: object, tmp_path: Path) -> None:
    made = folder(tmp_path / "model", "t5", task_specific_params=values)
    pipeline.load(made)
    with pytest.raises(EtchError, match="must be an object") as caught:
        pipeline.load(made, Reading(task="summarize"))
    assert caught.value.code == "config-type"


def test_a_refusal_names_both_files(tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        pipeline.load(asked(tmp_path / "model", "t5", num_beams=9), Reading(task="summarize"))
    assert caught.value.file == "generation_config.json, config.json (task_specific_params.summarization)"


def test_models_that_write_no_text_for_a_text(tmp_path: Path) -> None:
    for made in (folder(tmp_path / "gpt2", "gpt2"), recorded_folder("zero/bert")):
        with pytest.raises(EtchError, match="--task summarize") as caught:
            pipeline.to_graph(pipeline.load(made, Reading(task="summarize")), None)
        assert caught.value.code == "option-conflict"


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tuple(ASKED) == TASKS
    made, out = asked(tmp_path / "folder", "t5", num_beams=2, prefix=PREFIX), tmp_path / "model"
    assert cli.main(["generate", str(made), "--out", str(out), "--task", "summarize"]) == 0
    assert "summarization (2 beams), up to 17 tokens" in capsys.readouterr().out
    manifest = json.loads((out / "etch.json").read_text(encoding="utf-8"))
    assert manifest["task"] == "summarization"
    assert asked_by("summarization") == "summarize"
    again = tmp_path / "again"
    assert cli.main(["generate", str(made), "--out", str(again), *same_options(manifest, out)]) == 0
    for file in out.iterdir():
        assert (again / file.name).read_bytes() == file.read_bytes(), file.name
    header = (out / "model.hpp").read_text(encoding="utf-8")
    assert "Status summarize(Workspace& workspace, std::string_view text" in header
    assert "translat" not in header
    capsys.readouterr()
    assert cli.main(["inspect", str(made), "--task", "summarize", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["task"] == "summarization"
    for command in ("web", "sqlite"):
        assert cli.main([command, str(out), "--out", str(tmp_path / command)]) == 1
        assert "error[task-not-supported]" in capsys.readouterr().err
        assert not (tmp_path / command).exists()
