# SPDX-License-Identifier: Apache-2.0
"""What model_differences.py draws can be drawn, and fits together; what it makes of what came of it."""

from __future__ import annotations

import random
from collections import Counter
from types import ModuleType

import pytest
from outcomes import never_compared

_DRAWS = 20


@pytest.fixture
def models() -> ModuleType:
    for module in ("torch", "transformers"):
        pytest.importorskip(module)
    import model_differences

    return model_differences


def test_every_family_can_be_drawn(models: ModuleType) -> None:
    """With a kind for each layer, where kinds are said."""
    for family in (*models.NAMES, *models.WRITERS):
        for seed in range(_DRAWS):
            source = random.Random(seed)
            own = models.draw_encoder(source, family)[0] if family in models.NAMES else None
            settings = models.draw_writer(source, family) if own is None else own
            kinds = settings.get("layer_types")
            assert not kinds or len(kinds) == settings["num_hidden_layers"], (family, settings)


def test_what_fails_in_drawing_ends_the_run(models: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no difference."""

    def fail(*_: object) -> str:
        raise AttributeError("drawing")

    monkeypatch.setattr(models, "writer", fail)
    with pytest.raises(AttributeError, match="drawing"):
        models.compare("phi3", 1, 1)


def test_a_family_that_is_never_compared() -> None:
    outcomes = {
        "compared": Counter({"the same": 1, "read by etch only": 9}),
        "found": Counter({"different": 1, "read by etch only": 9}),
        "drawn seldom": Counter({"read by etch only": 3, "refused, config-value": 9}),
        "lost": Counter({"read by etch only": 2, "not made": 2}),
    }
    assert never_compared(outcomes) == ["lost"]
