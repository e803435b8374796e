# SPDX-License-Identifier: Apache-2.0
"""BLOOM: how scores fall with the distance, what a folder may call its sizes, and what is refused.
test_recorded_models.py and test_generation.py have what it computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of
from test_generation import HERE
from tiny_checkpoint import write_json

from codegen import pipeline
from codegen.frontends.decoders import bloom
from codegen.frontends.shared.alibi import alibi, slopes_of
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.load.shards import open_weights
from codegen.oracle.interpret import Interpreter

ROWS = "bloom/softmax"  # 24 wide, 6 heads, 2 layers, no position has an end
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "answers": (
        ROWS,
        configure(architectures=["BloomForQuestionAnswering"]),
        "architecture-not-supported",
        "BloomForSequenceClassification, BloomForCausalLM, BloomForTokenClassification, or ",
    ),
    "two counts of heads": (ROWS, configure(num_attention_heads=3), "config-value", "num_attention_heads is not"),
    "heads that share nothing evenly": (ROWS, configure(n_head=5), "heads-do-not-divide", "n_head 5"),
    "too few layers": (ROWS, configure(n_layer=1), "unused-tensor", "h.1."),
    "more layers than tensors": (ROWS, configure(n_layer=1000), "missing-tensor", "n_layer is 1000"),
    "sums of several machines": (
        ROWS,
        configure(pretraining_tp=2, slow_but_exact=True),
        "config-not-supported",
        "slow_but_exact with pretraining_tp 2",
    ),
    "the width as older files have it": (ROWS, configure(n_embed=18), "wrong-shape", "word_embeddings"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def test_slopes() -> None:
    """Those of the paper for eight heads; of other numbers than powers of two those of the power below come first."""
    assert slopes_of(8) == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    assert slopes_of(1) == [1 / 256]
    assert slopes_of(6) == [1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8]
    bias = alibi(2, 3).arrays[0]
    assert bias.shape == (2, 5)
    assert np.array_equal(bias.values[1], np.arange(-2, 3) / 256)


def rows(path: Path) -> np.ndarray:
    ids = list(range(5, 15))
    return Interpreter(graph_of(path)).output(ids, [0] * len(ids))


@pytest.mark.parametrize(
    "change",
    [
        configure(n_head=None, n_layer=None, num_attention_heads=6, num_hidden_layers=2),
        configure(num_attention_heads=6),
        configure(hidden_size=7, n_embed=24),
        configure(pretraining_tp=4, slow_but_exact=False),
    ],
)
def test_what_published_files_say(change: Change, tmp_path: Path) -> None:
    assert np.array_equal(rows(changed(ROWS, change, tmp_path)), rows(folder(ROWS)))


def test_texts_have_no_end() -> None:
    """What the folder says is a default, and so is what BLOOM was trained with."""
    assert pipeline.load(folder(ROWS)).default_max_tokens == 20
    assert pipeline.to_graph(pipeline.load(folder(ROWS)), 70).max_tokens == 70
    writer = CheckpointFolder(HERE / "bloom" / "own")
    config = Config.from_json(writer.read_json("config.json"))
    assert bloom.FAMILY.read_limits(config).positions == 2048
    assert bloom.FAMILY.graph_of(config, open_weights(writer)[0], 3000, 2).max_tokens == 3000


def test_the_class_of_its_tokenizer(tmp_path: Path) -> None:
    """The library has none of its own any more, and takes tokenizer.json as it is."""

    def named(name: str) -> Change:
        def change(path: Path) -> None:
            write_json(path / "tokenizer_config.json", {"tokenizer_class": name, "model_max_length": 20})

        return change

    found = [
        pipeline.load(changed(ROWS, named(name), tmp_path / name)).tokenizer
        for name in ("BloomTokenizerFast", "TokenizersBackend")
    ]
    assert found[0] == found[1]
