# SPDX-License-Identifier: Apache-2.0
"""The sequence that a model writes, as the folder's settings of generation describe it."""

from __future__ import annotations

from ..ir.graph import Target
from ..load.config import Config
from ..load.generation_config import GenerationSettings, settings_in


def build_target(
    config: Config, generation: GenerationSettings | None, vocabulary: int, max_tokens: int, *, has_encoder: bool
) -> Target:
    """`generation` where the folder was asked; else what `config` says. With an encoder a target begins with a token of
    its own, else with the text."""
    settings = generation or settings_in(config, vocabulary, has_encoder=has_encoder)
    return Target(
        vocabulary=vocabulary,
        max_tokens=max_tokens,
        begin=() if settings.begin is None else (settings.begin,),
        end=settings.end,
        forced_end=settings.forced_end,
        never=settings.never,
    )
