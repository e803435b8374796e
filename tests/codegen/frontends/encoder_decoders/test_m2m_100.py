# SPDX-License-Identifier: Apache-2.0
"""M2M-100 as a family: what its folders may say, where its positions begin, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_decoders import folder, graph_of
from test_marian import again

from codegen.errors import EtchError
from codegen.frontends.shared.sinusoids import closed_sinusoids
from codegen.ir import graph as g

CODE = 42  # of German, which a target begins with
WORDS = "model.shared.weight"


def embeds(graph: g.Graph) -> list[g.Embed]:
    return [op for op, _ in g.ops_of(graph) if isinstance(op, g.Embed)]


def table(graph: g.Graph) -> np.ndarray:
    (first, second) = (embed.terms[1].table for embed in embeds(graph))
    assert first is second
    return first.at(0).values


def test_what_a_folder_says(tmp_path: Path) -> None:
    graph = graph_of(folder(tmp_path / "model", "m2m_100"))
    assert graph.target_rules is not None
    assert (graph.task.verb, graph.target_rules.begin, graph.target_rules.ends) == ("translate", (2, CODE), (2,))
    assert (graph.target_rules.max_tokens, graph.target_rules.counted, graph.notes) == (17, 1, ())
    assert graph.widths.keys() >= {"normed", "target_normed"}


@pytest.mark.parametrize("width", [4, 5, 20, 21])
def test_positions_are_those_of_tensor2tensor(width: int) -> None:
    """By the formula of the class, in float64."""
    rates = np.exp(np.arange(width // 2) * -(math.log(10000) / (width // 2 - 1)))
    angles = np.arange(2, 40)[:, None] * rates
    expected = np.concatenate([np.sin(angles), np.cos(angles), np.zeros((38, width % 2))], 1)
    found = closed_sinusoids("table", range(2, 40), width).at(0).values
    assert found.dtype == np.float32
    assert np.abs(found - expected).max() < 6e-8


@pytest.mark.parametrize("padding", [0, 1, 3])
def test_positions_begin_behind_the_padding_token(padding: int, tmp_path: Path) -> None:
    made = folder(tmp_path / "model", "m2m_100", generation={"pad_token_id": padding}, pad_token_id=padding)
    if padding == 3:
        with pytest.raises(EtchError, match="is that of unknown text") as caught:
            graph_of(made)
        assert caught.value.code == "config-value"
        return
    found = table(graph_of(made))
    assert found.shape == (24, 20)
    assert found[0, 0] == np.float32(math.sin(padding + 1))


def test_what_the_class_does_where_nothing_is_said(tmp_path: Path) -> None:
    """Words are scaled and the activation is ReLU, other than of its relatives."""
    silent = graph_of(
        folder(tmp_path / "silent", "m2m_100", scale_embedding=None, activation_function=None, pad_token_id=None)
    )
    assert [embed.terms[0].factor for embed in embeds(silent)] == [math.sqrt(20)] * 2
    assert {op.activation for op, _ in g.ops_of(silent) if isinstance(op, g.Linear)} == {"none", "relu"}
    assert table(silent)[0, 0] == np.float32(math.sin(2))
    said = graph_of(folder(tmp_path / "said", "m2m_100", scale_embedding=False))
    assert [embed.terms[0].factor for embed in embeds(said)] == [None] * 2


def test_older_files(tmp_path: Path) -> None:
    """They have the words by all their names, and tables that nobody reads."""
    made = folder(tmp_path / "model", "m2m_100")
    for name in ("lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"):
        again(made, name)
    for of in ("encoder", "decoder"):
        again(made, f"model.{of}.embed_positions.weights", 1)
    assert graph_of(made).notes == ()


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"architectures": ["M2M100Model"]}, "architecture-not-supported"),
        ({"num_attention_heads": 2}, "config-value"),
        ({"tie_word_embeddings": False}, "missing-tensor"),
        ({"pad_token_id": 2}, "config-value"),
        ({"generation": {"decoder_start_token_id": 1}}, "generation-not-supported"),
        ({"generation": {"forced_bos_token_id": 1, "suppress_tokens": None}}, "generation-not-supported"),
        ({"generation": {"forced_bos_token_id": 7}}, "generation-not-supported"),
        ({"d_model": 3}, "heads-do-not-divide"),
        ({"encoder_layers": 2}, "missing-tensor"),
        ({"vocab_size": 45}, "token-id-out-of-range"),
        ({"is_encoder_decoder": False}, "config-value"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(folder(tmp_path / "model", "m2m_100", **changes))
    assert caught.value.code == code


def test_a_copy_that_differs(tmp_path: Path) -> None:
    made = folder(tmp_path / "model", "m2m_100")
    again(made, "lm_head.weight", 1)
    with pytest.raises(EtchError) as caught:
        graph_of(made)
    assert caught.value.code == "tied-tensors-differ"
