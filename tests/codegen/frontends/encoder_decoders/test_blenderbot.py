# SPDX-License-Identifier: Apache-2.0
"""Blenderbot as families: what their folders may say, and what is refused. lower/test_generation.py has what they
write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_decoders import folder, graph_of

from codegen.errors import EtchError
from codegen.oracle.interpret import Interpreter

SAID: dict[str, dict[str, Any]] = {
    "blenderbot": {
        **dict.fromkeys(("normalize_before", "add_final_layer_norm", "do_blenderbot_90_layernorm"), True),
        **dict.fromkeys(("normalize_embedding", "static_position_embeddings", "extra_layer_norm"), False),
        **{"extra_pos_embeddings": 0, "layernorm_variant": "prelayernorm"},
    },
    "blenderbot-small": {
        **dict.fromkeys(("normalize_embedding", "do_blenderbot_90_layernorm"), True),
        **dict.fromkeys(("normalize_before", "add_final_layer_norm"), False),
        **dict.fromkeys(("static_position_embeddings", "extra_layer_norm"), False),
        **{"extra_pos_embeddings": 0, "layernorm_variant": "xlm"},
    },
}


def logits(path: Path) -> np.ndarray:
    return Interpreter(graph_of(path)).logits([9, 7, 2], [0] * 3, [])


@pytest.mark.parametrize("family", SAID)
def test_what_a_folder_says(family: str, tmp_path: Path) -> None:
    graph = graph_of(folder(tmp_path / "model", family))
    rules = graph.target_rules
    assert rules is not None
    assert (graph.task.verb, graph.notes, rules.begin, graph.max_tokens) == ("translate", (), (0,), 20)
    assert (rules.search.beams, rules.least_tokens, rules.restrictions.no_repeat) == (4, 4, 3)


@pytest.mark.parametrize("family", SAID)
def test_keys_of_published_folders(family: str, tmp_path: Path) -> None:
    own, said = folder(tmp_path / "own", family), folder(tmp_path / "said", family, **SAID[family])
    assert graph_of(said).notes == ()
    assert np.array_equal(logits(own), logits(said))


@pytest.mark.parametrize("family", SAID)
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"architectures": ["BlenderbotForCausalLM"]}, "architecture-not-supported"),
        ({"extra_pos_embeddings": 2}, "generation-not-supported"),
        ({"static_position_embeddings": True}, "generation-not-supported"),
        ({"layernorm_variant": "postnorm"}, "generation-not-supported"),
        ({"decoder_layers": 2}, "missing-tensor"),
        ({"max_position_embeddings": 23}, "wrong-shape"),
    ],
)
def test_refused(family: str, changes: dict[str, Any], code: str, tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(folder(tmp_path / "model", family, **changes))
    assert caught.value.code == code


def test_the_small_ones_own_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        path = folder(tmp_path / "model", "blenderbot-small")
        (path / "tokenizer_config.json").unlink()
        graph_of(path)
    assert caught.value.code == "tokenizer-class"
    assert "BlenderbotSmallTokenizer" in str(caught.value)


@pytest.mark.parametrize("family", SAID)
def test_tokens_of_a_text_that_are_not_repeated(family: str, tmp_path: Path) -> None:
    """As the published folders have it: this has to be said otherwise."""
    with pytest.raises(EtchError) as caught:
        graph_of(folder(tmp_path / "model", family, generation={"encoder_no_repeat_ngram_size": 3}))
    assert caught.value.code == "generation-not-supported"
