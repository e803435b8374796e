# SPDX-License-Identifier: Apache-2.0
"""The front-end of the textbook transformer with a decoder: one vocabulary or two, what it refuses. Beside it
lower/test_generation.py has what its models compute."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from codegen import pipeline
from codegen.errors import EtchError
from codegen.ir import graph as g
from codegen.ir.products import tied_tables

RECORDED = Path(__file__).resolve().parents[2] / "generation" / "transformer"
COURSE, PAPER, PRE = "course", "paper", "pre"
END = 2


def folder(out: Path, variant: str, **changes: Any) -> Path:
    """A recorded checkpoint with keys of its configuration changed; None removes one."""
    shutil.copytree(RECORDED / variant, out, ignore=shutil.ignore_patterns("recorded.json", "texts.json"))
    values = json.loads((out / "config.json").read_text(encoding="utf-8")) | changes
    kept = {key: value for key, value in values.items() if value is not None}
    (out / "config.json").write_text(json.dumps(kept), encoding="utf-8")
    return out


def graph_of(path: Path, max_tokens: int | None = None) -> g.Graph:
    return pipeline.to_graph(pipeline.load(path), max_tokens)


@pytest.mark.parametrize(("variant", "vocabularies"), [(COURSE, (63, 17)), (PAPER, (63, 63)), (PRE, (63, 17))])
def test_what_a_folder_says(variant: str, vocabularies: tuple[int, int], tmp_path: Path) -> None:
    graph = graph_of(folder(tmp_path / "model", variant))
    rules = graph.target_rules
    assert rules is not None
    assert (graph.vocabulary, rules.vocabulary) == vocabularies
    assert (graph.task.verb, graph.max_tokens, rules.max_tokens) == ("translate", 24, 23)
    assert (rules.begin, rules.ends, rules.forced_end, graph.notes) == ((1,), (END,), False, ())
    assert tied_tables(graph) == ({"word_embeddings"} if variant == PAPER else set())


def test_how_texts_are_written(tmp_path: Path) -> None:
    """By the same keys as of other families."""
    made = folder(tmp_path / "model", COURSE)
    (made / "generation_config.json").write_text(
        json.dumps({"decoder_start_token_id": 1, "eos_token_id": END, "num_beams": 3, "max_length": 9})
    )
    rules = graph_of(made).target_rules
    assert rules is not None
    assert (rules.search.beams, rules.max_tokens) == (3, 8)


def test_the_target_tokenizer_counts(tmp_path: Path) -> None:
    """Its file is a part of the checkpoint, and what is wrong with it is said of it."""
    made = folder(tmp_path / "model", COURSE)
    before = pipeline.load(made)
    assert before.target is not None and before.target.spec is not before.tokenizer
    file = made / "target" / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.add_special_tokens(["[MORE]"])
    tokenizer.save(str(file))
    with pytest.raises(EtchError) as caught:
        pipeline.load(made)
    assert (caught.value.code, caught.value.file) == ("token-id-out-of-range", "target/tokenizer.json")
    shutil.copyfile(RECORDED / COURSE / "target" / "tokenizer.json", file)
    file.write_text(file.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert pipeline.load(made).digest != before.digest


@pytest.mark.parametrize(
    ("variant", "changes", "code"),
    [
        (COURSE, {"architectures": ["TransformerEncoder"]}, "architecture-not-supported"),
        (COURSE, {"target_vocab_size": None}, "config-missing"),
        (COURSE, {"target_vocab_size": 16}, "token-id-out-of-range"),
        (COURSE, {"target_vocab_size": 18}, "wrong-shape"),
        (COURSE, {"vocab_size": 62}, "token-id-out-of-range"),
        (COURSE, {"tied": True}, "config-value"),
        (COURSE, {"tied": None}, "config-missing"),
        (COURSE, {"tied": "yes"}, "config-type"),
        (PAPER, {"tied": False}, "missing-tensor"),
        (PAPER, {"target_vocab_size": 17}, "tokenizer-missing"),
        (COURSE, {"num_decoder_layers": 1}, "unused-tensor"),
        (COURSE, {"num_encoder_layers": 3}, "missing-tensor"),
        (COURSE, {"num_heads": 3}, "heads-do-not-divide"),
        (COURSE, {"norm": "pre"}, "missing-tensor"),
        (PRE, {"norm": "post"}, "unused-tensor"),
        (PRE, {"norm": "none"}, "config-value"),
        (PRE, {"positions": "sinusoidal"}, "unused-tensor"),
        (COURSE, {"positions": "rotary"}, "config-value"),
        (PRE, {"bias": True}, "missing-tensor"),
        (COURSE, {"activation": "mish"}, "activation-not-supported"),
        (COURSE, {"decoder_start_token_id": 17}, "token-id-out-of-range"),
        (COURSE, {"decoder_start_token_id": None}, "config-missing"),
        (COURSE, {"eos_token_id": 17}, "token-id-out-of-range"),
        (COURSE, {"num_beams": 0}, "generation-value"),
        (COURSE, {"max_length": 26}, "max-tokens-out-of-range"),
    ],
)
def test_what_is_refused(variant: str, changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(folder(tmp_path / "model", variant, **changes))
    assert caught.value.code == code


def test_a_target_that_is_elsewhere(tmp_path: Path) -> None:
    made = folder(tmp_path / "model", COURSE)
    (made / "target").rename(tmp_path / "elsewhere")
    (made / "target").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EtchError) as caught:
        graph_of(made)
    assert (caught.value.code, caught.value.file) == ("not-a-folder", "target")
