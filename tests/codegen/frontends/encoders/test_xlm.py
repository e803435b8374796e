# SPDX-License-Identifier: Apache-2.0
"""The front-ends of XLM and FlauBERT: what they refuse, and which language texts are in. test_recorded_models.py has
what their models compute."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from recorded.outputs import folder
from recorded_changes import assert_refused, changed, configure, graph_of, rename

from codegen.ir import graph as g

XLM, LANGUAGE, FLAUBERT, FIRST = "xlm/softmax", "xlm/language", "flaubert/softmax", "flaubert/norms_first"
CHOICES, MASKS = "choices/xlm", "masks/flaubert"
_LANGS = "transformer.lang_embeddings.weight"

REFUSED: dict[str, tuple[str, Callable[[Path], None], str, str]] = {
    "answers of a search": (
        *("answers/flaubert", configure(architectures=["FlaubertForQuestionAnswering"])),
        *("architecture-not-supported", "Simple"),
    ),
    "no such class": (XLM, configure(architectures=["XLMForMaskedLM"]), "architecture-not-supported", "WithLMHead"),
    "bare encoder": (XLM, configure(architectures=["XLMModel"]), "modules-missing", "XLMModel"),
    "decoder": (XLM, configure(is_encoder=False), "decoder-not-supported", "is_encoder"),
    "adaptive softmax": (XLM, configure(asm=True), "config-not-supported", "asm"),
    "heads": (XLM, configure(n_heads=3), "heads-do-not-divide", "n_heads"),
    "two widths": (XLM, configure(hidden_size=24), "config-value", "emb_dim"),
    "two vocabularies": (XLM, configure(n_words=24), "config-value", "n_words"),
    "a summary of the width": (XLM, configure(summary_proj_to_labels=False), "summary-not-supported", "labels"),
    "no summary": (CHOICES, configure(summary_use_proj=False), "summary-not-supported", "summary_use_proj"),
    "bent logits": (XLM, configure(summary_activation="tanh"), "summary-not-supported", "summary_activation"),
    "another row": (XLM, configure(summary_type="cls_index"), "pooling-not-supported", "cls_index"),
    "another activation": (CHOICES, configure(summary_activation="mish"), "activation-not-supported", "mish"),
    "no languages in the file": (XLM, rename(_LANGS, "other"), "missing-tensor", _LANGS),
    "no languages": (XLM, configure(n_langs=1), "unused-tensor", _LANGS),
    "an unknown language": (XLM, configure(default_language="fr"), "config-value", "de, en"),
    "a language of none": (FLAUBERT, configure(default_language="fr"), "config-value", "no embedding of languages"),
    "a language without a row": (
        *(XLM, configure(default_language="fr", lang2id={"fr": 2})),
        *("config-value", "fr"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    variant, change, code, words = REFUSED[case]
    assert_refused(variant, change, code, words, tmp_path)


def test_which_language(tmp_path: Path) -> None:
    assert any("no language" in note and "de, en" in note for note in graph_of(folder(XLM)).notes)
    assert any("texts are in fr" in note for note in graph_of(folder(LANGUAGE)).notes)
    plain = graph_of(changed(XLM, configure(default_language="en"), tmp_path))
    assert any("texts are in en" in note for note in plain.notes)


def test_norms_first_are_flauberts_own(tmp_path: Path) -> None:
    """XLM's class knows no `pre_norm`."""

    def normed(graph: g.Graph) -> set[str]:
        return {op.out for op, _ in g.ops_of(graph) if isinstance(op, g.Norm)}

    assert normed(graph_of(folder(FIRST))) == {"hidden", "normed"}
    assert normed(graph_of(changed(XLM, configure(pre_norm=True), tmp_path))) == {"hidden"}


def test_older_files_say_the_vocabulary_by_another_name(tmp_path: Path) -> None:
    graph = graph_of(changed(MASKS, configure(vocab_size=None, n_words=73), tmp_path))
    assert graph.vocabulary == graph_of(folder(MASKS)).vocabulary == 73
