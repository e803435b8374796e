# SPDX-License-Identifier: Apache-2.0
"""BigBird's PEGASUS: for which texts its attention is full, what its layers are where no key says it, and what is
refused. lower/test_generation.py has what it writes, test_recorded_models.py what its classifier computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure
from recorded_changes import graph_of as graph_of_folder
from test_generation import graph_of, recorded

from codegen.errors import EtchError
from codegen.frontends import family_of
from codegen.load.config import Config
from codegen.oracle.interpret import Interpreter

SPARSE, FULL, ROWS = "bigbird_pegasus/own", "bigbird_pegasus/biased", "bigbird_pegasus/softmax"


def logits(variant: str, without: tuple[str, ...] = (), **changes: Any) -> np.ndarray:
    ids = recorded(variant)["outputs"][2]["ids"]
    return Interpreter(graph_of(variant, without, **changes)).logits(ids, [0] * len(ids), [])


@pytest.mark.parametrize(
    ("said", "positions"),
    [
        ({}, 704),
        ({"attention_type": "block_sparse", "block_size": 16, "num_random_blocks": 2}, 144),
        ({"attention_type": "original_full"}, 4096),
        ({"block_size": 1000}, 4096),
    ],
)
def test_texts_that_are_not_too_long(said: dict[str, Any], positions: int) -> None:
    config = Config.from_json({"d_model": 8, "vocab_size": 9, "max_position_embeddings": 4096} | said)
    assert family_of("bigbird_pegasus").read_limits(config).positions == positions


def test_what_no_key_says() -> None:
    """As the library has it, which wrote these keys down."""
    unsaid = "activation_function", "scale_embedding", "use_bias", "tie_word_embeddings", "attention_type"
    assert np.array_equal(logits(SPARSE, unsaid), logits(SPARSE))


def test_rows_of_short_texts(tmp_path: Path) -> None:
    """Block-sparse attention is full there, too."""
    sparse = configure(attention_type="block_sparse", block_size=2, num_random_blocks=1)
    of_sparse, of_full = (
        Interpreter(graph_of_folder(path)).output([0, 7, 9, 2], [0] * 4)
        for path in (changed(ROWS, sparse, tmp_path), folder(ROWS))
    )
    assert np.array_equal(of_sparse, of_full)


@pytest.mark.parametrize(
    ("variant", "changes", "code"),
    [
        (SPARSE, {"block_size": 3}, "max-tokens-out-of-range"),
        (SPARSE, {"attention_type": "near"}, "config-value"),
        (SPARSE, {"use_bias": True}, "missing-tensor"),
        (FULL, {"use_bias": False}, "unused-tensor"),
        (FULL, {"max_position_embeddings": 25}, "wrong-shape"),
    ],
)
def test_refused(variant: str, changes: dict[str, Any], code: str) -> None:
    with pytest.raises(EtchError) as caught:
        graph_of(variant, **changes)
    assert caught.value.code == code, str(caught.value)


REFUSED: dict[str, tuple[Change, str, str]] = {
    "another end": (configure(eos_token_id=3), "config-value", "ends texts with 2"),
    "an end that nobody says": (configure(eos_token_id=None), "config-value", "eos_token_id is 1"),
    "a tagger": (
        configure(architectures=["BigBirdPegasusForTokenClassification"]),
        "architecture-not-supported",
        "BigBirdPegasusForConditionalGeneration",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_classifiers_that_are_refused(case: str, tmp_path: Path) -> None:
    assert_refused(ROWS, *REFUSED[case], tmp_path)
