# SPDX-License-Identifier: Apache-2.0
"""BigBird's front-end: which attention it has, which texts, and what is refused. test_recorded_models.py has what its
models compute, load/test_kept_classes.py its tokenizer."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename

from codegen import pipeline
from codegen.errors import EtchError
from codegen.ir import graph as g

FULL, SHORT, MASKS = "big_bird/full", "big_bird/short", "masks/big_bird"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "another kind of attention": (FULL, configure(attention_type="sliding"), "config-value", "original_full"),
    "answers to questions": (
        FULL,
        configure(architectures=["BigBirdForQuestionAnswering"]),
        "architecture-not-supported",
        "BigBirdForMaskedLM",
    ),
    "two heads": (
        MASKS,
        configure(architectures=["BigBirdForPreTraining"]),
        "heads-several",
        "BigBirdForMaskedLM",
    ),
    "a bare encoder": (FULL, configure(architectures=["BigBirdModel"]), "modules-missing", "BigBirdModel"),
    "a decoder": (FULL, configure(is_decoder=True), "decoder-not-supported", "is_decoder"),
    "biases that it asks for": (SHORT, configure(use_bias=True), "missing-tensor", "query.bias"),
    "biases that nobody asks for": (FULL, configure(use_bias=False), "unused-tensor", "query.bias"),
    "no head": (FULL, rename("classifier.out_proj.weight", "other"), "missing-tensor", "classifier.out_proj"),
    "a block of nothing": (SHORT, configure(block_size=0), "config-out-of-range", "block_size"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def test_texts_end_where_block_sparse_attention_begins() -> None:
    checkpoint = pipeline.load(folder(SHORT))
    assert checkpoint.default_max_tokens == (5 + 2 * 1) * 2
    assert pipeline.to_graph(checkpoint, 14).max_tokens == 14
    with pytest.raises(EtchError, match="block_sparse") as caught:
        pipeline.to_graph(checkpoint, 15)
    assert caught.value.code == "max-tokens-out-of-range"


@pytest.mark.parametrize(("values", "tokens"), [({"num_random_blocks": 0}, 10), ({"block_size": 64}, 60)])
def test_the_longest_text(values: dict[str, int], tokens: int, tmp_path: Path) -> None:
    def change(path: Path) -> None:
        configure(**values)(path)
        (path / "tokenizer_config.json").write_text('{"tokenizer_class": "BigBirdTokenizer"}')

    assert graph_of(changed(SHORT, change, tmp_path)).max_tokens == tokens


def test_words_are_scaled_where_the_configuration_says_so() -> None:
    def factors(variant: str) -> list[float | None]:
        (embed,) = (node for node in graph_of(folder(variant)).body if isinstance(node, g.Embed))
        return [term.factor for term in embed.terms]

    assert factors(FULL) == [None, None, None]
    assert factors(SHORT) == [18**0.5, None, None]


def test_keys_that_may_be_missing(tmp_path: Path) -> None:
    missing = dict.fromkeys(("hidden_act", "use_bias", "rescale_embeddings", "layer_norm_eps", "architectures"))
    (layers,) = (
        node for node in graph_of(changed(FULL, configure(**missing), tmp_path)).body if isinstance(node, g.Layers)
    )
    linears = {op.name: op for op in layers.body if isinstance(op, g.Linear)}
    assert linears["intermediate"].activation == "gelu_tanh"
    assert linears["query"].bias is not None


def test_an_unused_pooler_is_a_note() -> None:
    assert any("bert.pooler.weight" in note for note in graph_of(folder(FULL)).notes)
    assert not any("pooler" in note for note in graph_of(folder("choices/big_bird")).notes)
