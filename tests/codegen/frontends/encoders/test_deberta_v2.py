# SPDX-License-Identifier: Apache-2.0
"""The DeBERTa-v2 front-end and its tokenizer: buckets of distances, relative rows, and what is refused.
test_recorded_models.py has what its models compute."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of, rename
from tiny_checkpoint import write_json

from codegen import pipeline
from codegen.errors import EtchError
from codegen.frontends.shared.relative import log_bucket
from codegen.gpu.encoder import find_encoder
from codegen.ir import graph as g
from codegen.ir import program as p
from codegen.ir import walks
from codegen.ir.program_changes import with_max_tokens
from codegen.lower import lower
from codegen.quantize import RECIPES

V3 = "deberta-v2/v3"
# make_log_bucket_position of transformers 5.23.0: the first distance of each bucket behind half of them.
FIRST_OF_BUCKET = {
    (256, 512): {128: 128, 129: 129, 255: 192, 256: 192, 257: 192, 299: 206, 400: 233, 510: 255, 511: 255, 512: 256},
    (32, 150): {16: 16, 17: 17, 18: 17, 19: 18, 20: 18, 33: 21, 80: 27, 149: 31},
    (6, 20): {3: 3, 4: 4, 7: 4, 8: 5, 19: 5},
}
REFUSED: dict[str, tuple[Change, str, str]] = {
    "architecture": (
        configure(architectures=["DebertaV2ForCausalLM"]),
        "architecture-not-supported",
        "DebertaV2ForCausalLM",
    ),
    "a convolution": (configure(conv_kernel_size=3), "convolution-not-supported", "conv_kernel_size is 3"),
    "narrow heads": (configure(attention_head_size=4), "width-not-supported", "attention_head_size 4"),
    "a narrow pooler": (configure(pooler_hidden_size=12), "width-not-supported", "pooler_hidden_size 12"),
    "one bucket": (configure(position_buckets=1), "buckets-out-of-range", "position_buckets 1"),
    "all distances near": (
        configure(position_buckets=20, max_relative_positions=11),
        "buckets-out-of-range",
        "up to 11",
    ),
    "kinds": (configure(pos_att_type=7), "config-type", "pos_att_type"),
    "other buckets": (configure(position_buckets=8), "wrong-shape", "rel_embeddings"),
    "own projections": (configure(share_att_key=False), "missing-tensor", "pos_key_proj"),
    "absolute positions": (configure(position_biased_input=True), "missing-tensor", "position_embeddings"),
    "no norm": (configure(norm_rel_ebd="none"), "unused-tensor", "encoder.LayerNorm"),
    "no embedding": (rename("deberta.encoder.rel_embeddings.weight", "other"), "missing-tensor", "rel_embeddings"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(V3, *REFUSED[case], tmp_path)


@pytest.mark.parametrize(("buckets", "farthest"), FIRST_OF_BUCKET)
def test_buckets(buckets: int, farthest: int) -> None:
    for distance, bucket in FIRST_OF_BUCKET[buckets, farthest].items():
        assert log_bucket(distance, buckets, farthest) == bucket
        assert log_bucket(-distance, buckets, farthest) == -bucket
    found = [log_bucket(distance, buckets, farthest) for distance in range(-farthest, farthest)]
    assert found == sorted(found)


def attention_of(graph: g.Graph) -> g.Attention:
    return next(op for op, _ in g.ops_of(graph) if isinstance(op, g.Attention))


def test_only_rows_that_a_text_can_mean_are_stored() -> None:
    checkpoint = pipeline.load(folder("deberta-v2/long"))
    rows = {tokens: attention_of(pipeline.to_graph(checkpoint, tokens)) for tokens in (3, 20, 150)}
    shapes = {tokens: op.relative_keys.shape for tokens, op in rows.items() if op.relative_keys is not None}
    assert shapes == {3: (5, 16), 20: (2 * 18 + 1, 16), 150: (63, 16)}
    assert rows[3].relative_rows == (0, 1, 2, 3, 4)


def test_scores_are_scaled_by_the_number_of_their_terms() -> None:
    scales = {name: attention_of(graph_of(folder(f"deberta-v2/{name}"))).scale for name in ("v3", "absolute")}
    assert scales == {"v3": pytest.approx((3 * 8) ** -0.5), "absolute": None}
    assert attention_of(graph_of(folder("deberta-v2/queries"))).scale == pytest.approx((2 * 6) ** -0.5)


def test_quantized_by_head_and_row() -> None:
    program = lower(graph_of(folder(V3)), RECIPES["w8a8"])
    slots = {slot.name: slot for slot, _ in walks.slots_of(program)}
    for name in ("relative_keys", "relative_queries"):
        for weights in slots[name].stored:
            assert isinstance(weights, p.RelativeWeights)
            assert isinstance(weights.matrix, p.S8Matrix)
            assert weights.by_head == (3, 11, 8)
            assert (np.abs(weights.matrix.q.astype(int)).max(axis=1) == 127).all()
    assert slots["relative_rows"].common
    shorter = with_max_tokens(program, 5)
    (cut,) = {
        id(op.relative_rows): op.relative_rows for op in walks.ops_of(shorter) if isinstance(op, p.Attention)
    }.values()
    (whole,) = (slots["relative_rows"].stored,)
    assert cut is not None
    assert cut.stored[0].values.tolist() == whole[0].values[15:24].tolist()  # type: ignore[union-attr]


def test_gpus_refuse_it() -> None:
    with pytest.raises(EtchError) as caught:
        find_encoder(lower(graph_of(folder("deberta-v2/mean")), RECIPES["w8a8"]))
    assert caught.value.code == "gpu-not-supported"
    assert "PackKeyRows" in str(caught.value)


# --- tokenizer -------------------------------------------------------------------------------------------------------


def test_the_second_text_has_its_segment() -> None:
    checkpoint = pipeline.load(folder(V3))
    assert checkpoint.tokenizer.template.segments == 2
    assert [note for note in checkpoint.tokenizer.notes if "normalizer" in note]


def settings(**values: object) -> Change:
    def change(path: Path) -> None:
        file = path / "tokenizer_config.json"
        write_json(file, json.loads(file.read_text()) | values)

    return change


def model(**values: object) -> Change:
    def change(path: Path) -> None:
        described = json.loads((path / "tokenizer.json").read_text())
        described["model"] |= values
        write_json(path / "tokenizer.json", described)

    return change


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (settings(do_lower_case=True), "tokenizer-conflict", "do_lower_case"),
        (settings(split_by_punct=True), "tokenizer-conflict", "split_by_punct"),
        (settings(add_prefix_space=False), "tokenizer-conflict", "add_prefix_space"),
        (settings(unk_token="<unk>"), "tokenizer-conflict", "<unk>"),
        (model(unk_id=7), "tokenizer-conflict", "score 0"),
        (model(unk_id=1), "tokenizer-conflict", "score 0"),
        (lambda path: (path / "tokenizer.json").unlink(), "tokenizer-class", "DebertaV2Tokenizer"),
    ],
)
def test_tokenizers_that_are_refused(change: Change, code: str, words: str, tmp_path: Path) -> None:
    path = changed(V3, change, tmp_path)
    with pytest.raises(EtchError) as caught:
        pipeline.load(path)
    assert caught.value.code == code
    assert words in str(caught.value)
