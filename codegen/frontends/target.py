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
    if settings.least_tokens > max_tokens:
        message = f"{settings.least_tokens} tokens are written at least, {max_tokens} at most: lower min_length"
        raise parts.refuse("generation-value", message)
    needed = 2 * settings.search.beams + 1
    if settings.search.beams > 1 and vocabulary - len(settings.never) < needed:
        message = f"{settings.search.beams} beams need {needed} tokens that may be written: lower num_beams"
        raise parts.refuse("generation-not-supported", message)
    return Target(
        vocabulary=vocabulary,
        max_tokens=max_tokens,
        begin=(settings.begin,) if has_encoder and settings.begin is not None else (),
        end=settings.end,
        forced_end=settings.forced_end,
        never=settings.never,
        least_tokens=settings.least_tokens,
        search=settings.search,
        empty=None if has_encoder else settings.begin,
    )


def room_behind(checkpoint: Checkpoint, max_tokens: int, positions: int) -> int:
    """Of a decoder alone: the tokens that are written at most behind a text of at most `max_tokens`. As many as the
    folder says, or as there are positions left; that of the last one nothing reads."""
    asked = None if checkpoint.generation is None else checkpoint.generation.max_tokens
    return max(positions - max_tokens + 1, 1) if asked is None else asked


def check_writer(checkpoint: Checkpoint, architecture: str) -> None:
    """EtchError where the folder is another class's."""
    config = checkpoint.config
    if config.architectures and architecture not in config.architectures:
        message = f"architecture {', '.join(config.architectures)} is not supported: {architecture} writes texts"
        raise parts.refuse("architecture-not-supported", message)
    if checkpoint.sentence is not None:
        raise parts.refuse("architecture-conflict", f"{architecture} writes texts, modules.json makes an embedding")
