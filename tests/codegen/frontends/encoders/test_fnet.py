# SPDX-License-Identifier: Apache-2.0
"""FNet's folders: what they may say, and what is refused. test_recorded_models.py has what they compute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of

from codegen import pipeline
from codegen.ir import graph as g

ODD, EVEN, NEXT = "fnet/softmax", "fnet/even", "next/fnet"


def without_json(path: Path) -> None:
    """Of which the library makes other ids than of the description."""
    (path / "tokenizer.json").unlink()
    (path / "spiece.model").write_bytes(b"")


REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "one length alone": (
        ODD,
        configure(use_tpu_fourier_optimizations=True),
        "config-not-supported",
        "use_tpu_fourier_optimizations",
    ),
    "both heads, where one is": (
        NEXT,
        configure(architectures=["FNetForPreTraining"]),
        "missing-tensor",
        "predictions",
    ),
    "wider rows": (ODD, configure(hidden_size=22), "wrong-shape", "word_embeddings"),
    "fewer layers": (ODD, configure(num_hidden_layers=1), "unused-tensor", "encoder.layer.1"),
    "no description": (ODD, without_json, "sentencepiece-malformed", "spiece.model"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


@pytest.mark.parametrize("variant", [ODD, EVEN])
def test_all_layers_have_the_same_waves(variant: str) -> None:
    graph = graph_of(folder(variant))
    ((op, layers),) = ((op, layers) for op, layers in g.ops_of(graph) if isinstance(op, g.FourierRows))
    waves = next(op for op, _ in g.ops_of(graph) if isinstance(op, g.Linear) and op.out == op.name == "waves")
    assert layers is not None
    (array,) = waves.weight.arrays
    assert (waves.exact, waves.weight.common) == (True, True)
    assert any("without padding" in note for note in graph.notes)
    transform = np.fft.fft(np.eye(op.width))[: op.width // 2 + 1]
    assert np.abs(array.values - np.concatenate([transform.real, -transform.imag])).max() < 1e-15


def test_two_texts_have_a_segment_each() -> None:
    """As the class has it, which no file says."""
    assert pipeline.load(folder(NEXT)).tokenizer.template.segments == 2


def test_what_no_key_says(tmp_path: Path) -> None:
    keys = dict.fromkeys(("hidden_act", "type_vocab_size", "use_tpu_fourier_optimizations", "tpu_short_seq_length"))
    path = changed(ODD, configure(**keys), tmp_path)
    assert graph_of(path).widths == graph_of(folder(ODD)).widths
