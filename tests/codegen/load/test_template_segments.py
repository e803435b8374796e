# SPDX-License-Identifier: Apache-2.0
"""Segments that tokenizer.json gives to one text: those that the model has a row for, or a refusal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tiny_checkpoint import write_tiny_checkpoint

from codegen import pipeline
from codegen.errors import EtchError
from codegen.request import Reading


def folder(place: Path, segment: int) -> Path:
    """A BERT with two segments, all of whose tokens of one text are of this one."""
    write_tiny_checkpoint(place)
    path = place / "tokenizer.json"
    described = json.loads(path.read_text())
    ids = described["model"]["vocab"]

    def special(text: str, type_id: int) -> dict[str, object]:
        return {"SpecialToken": {"id": text, "type_id": type_id}}

    first, second = ({"Sequence": {"id": name, "type_id": number}} for name, number in (("A", 0), ("B", 1)))
    one = {"Sequence": {"id": "A", "type_id": segment}}
    described["normalizer"] = {"type": "Lowercase"}
    described["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [special("[CLS]", segment), one, special("[SEP]", segment)],
        "pair": [special("[CLS]", 0), first, special("[SEP]", 0), second, special("[SEP]", 1)],
        "special_tokens": {text: {"id": text, "ids": [ids[text]], "tokens": [text]} for text in ("[CLS]", "[SEP]")},
    }
    path.write_text(json.dumps(described))
    names = ["input_ids", "token_type_ids", "attention_mask"]
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_input_names": names}
    (place / "tokenizer_config.json").write_text(json.dumps(config))
    return place


def test_another_segment_of_the_model_is_taken(tmp_path: Path) -> None:
    checkpoint = pipeline.load(folder(tmp_path, 1), Reading())
    assert pipeline.to_graph(checkpoint, None).segments == checkpoint.tokenizer.template.segments_of_one == 2


@pytest.mark.parametrize("segment", [2, 200])
def test_one_that_the_model_has_no_row_for_is_refused(segment: int, tmp_path: Path) -> None:
    checkpoint = pipeline.load(folder(tmp_path, segment), Reading())
    with pytest.raises(EtchError, match=f"tokens of one text are of segment {segment}, the model has 2") as refused:
        pipeline.to_graph(checkpoint, None)
    assert refused.value.code == "tokenizer-template"
