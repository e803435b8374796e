# SPDX-License-Identifier: Apache-2.0
"""The front-end of DeBERTa's first version and its tokenizer: how scores are scaled, which rows are whose, and what is
refused. test_recorded_models.py has what its models compute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recorded.outputs import folder
from recorded_changes import Change, assert_refused, changed, configure, graph_of
from tiny_checkpoint import write_json

from codegen import pipeline
from codegen.errors import EtchError
from codegen.ir import graph as g

BASE = "deberta/base"
REFUSED: dict[str, tuple[Change, str, str]] = {
    "architecture": (configure(architectures=["DebertaForCausalLM"]), "architecture-not-supported", "DebertaForCausal"),
    "heads that mix": (configure(talking_head=True), "config-not-supported", "talking_head"),
    "a narrow pooler": (configure(pooler_hidden_size=12), "width-not-supported", "pooler_hidden_size 12"),
    "kinds": (configure(pos_att_type=[7]), "config-type", "pos_att_type"),
    "other distances": (configure(max_relative_positions=8), "wrong-shape", "rel_embeddings"),
    "far distances": (configure(max_relative_positions=70_000), "buckets-out-of-range", "70000"),
    "no relative keys": (configure(pos_att_type=["p2c"]), "unused-tensor", "pos_proj"),
    "no relative attention": (configure(relative_attention=False), "unused-tensor", "pos_proj"),
    "absolute positions": (configure(position_biased_input=True), "missing-tensor", "position_embeddings"),
    "another number of heads": (configure(num_attention_heads=5), "heads-do-not-divide", "5"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(BASE, *REFUSED[case], tmp_path)


@pytest.mark.parametrize(("name", "terms"), [(BASE, 3), ("deberta/near", 2), ("deberta/absolute", 2)])
def test_scores_are_scaled_by_all_that_is_named(name: str, terms: int) -> None:
    """Whether it is computed or not."""
    attention = next(op for op, _ in g.ops_of(graph_of(folder(name))) if isinstance(op, g.Attention))
    config = json.loads((folder(name) / "config.json").read_text())
    width = config["hidden_size"] // config["num_attention_heads"]
    assert attention.scale == pytest.approx((terms * width) ** -0.5)


def test_distances_end_where_the_table_does() -> None:
    attention = next(op for op, _ in g.ops_of(graph_of(folder("deberta/near"))) if isinstance(op, g.Attention))
    assert attention.relative_keys is None
    assert attention.relative_queries is not None
    assert attention.relative_queries.shape == (14, 20)
    assert attention.relative_rows == (*[0] * 11, *range(14), *[13] * 10)


# --- tokenizer -------------------------------------------------------------------------------------------------------

SPECIAL = {"[CLS]": 1, "[SEP]": 2}


def described(change: dict[str, Any]) -> Change:
    """tokenizer.json with other parts."""

    def edit(path: Path) -> None:
        file = path / "tokenizer.json"
        write_json(file, json.loads(file.read_text(encoding="utf-8")) | change)

    return edit


def template(separators: int, segment: int) -> dict[str, Any]:
    """As version 4 of the library writes it where there is one separator between texts and the second has segment 1."""

    def special(text: str, of: int) -> dict[str, Any]:
        return {"SpecialToken": {"id": text, "type_id": of}}

    first = [special("[CLS]", 0), {"Sequence": {"id": "A", "type_id": 0}}, special("[SEP]", 0)]
    more = [special("[SEP]", 0)] * (separators - 1)
    second = [*more, {"Sequence": {"id": "B", "type_id": segment}}, special("[SEP]", segment)]
    tokens = {text: {"id": text, "ids": [number], "tokens": [text]} for text, number in SPECIAL.items()}
    return {"type": "TemplateProcessing", "single": first, "pair": [*first, *second], "special_tokens": tokens}


def test_a_folder_without_a_configuration_of_its_tokenizer() -> None:
    """As the first ones on the Hub: two separators between texts, all of segment 0."""
    spec = pipeline.load(folder(BASE)).tokenizer
    assert [part.content for part in spec.template.pair] == [1, "A", 2, 2, "B", 2]
    assert spec.template.segments == 1


def test_the_template_of_version_4_counts(tmp_path: Path) -> None:
    path = changed("deberta/near", described({"post_processor": template(1, 1)}), tmp_path)
    spec = pipeline.load(path).tokenizer
    assert [part.content for part in spec.template.pair] == [1, "A", 2, "B", 2]
    assert spec.template.segments == 2
    assert "DebertaTokenizer of transformers has another post_processor: tokenizer.json counts" in spec.notes


@pytest.mark.parametrize(
    "change",
    [
        {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}},
        {"normalizer": {"type": "NFC"}, "post_processor": template(1, 1)},
    ],
)
def test_other_parts_than_the_class_has_are_refused(change: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(EtchError) as caught:
        pipeline.load(changed("deberta/near", described(change), tmp_path))
    assert caught.value.code == "tokenizer-conflict"


def test_segments_that_the_model_is_not_told_of(tmp_path: Path) -> None:
    def without(path: Path) -> None:
        file = path / "tokenizer_config.json"
        write_json(file, json.loads(file.read_text()) | {"model_input_names": ["input_ids", "attention_mask"]})
        described({"post_processor": template(1, 1)})(path)

    assert pipeline.load(changed("deberta/near", without, tmp_path)).tokenizer.template.segments == 1
