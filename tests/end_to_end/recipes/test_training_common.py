# SPDX-License-Identifier: Apache-2.0
"""tools/train/common: what all recipes do alike, on a model of a few weights. Skipped without PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from classify_program import ROOT

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("safetensors", reason="safetensors is not installed")

DEPENDS = {"rows": [("a", 1), ("b", 2)], "--freeze": "nothing"}


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "train"))
    from common import loop

    return loop


def run(loop: Any, state: Path, steps: dict[str, Any] | None = None, depends: dict[str, object] | None = None) -> None:
    """Some steps of a model of one weight."""
    model = torch.nn.Linear(1, 1)
    settings = {"count": 4, "batch": 3, "rate": 0.1, "seed": 4} | (steps or {})

    def loss_of(batch: list[int]) -> torch.Tensor:
        return model(torch.ones(len(batch), 1)).square().mean()

    loop.train(model, [2] * 20, loss_of, loop.Steps(**settings), state, DEPENDS | (depends or {}))


@pytest.mark.parametrize(
    ("steps", "depends", "what"),
    [
        ({"batch": 5}, {}, "batch 3, not 5"),
        ({"seed": 5}, {}, "seed 4, not 5"),
        ({"rate": 0.2}, {}, "rate 0.1, not 0.2"),
        ({"count": 3}, {}, "4 steps, not 3"),
        ({}, {"rows": [("a", 2), ("b", 1)]}, "other rows"),
        ({}, {"--freeze": "encoder"}, "other --freeze"),
        ({}, {"labels": ("O", "B")}, "other labels"),
    ],
)
def test_a_run_does_not_go_on_after_another(
    loop: Any, tmp_path: Path, steps: dict[str, Any], depends: dict[str, object], what: str
) -> None:
    run(loop, tmp_path / "a.state")
    kept = (tmp_path / "a.state").read_bytes()
    with pytest.raises(SystemExit) as refused:
        run(loop, tmp_path / "a.state", steps, depends)
    assert str(refused.value) == f"a.state: is of a run with {what}: remove it, or name another --state"
    assert (tmp_path / "a.state").read_bytes() == kept


def test_the_same_run_goes_on_to_more_steps(loop: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(loop, tmp_path / "a.state")
    run(loop, tmp_path / "a.state", {"count": 6})
    assert "going on after step 4" in capsys.readouterr().err
