# SPDX-License-Identifier: Apache-2.0
"""Jina's XLM-RoBERTa as it was published: what is refused, and which of its adapters counts. test_recorded_models.py
has what its models compute."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from recorded.outputs import folder, read_recorded
from recorded_changes import Change, add, assert_refused, changed, configure, drop, graph_of, rename
from tiny_checkpoint import read_raw_safetensors, write_json

from codegen.oracle.interpret import Interpreter

FLASH, TASKS, PLAIN = "xlm-roberta/flash", "xlm-roberta/flash_tasks", "xlm-roberta/multi_label"
TABLE = "roberta.embeddings.position_embeddings.weight"
FACTOR = "roberta.encoder.layers.1.mlp.fc1.parametrizations.weight.0.lora_B"
REFUSED: dict[str, tuple[str, Change, str, str]] = {
    "angles and a table": (FLASH, configure(position_embedding_type="rotary"), "unused-tensor", TABLE),
    "no table": (FLASH, drop(TABLE), "missing-tensor", TABLE),
    "a table that nobody reads": (TASKS, add(TABLE, (16, 24)), "unused-tensor", TABLE),
    "slopes": (FLASH, configure(position_embedding_type="alibi"), "position-embedding-not-supported", "alibi"),
    "angles of XLM-RoBERTa": (
        PLAIN,
        configure(position_embedding_type="rotary"),
        "position-embedding-not-supported",
        "rotary",
    ),
    "angles of neighbours": (TASKS, configure(rotary_emb_interleaved=True), "config-not-supported", "interleaved"),
    "an activation that the code has not": (FLASH, configure(hidden_act="relu"), "activation-not-supported", "relu"),
    "another program's": (FLASH, configure(auto_map={"AutoModel": "m.Own"}), "remote-code", "Own"),
    "a padding token of every text": (FLASH, configure(pad_token_id=2), "config-value", "padding token"),
    "a task that there is not": (TASKS, configure(default_task="answers"), "config-value", "retrieval.query, sep"),
    "no names of tasks": (TASKS, configure(lora_adaptations=None), "config-missing", "lora_adaptations"),
    "more tasks than adapters": (
        TASKS,
        configure(lora_adaptations=["separation", "b", "c", "d"]),
        "wrong-shape",
        "lora_A",
    ),
    "a scale of no size": (TASKS, configure(lora_alpha=0), "config-out-of-range", "lora_alpha"),
    "another rank": (TASKS, configure(lora_rank=3), "wrong-shape", "lora_A"),
    "half an adapter": (TASKS, drop(FACTOR), "missing-tensor", FACTOR),
    "an adapter of nothing": (TASKS, rename(FACTOR.replace("0.lora_B", "original"), "other"), "missing-tensor", "fc1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)


def test_without_a_task_no_adapter_counts(tmp_path: Path) -> None:
    """Of any size."""
    plain = changed(TASKS, configure(default_task=None), tmp_path)
    other = changed(TASKS, configure(default_task=None, lora_alpha=99), tmp_path / "other")
    outputs, others, asked = (
        [Interpreter(graph_of(path)).output(text.ids, text.segments) for text in read_recorded(TASKS)]
        for path in (plain, other, folder(TASKS))
    )
    assert np.array_equal(outputs, others)
    assert min(np.abs(a - b).max() for a, b in zip(outputs, asked, strict=True)) > 1e-3
    (note,) = (note for note in graph_of(plain).notes if "default_task" in note)
    assert note.endswith("chooses one of retrieval.query, separation, text-matching")


def test_the_notes_say_whose_task_it_is() -> None:
    notes = graph_of(folder(TASKS)).notes
    assert "with the adapter of separation; its texts begin with 'separation: ', which callers write" in notes
    assert not [note for note in notes if "config.json: not used" in note]


def test_the_module_that_is_parted_by_tasks(tmp_path: Path) -> None:
    """As modules.json of jina-embeddings-v3 has it; of other models it is code that nobody runs."""

    def parted(path: Path) -> None:
        modules = json.loads((path / "modules.json").read_text())
        write_json(
            path / "modules.json", [modules[0] | {"type": "custom_st.Transformer", "kwargs": ["task"]}, *modules[1:]]
        )

    path = changed(TASKS, parted, tmp_path)
    assert graph_of(path).notes == graph_of(folder(TASKS)).notes
    assert_refused("new/mean", parted, "remote-code", "custom_st.Transformer", tmp_path / "other")


def test_factors_are_those_of_every_weight() -> None:
    header, _ = read_raw_safetensors(folder(TASKS) / "model.safetensors")
    originals = [name for name in header if name.endswith(".original")]
    assert {name.split(".")[1] for name in originals} == {"embeddings", "encoder", "pooler"}
    assert len(originals) == 3 + 2 * 4
