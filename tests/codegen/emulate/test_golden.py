# SPDX-License-Identifier: Apache-2.0
"""Which golden texts a model gets, and that they carry the wheel's ids and the emulator's logits."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_program import tiny_program

from codegen import golden as golden_module
from codegen.emulate import emulate
from codegen.golden import SHORT_TEXTS, golden_texts, make_golden


def test_goldens_of_a_small_model(tmp_path: Path) -> None:
    program, checkpoint = tiny_program(tmp_path, "w8a8", max_positions=24)
    goldens = make_golden(program, checkpoint.tokenizer)
    assert [golden.text.decode() for golden in goldens] == golden_texts(program, checkpoint.tokenizer)
    assert [golden.text.decode() for golden in goldens[:-1]] == list(SHORT_TEXTS)
    for golden in goldens:
        assert golden.ids[0] == checkpoint.tokenizer.template.special_ids[0]
        assert golden.ids[-1] == checkpoint.tokenizer.template.special_ids[1]
        logits = emulate(program, golden.ids, [0] * len(golden.ids))
        assert golden.output.tobytes() == logits.tobytes()
    assert len(goldens[-1].ids) == program.max_tokens
    assert goldens[-1].truncated
    assert not goldens[1].truncated
    assert goldens[1].ids == checkpoint.tokenizer.template.special_ids


def test_texts_are_lines_of_every_kind() -> None:
    together = "".join(SHORT_TEXTS)
    assert not set(together) & set("\n\r\0")
    assert "" in SHORT_TEXTS
    assert "[SEP]" in together
    for kind in "é東한🎉…\u200d":
        assert kind in together


def test_three_tokens_are_enough(tmp_path: Path) -> None:
    program, checkpoint = tiny_program(tmp_path, "fp32", max_positions=3)
    goldens = make_golden(program, checkpoint.tokenizer)
    assert max(len(golden.ids) for golden in goldens) == 3
    assert goldens[-1].truncated


@pytest.mark.parametrize("share", [1.5, 0.7, 0.1, 0.0])
def test_large_models_get_fewer_and_shorter_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    program, checkpoint = tiny_program(tmp_path, "w8a8", max_positions=256)
    everything = sum(
        golden_module.estimated_seconds(program, len(golden.ids))
        for golden in make_golden(program, checkpoint.tokenizer)
    )
    monkeypatch.setattr(golden_module, "_BUDGET_SECONDS", everything * share)
    goldens = make_golden(program, checkpoint.tokenizer)
    spent = sum(golden_module.estimated_seconds(program, len(golden.ids)) for golden in goldens)
    assert goldens[0].text.decode() == SHORT_TEXTS[0]
    assert len(goldens) == 1 or spent <= everything * share
    assert goldens[-1].truncated == (share > 1)
    if share == 0.7:
        assert 16 <= len(goldens[-1].ids) < 256
        assert len(goldens) == len(SHORT_TEXTS) + 1
    if share == 0.0:
        assert len(goldens) == 1
