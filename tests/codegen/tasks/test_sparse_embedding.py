# SPDX-License-Identifier: Apache-2.0
"""Weights of words: what the recorded SparseEncoder folders mean, which are read, how answers are judged, what is
refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder, variants
from recorded_changes import Change, assert_refused, changed, configure, rename
from recorded_outputs import RECIPES, of_the_graph, of_the_program, of_the_weights, reported_task
from rounded_weights import RoundedWeights
from tiny_checkpoint import write_json

from codegen import evaluate, pipeline
from codegen.errors import EtchError
from codegen.files.table_file import Columns
from codegen.head_folders import HeadFolder
from codegen.ir.check_supported import check_supported
from codegen.ir.graph import Graph, WordWeights
from codegen.request import Prune, Reading
from codegen.sqlite.extension import make_extension
from codegen.tasks.sparse_embedding import SparseEmbedding
from codegen.web.site import make_site
from codegen.wheel.wheel import make_wheel

VARIANTS = variants("sparse")
MODULES, POOLING = "modules.json", "1_SpladePooling/config.json"
TRANSFORMER, SETTINGS = "sentence_bert_config.json", "config_sentence_transformers.json"
MODELS = "sentence_transformers.models."
OLD = "sentence_transformers.sparse_encoder.models."


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_graph_means_what_the_library_computed(variant: str) -> None:
    texts = list(of_the_graph(variant))
    for output, recorded in texts:
        assert output.shape == recorded.shape
        assert np.abs(output - recorded).max() < 1e-12 * max(1, recorded.max())
    assert any(0 < np.count_nonzero(output) < output.size for output, _ in texts)


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_program_computes_it(variant: str, recipe: str) -> None:
    found, recorded = zip(*of_the_program(variant, recipe), strict=True)
    assert all((output >= 0).all() for output in found)
    if recipe == "fp32":
        assert all(np.abs(f - r).max() < 1e-5 * max(1, r.max()) for f, r in zip(found, recorded, strict=True))
        return
    meant = of_the_weights(variant, recipe)
    assert max(np.abs(f - m).max() for f, m in zip(found, meant, strict=True)) < RoundedWeights.bound(meant)


def graph_of(path: Path, task: str | None = None) -> Graph:
    return pipeline.to_graph(pipeline.load(path, Reading(task=task)), None)


def pooled(graph: Graph) -> tuple[str, bool]:
    (op,) = (node for node in graph.body if isinstance(node, WordWeights))
    return op.pooling, op.twice


def set_keys(file: str, **values: Any) -> Change:
    """Sets keys of a JSON file; None removes one."""

    def change(path: Path) -> None:
        found = json.loads((path / file).read_text()) if (path / file).exists() else {}
        write_json(path / file, {key: value for key, value in (found | values).items() if value is not None})

    return change


def modules(*types: str) -> Change:
    """modules.json with these types."""
    paths = ("", "1_SpladePooling", "2")
    items = [{"idx": i, "name": str(i), "path": paths[i], "type": name} for i, name in enumerate(types)]
    return lambda path: write_json(path / MODULES, items)


def without(file: str) -> Change:
    return lambda path: (path / file).unlink()


# --- folders


def test_the_report() -> None:
    assert reported_task("sparse/bert") == (
        "sparse embedding, weights of 64 entries of the vocabulary: max of log(1 + relu)"
    )
    assert reported_task("sparse/modernbert").endswith("sum of log(1 + log(1 + relu))")


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_folder_says_how_weights_are_pooled(variant: str) -> None:
    (pooling,) = folder(variant).glob("*_SpladePooling/config.json")
    values = json.loads(pooling.read_text())
    graph = graph_of(folder(variant))
    assert isinstance(graph.task, SparseEmbedding)
    assert pooled(graph) == (values["pooling_strategy"], values["activation_function"] == "log1p_relu")
    assert pooled(graph_of(folder(variant), "sparse")) == pooled(graph)


@pytest.mark.parametrize(
    "change",
    [
        modules(OLD + "MLMTransformer", OLD + "SpladePooling"),
        modules(OLD + "MLMTransformer.MLMTransformer", OLD + "SpladePooling.SpladePooling"),
        set_keys(POOLING, embedding_dimension=64),
        set_keys(POOLING, word_embedding_dimension=64, pooling_strategy=None, activation_function=None, chunk_size=8),
        set_keys(SETTINGS, model_type=None, similarity_fn_name="dot"),
        without(TRANSFORMER),
    ],
)
def test_other_forms_of_a_folder(change: Change, tmp_path: Path) -> None:
    graph = graph_of(changed("sparse/bert", change, tmp_path))
    assert graph.heads == graph_of(folder("sparse/bert")).heads
    assert pooled(graph) == ("max", False)


def test_a_plain_masked_language_model_by_the_option() -> None:
    graph = graph_of(folder("masks/electra"), "sparse")
    assert pooled(graph) == ("max", False)
    assert isinstance(graph.task, SparseEmbedding)
    assert graph.task.width == graph.vocabulary


def test_a_model_needs_no_mask(tmp_path: Path) -> None:
    path = changed("sparse/bert", _without_mask, tmp_path)
    assert isinstance(graph_of(path).task, SparseEmbedding)


def _without_mask(path: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        text = (path / name).read_text(encoding="utf-8")
        (path / name).write_text(text.replace("[MASK]", "[M]"), encoding="utf-8")


CHANGES: list[tuple[str, Change, str, str]] = [
    ("sparse/bert", rename("cls.predictions.bias", "cls.predictions.b"), "missing-tensor", "cls.predictions.bias"),
    ("sparse/bert", configure(architectures=["BertModel"]), "architecture-conflict", "config.json says BertModel"),
    ("sparse/bert", configure(architectures=None), "architecture-conflict", "config.json says no class"),
    ("sparse/bert", without(POOLING), "sentence-file-missing", "SpladePooling"),
    ("sparse/bert", set_keys(POOLING, pooling_strategy="mean"), "sentence-pooling-not-supported", "'mean'"),
    ("sparse/bert", set_keys(POOLING, pooling_strategy=["max"]), "sentence-pooling-not-supported", "a list"),
    ("sparse/bert", set_keys(POOLING, activation_function="gelu"), "sentence-setting", "'gelu'"),
    ("sparse/bert", set_keys(POOLING, activation_function=["relu"]), "sentence-setting", "a list"),
    ("sparse/bert", set_keys(POOLING, embedding_dimension=20), "sentence-width", "64 (vocab_size), got 20"),
    ("sparse/bert", set_keys(POOLING, temperature=2), "sentence-setting", "'temperature' is not known"),
    ("sparse/bert", set_keys(SETTINGS, max_active_dims=8), "sentence-setting", "'max_active_dims': 8"),
    ("sparse/bert", set_keys(SETTINGS, model_type="SentenceTransformer"), "sentence-setting", "'model_type'"),
    ("sparse/bert", set_keys(TRANSFORMER, transformer_task="feature-extraction"), "sentence-setting", "feature-ex"),
    ("sparse/roberta", set_keys(TRANSFORMER, transformer_task=None), "sentence-setting", "must be 'fill-mask'"),
    ("sparse/roberta", without(TRANSFORMER), "sentence-setting", "must be 'fill-mask'"),
    ("sparse/roberta", set_keys(TRANSFORMER, module_output_name="logits"), "sentence-setting", "module_output_name"),
    ("sparse/roberta", set_keys(TRANSFORMER, shift=1), "sentence-setting", "'shift' is not known"),
    ("sparse/bert", modules(OLD + "MLMTransformer"), "sentence-modules-order", "Transformer, SpladePooling"),
    ("sparse/bert", modules(OLD + "SpladePooling", OLD + "MLMTransformer"), "sentence-path", "plain name"),
    (
        "sparse/bert",
        modules(OLD + "MLMTransformer", OLD + "SpladePooling", f"{MODELS}Normalize"),
        "sentence-modules-order",
        "Normalize",
    ),
    ("sparse/bert", modules(f"{MODELS}Router"), "sentence-file-missing", "Router"),
    ("sparse/bert", modules(f"{MODELS}Transformer", f"{MODELS}Router"), "sentence-modules-order", "no other module"),
    ("sparse/bert", modules(OLD + "SparseStaticEmbedding"), "sentence-module-not-supported", "SparseStaticEmbedding"),
    ("sparse/bert", modules(OLD + "CSRSparsity"), "sentence-module-not-supported", "'CSRSparsity'"),
]


@pytest.mark.parametrize(("variant", "change", "code", "words"), CHANGES)
def test_refusals(variant: str, change: Change, code: str, words: str, tmp_path: Path) -> None:
    assert_refused(variant, change, code, words, tmp_path)


@pytest.mark.parametrize(
    ("variant", "code", "words"),
    [
        ("bert/no_pooler", "architecture-conflict", "config.json says BertModel"),
        ("bert/tanh", "architecture-conflict", "config.json says BertForSequenceClassification"),
        ("tags/bert", "architecture-conflict", "BertForTokenClassification"),
        ("gpt2/lm", "architecture-conflict", "GPT2"),
    ],
)
def test_the_option_is_for_masked_language_models(variant: str, code: str, words: str) -> None:
    path = folder(variant)
    if not path.exists():
        path = folder(variants(variant.partition("/")[0])[0])
    with pytest.raises(EtchError) as caught:
        graph_of(path, "sparse")
    assert caught.value.code == code
    assert words in str(caught.value)


def test_a_folder_of_an_embedding_is_none_of_weights(tmp_path: Path) -> None:
    path = changed("sparse/bert", modules(*(f"{MODELS}{n}" for n in ("Transformer", "Pooling"))), tmp_path)
    shutil.copy(folder("bert/no_pooler") / "1_Pooling" / "config.json", path / POOLING)
    set_keys(SETTINGS, model_type=None)(path)
    with pytest.raises(EtchError) as caught:
        graph_of(path, "sparse")
    assert (caught.value.code, caught.value.file) == ("architecture-conflict", "modules.json")


# --- what goes with it


def test_it_is_no_head_beside_others() -> None:
    heads = (HeadFolder("words", folder("masks/bert")), HeadFolder("weights", folder("sparse/bert")))
    checkpoint = pipeline.load(folder("masks/bert"), Reading(heads=heads[:1], task="sparse"))
    with pytest.raises(EtchError, match="--task sparse") as caught:
        pipeline.to_graph(checkpoint, None)
    assert caught.value.code == "option-conflict"
    with pytest.raises(EtchError, match="head 'weights'") as caught:
        check_supported(graph_of_heads(folder("sparse/bert"), HeadFolder("weights", folder("sparse/bert"))))
    assert caught.value.code == "head-not-supported"


def graph_of_heads(path: Path, head: HeadFolder) -> Graph:
    return pipeline.to_graph(pipeline.load(path, Reading(heads=(head, HeadFolder("other", head.folder)))), None)


def test_what_is_not_there_for_weights(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("the cat\n" * 9)
    for options, code in (({"gpu": True}, None), ({"prune": Prune(tmp_path / "corpus.txt", 1)}, "vocabulary-tied")):
        request = pipeline.Request(folder("sparse/bert"), tmp_path / "out", **options)
        with pytest.raises(EtchError) as caught:
            pipeline.generate(request, lambda _: None)
        assert caught.value.stage == "gpu" if code is None else caught.value.code == code
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("make", "stage"), [(make_site, "web"), (make_wheel, "wheel"), (make_extension, "sqlite")])
def test_other_places_refuse_it_by_name(make: Callable[..., object], stage: str, tmp_path: Path) -> None:
    pipeline.generate(pipeline.Request(folder("sparse/bert"), tmp_path / "model"), lambda _: None)
    with pytest.raises(EtchError, match="this model's task is embed_sparse") as caught:
        make(tmp_path / "model", tmp_path / "out", lambda _: None)
    assert (caught.value.code, caught.value.stage) == ("task-not-supported", stage)


def test_a_table_is_judged_by_dot_products(tmp_path: Path) -> None:
    checkpoint = pipeline.load(folder("sparse/bert"))
    program = pipeline.lower(checkpoint, "w8a8", None)
    path = tmp_path / "rows.tsv"
    pairs = [("the cat", "a cat"), ("the price of oil", "a cat"), ("dogs", "Berlin is up"), ("a", "what")]
    path.write_text("".join(f"{i}\t{first}\t{second}\n" for i, (first, second) in enumerate(pairs)))
    rows = evaluate.read_rows(path, Columns(), program.task, 10)
    texts = evaluate.encoded(program, checkpoint.tokenizer, rows)
    outputs = [np.asarray(row, np.float64) for row in evaluate.emulated(program, texts)]
    products = [float(a @ b) for a, b in zip(outputs[::2], outputs[1::2], strict=True)]
    ranks = np.argsort(np.argsort(products))
    meant = float(np.corrcoef(ranks, np.arange(len(pairs)))[0, 1])
    assert str(evaluate.score(program, checkpoint.tokenizer, rows)) == f"{meant:.4f}"
    path.write_text("1\tone text only\n")
    with pytest.raises(EtchError):
        evaluate.score(program, checkpoint.tokenizer, evaluate.read_rows(path, Columns(), program.task, 10))
