# SPDX-License-Identifier: Apache-2.0
"""Jina's embeddings v2, MosaicBERT and DNABERT-2, which say that they are BERTs: none is read as one, and none of
BERT's folders as one of them. test_recorded_models.py has what their models compute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder, read_recorded
from recorded_changes import Change, add, assert_refused, changed, configure, graph_of, rename

from codegen.frontends.shared.alibi import alibi
from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter
from codegen.tasks.fill_mask import FillMask

JINA, MEAN, CODE, MOSAIC, BERT = "bert/jina", "bert/jina_mean", "bert/jina_code", "bert/mosaic", "bert/softmax"
LAYER = "bert.encoder.layer.0."
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "slopes in BERT": (
        BERT,
        configure(position_embedding_type="alibi", feed_forward_type="geglu", architectures=None),
        "missing-tensor",
        "gated_layers",
    ),
    "slopes of a block that is not named": (
        BERT,
        configure(position_embedding_type="alibi"),
        "config-missing",
        "feed_forward_type",
    ),
    "no slopes": (
        JINA,
        configure(position_embedding_type="absolute", architectures=None),
        "missing-tensor",
        "position_embeddings",
    ),
    "slopes and a table": (
        JINA,
        add("bert.embeddings.position_embeddings.weight", (20, 24)),
        "unused-tensor",
        "position_embeddings",
    ),
    "a block without a gate": (JINA, configure(feed_forward_type="original"), "activation-not-supported", "original"),
    "norms of keys in the first form": (
        JINA,
        add(f"{LAYER}attention.self.layer_norm_k.weight", (24,)),
        "unused-tensor",
        "layer_norm_k",
    ),
    "no norm of queries in the second": (
        CODE,
        rename("encoder.layer.1.attention.self.layer_norm_q.bias", "other"),
        "missing-tensor",
        "layer_norm_q",
    ),
    "no norm of what is attended": (
        CODE,
        rename("encoder.layer.0.attention.output.LayerNorm.weight", "other"),
        "missing-tensor",
        "output.LayerNorm",
    ),
    "another program's": (MEAN, configure(auto_map={"AutoModel": "m.OwnModel"}), "remote-code", "OwnModel"),
    "Mosaic's with a table": (
        MOSAIC,
        add("bert.embeddings.position_embeddings.weight", (20, 24)),
        "unused-tensor",
        "position_embeddings",
    ),
    "relative keys": (
        MOSAIC,
        configure(position_embedding_type="relative_key"),
        "position-embedding-not-supported",
        "relative_key",
    ),
    "a decoder": (JINA, configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


@pytest.mark.parametrize(("variant", "name"), [(JINA, "JinaBert"), (CODE, "JinaBert"), (MOSAIC, "Bert")])
def test_the_notes_say_whose_it_is(variant: str, name: str) -> None:
    notes = graph_of(folder(variant)).notes
    assert any(f"computes {name}Model, not as BERT" in note for note in notes)
    assert not [note for note in notes if "not used" in note]


@pytest.mark.parametrize("variant", [MEAN, MOSAIC])
def test_the_same_with_what_config_json_need_not_say(variant: str, tmp_path: Path) -> None:
    """Without `auto_map`, and as some say it of Mosaic's, too."""
    path = changed(variant, configure(auto_map=None, position_embedding_type="alibi"), tmp_path)
    text = read_recorded(variant)[-1]
    output = Interpreter(graph_of(path)).output(text.ids, text.segments)
    assert np.abs(output - text.float64).max() < 1e-12 * max(1, np.abs(text.float64).max())


def test_the_gate_s_activation_is_not_that_of_the_prediction_head(tmp_path: Path) -> None:
    """`hidden_act` is the latter's alone."""
    path = changed(JINA, configure(hidden_act="relu"), tmp_path)
    (layers,) = (node for node in graph_of(path).body if isinstance(node, g.Layers))
    assert {op.activation for op in layers.body if isinstance(op, g.Linear)} == {"gelu", "none"}


def test_masked_words(tmp_path: Path) -> None:
    """Of the class that Jina's encoders were published as: its head has the activation that config.json names."""

    def with_head(path: Path) -> None:
        (path / "modules.json").unlink()
        for name, shape in (("transform.dense", (24, 24)), ("transform.LayerNorm", (24,))):
            add(f"cls.predictions.{name}.weight", shape)(path)
            add(f"cls.predictions.{name}.bias", shape[:1])(path)
        add("cls.predictions.bias", (64,))(path)

    graph = graph_of(changed(MEAN, with_head, tmp_path))
    assert isinstance(graph.task, FillMask)
    transform = next(op for op, _ in g.ops_of(graph) if isinstance(op, g.Linear) and op.name == "transform")
    gate = next(op for op, _ in g.ops_of(graph) if isinstance(op, g.Linear) and op.name == "gate")
    assert (transform.activation, gate.activation) == ("gelu", "relu")


def test_slopes_on_both_sides() -> None:
    values = alibi(3, 3, both_sides=True).arrays[0].values
    assert values.dtype == np.float32
    assert values[0].tolist() == [-0.125, -0.0625, 0, -0.0625, -0.125]  # of 2 heads 2^-4 and 2^-8, then of 4 2^-2
    assert values[:, 3].tolist() == [-(2.0**-4), -(2.0**-8), -(2.0**-2)]
