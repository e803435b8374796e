# SPDX-License-Identifier: Apache-2.0
"""The sequence that a model writes, as the folder's settings of generation describe it."""

from __future__ import annotations

from ..ir.graph import Target
from ..load.config import Config
from ..load.folder import Checkpoint
from ..load.generation_config import GenerationSettings, settings_in
from . import parts


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


def check_writer(checkpoint: Checkpoint, architecture: str) -> None:
    """EtchError where the folder is another class's, or asks for a search that there is none of."""
    config, generation = checkpoint.config, checkpoint.generation
    if config.architectures and architecture not in config.architectures:
        message = f"architecture {', '.join(config.architectures)} is not supported: {architecture} writes texts"
        raise parts.refuse("architecture-not-supported", message)
    if checkpoint.sentence is not None:
        raise parts.refuse("architecture-conflict", f"{architecture} writes texts, modules.json makes an embedding")
    if generation is not None and generation.beams != 1:
        message = f"num_beams is {generation.beams}: the search is greedy so far; make it 1"
        raise parts.refuse("generation-not-supported", message)
