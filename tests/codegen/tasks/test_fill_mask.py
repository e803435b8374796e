# SPDX-License-Identifier: Apache-2.0
"""Masked language models: what the recorded checkpoints of every family mean, how their answers are judged, what is
refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder, variants
from recorded_changes import Change, assert_refused, configure, rename
from recorded_outputs import RECIPES, of_the_graph, of_the_program, reported_task

from codegen import evaluate, pipeline
from codegen.budget import Limits
from codegen.errors import EtchError
from codegen.files.table_file import Columns
from codegen.request import Evaluate, Prune
from codegen.tasks.fill_mask import MOST_CANDIDATES, FillMask
from codegen.web import site

VARIANTS = variants("masks")


def probabilities(output: np.ndarray) -> np.ndarray:
    return output[:, MOST_CANDIDATES:]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_graph_means_what_the_library_computed(variant: str) -> None:
    for output, recorded in of_the_graph(variant):
        expected = recorded.reshape(-1, 2 * MOST_CANDIDATES)
        assert output.shape == expected.shape
        assert np.abs(output - expected).max(initial=0) < 1e-12


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_program_computes_it(variant: str, recipe: str) -> None:
    bound = {"fp32": 1e-5, "w8a8": 0.1, "w4a8": 0.6}[recipe]
    for output, recorded in of_the_program(variant, recipe):
        expected = recorded.reshape(-1, 2 * MOST_CANDIDATES)
        assert output.shape == expected.shape
        assert np.abs(probabilities(output - expected)).max(initial=0) < bound
        if recipe == "fp32":
            assert np.array_equal(output[:, :3], expected[:, :3])
        assert (np.diff(probabilities(output), axis=1) <= 0).all()


def test_the_report() -> None:
    assert reported_task("masks/bert").startswith("the 16 most likely tokens for each [MASK]")


def test_a_table_is_judged_by_the_first_candidates(tmp_path: Path) -> None:
    checkpoint = pipeline.load(folder("masks/electra"))
    program = pipeline.lower(checkpoint, "w8a8", None)
    task = program.task
    assert isinstance(task, FillMask)
    path = tmp_path / "rows.tsv"
    path.write_text("the\tone [MASK] here\nthe;a\t[MASK] and [MASK]\n")
    rows = evaluate.read_rows(path, Columns(), task, 10)
    texts = evaluate.encoded(program, checkpoint.tokenizer, rows)
    masks = [mask for output in evaluate.emulated(program, texts) for mask in output]

    def named(mask: int, first: int) -> str:
        """One of five candidates that is a piece of the tokenizer and can be written in a table."""
        found = (task.pieces[int(i)] for i in masks[mask][first : first + 5])
        return next(piece for piece in found if ";" not in piece)

    for first, score, best in ((0, "100.00 %", "100.00 %"), (1, "100.00 %", "0.00 %"), (5, "0.00 %", "0.00 %")):
        values = named(0, first), f"{named(1, first)}; {named(2, first)}"
        lines = zip(values, ("one [MASK] here", "[MASK] and [MASK]"), strict=True)
        path.write_text("".join(f"{value}\t{text}\n" for value, text in lines))
        rows = evaluate.read_rows(path, Columns(), task, 10)
        found = evaluate.score(program, checkpoint.tokenizer, rows)
        assert (str(found), found.others) == (score, (f"top-1 accuracy {best}",))


def test_rows_refused(tmp_path: Path) -> None:
    task = pipeline.lower(pipeline.load(folder("masks/bert")), "w8a8", None).task
    (tmp_path / "rows.tsv").write_text("a;b\tthe [MASK]\n")
    with pytest.raises(EtchError, match="line 1: the text has 1 masks, the label 2 pieces"):
        evaluate.read_rows(tmp_path / "rows.tsv", Columns(), task, 10)


CHANGES: list[tuple[str, Change, str, str]] = [
    ("masks/bert", rename("cls.predictions.bias", "cls.predictions.b"), "missing-tensor", "cls.predictions.bias"),
    ("masks/bert", configure(tie_word_embeddings=False), "missing-tensor", "cls.predictions.decoder.weight"),
    ("masks/bert_untied", rename("cls.predictions.decoder.weight", "x.weight"), "missing-tensor", "decoder.weight"),
    ("masks/bert_untied", configure(tie_word_embeddings=True), "tied-tensors-differ", "decoder.weight"),
    ("masks/roberta", rename("lm_head.dense.weight", "lm_head.x.weight"), "missing-tensor", "lm_head.dense.weight"),
    ("masks/mpnet", configure(architectures=["MPNetForCausalLM"]), "architecture-not-supported", "MPNetForMaskedLM"),
    ("masks/distilbert", rename("vocab_layer_norm.weight", "y.weight"), "missing-tensor", "vocab_layer_norm"),
    ("masks/albert", configure(embedding_size=12), "wrong-shape", "word_embeddings"),
    ("masks/electra", configure(architectures=["ElectraForPreTraining"]), "architecture-not-supported", "Electra"),
    ("masks/deberta-v2", configure(legacy=False), "missing-tensor", "lm_predictions.lm_head.bias"),
    ("masks/deberta-v2_own", configure(legacy=True), "missing-tensor", "cls.predictions.bias"),
]


@pytest.mark.parametrize(("variant", "change", "code", "words"), CHANGES)
def test_refusals(variant: str, change: Change, code: str, words: str, tmp_path: Path) -> None:
    assert_refused(variant, change, code, words, tmp_path)


def test_what_is_not_there_for_masks(tmp_path: Path) -> None:
    (tmp_path / "rows.tsv").write_text("the\tone [MASK]\n")
    (tmp_path / "corpus.txt").write_text("the cat\n" * 9)
    evaluated = Evaluate(tmp_path / "rows.tsv")
    for variant, options, code in (
        ("bert", {"gpu": True}, None),
        ("bert", {"evaluate": evaluated, "limits": Limits(flash=1 << 30)}, "budget-not-supported"),
        ("bert", {"prune": Prune(tmp_path / "corpus.txt", 1)}, "vocabulary-tied"),
        ("bert_untied", {"prune": Prune(tmp_path / "corpus.txt", 1)}, "vocabulary-tied"),
    ):
        request = pipeline.Request(folder(f"masks/{variant}"), tmp_path / "out", **options)
        with pytest.raises(EtchError) as caught:
            pipeline.generate(request, lambda _: None)
        assert caught.value.stage == "gpu" if code is None else caught.value.code == code
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("variant", "mask"), [("masks/bert", "[MASK]"), ("masks/roberta", "<mask>")])
def test_a_page_begins_with_the_mask_of_the_model(
    variant: str, mask: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a module that is none."""
    (tmp_path / "module").write_bytes(b"\0asm")
    monkeypatch.setattr(site, "build_web", lambda *_: tmp_path / "module")
    model = tmp_path / "model"
    pipeline.generate(pipeline.Request(folder(variant), model), lambda _: None)
    site.make_site(model, tmp_path / "site", lambda _: None)
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert f'"The capital of France is {mask}."' in page
    assert page.count("[MASK]") + page.count("<mask>") == 1
    header = model / "model.hpp"
    header.write_text(header.read_text(encoding="utf-8").replace(mask, "</script>"), encoding="utf-8")
    with pytest.raises(EtchError, match="model-changed"):
        site.make_site(model, tmp_path / "other", lambda _: None)
    assert not (tmp_path / "other").exists()
