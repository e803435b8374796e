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


@pytest.fixture
def checkpoint(loop: Any) -> Any:
    from common import checkpoint

    return checkpoint


def write_folder(folder: Path, content: str, *names: str) -> None:
    folder.mkdir()
    for name in names:
        (folder / name).write_text(content)


WEIGHTS = ("config.json", "model.safetensors")


def test_a_checkpoint_is_replaced_and_anything_else_stays_beside_it(checkpoint: Any, tmp_path: Path) -> None:
    out, old = tmp_path / "out", tmp_path / "out.old"
    write_folder(out, "mine", "notes.txt")
    for content in ("first", "second"):
        if content == "second":
            (tmp_path / "out.old").rename(tmp_path / "notes")
        with checkpoint.replaced(out) as folder:
            for name in WEIGHTS:
                (folder / name).write_text(content)
        assert (out / "config.json").read_text() == content
        assert old.exists() == (content == "first")
    assert (tmp_path / "notes" / "notes.txt").read_text() == "mine"


def test_what_is_beside_a_folder_is_nobody_elses(checkpoint: Any, tmp_path: Path) -> None:
    """A checkpoint by the name that what is replaced would get: another one's, be there something to replace or not."""
    out, old = tmp_path / "out", tmp_path / "out.old"
    write_folder(old, "mine", *WEIGHTS)
    with checkpoint.replaced(out) as folder:
        (folder / "config.json").write_text("new")
    assert (old / "config.json").read_text() == "mine" and (out / "config.json").read_text() == "new"
    with pytest.raises(SystemExit, match=r"out\.old: exists already"), checkpoint.replaced(out):
        pytest.fail("it is refused before anything is made")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.old"]


def test_a_loss_that_is_no_number_ends_the_run_and_is_not_kept(
    loop: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "KEPT_SECONDS", 0.0)
    model, losses = torch.nn.Linear(1, 1), iter((1.0, 2.0, float("nan"), 1.0))
    steps = loop.Steps(count=4, batch=3, rate=0.5, seed=4)
    with pytest.raises(SystemExit) as refused:
        loop.train(model, [2] * 20, lambda _: model.weight.sum() * next(losses), steps, tmp_path / "a.state", {})
    assert str(refused.value) == "the loss is not finite in step 3: lower --rate 0.5"
    assert torch.load(tmp_path / "a.state", weights_only=True)["run"]["steps"] == 2
