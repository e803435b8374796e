# SPDX-License-Identifier: Apache-2.0
"""The sequence that a model writes, as the folder's settings of generation describe it."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.graph import Graph, TargetRules
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.generation_config import GenerationSettings, settings_in
from ...load.safetensors import TensorFile
from . import parts

# Of a family: by the tokens of a text and of what is written, and by the settings where the folder was asked.
GraphOf = Callable[[Config, TensorFile, int, int, GenerationSettings | None], Graph]


def build_target_rules(
    config: Config, generation: GenerationSettings | None, vocabulary: int, max_tokens: int, *, has_encoder: bool
) -> TargetRules:
    """`generation` where the folder was asked; else what `config` says. With an encoder a target begins with a token of
    its own, else with the text."""
    if config.values.get("is_encoder_decoder") not in (None, has_encoder):
        raise parts.refuse("config-value", f"is_encoder_decoder is {str(not has_encoder).lower()}, against the family")
    settings = generation or settings_in(config, vocabulary, has_encoder=has_encoder)
    if settings.least_tokens > max_tokens:
        message = f"{settings.least_tokens} tokens are written at least, {max_tokens} at most: lower min_length"
        raise parts.refuse("generation-value", message)
    needed = settings.search.least_vocabulary(len(settings.ends))
    if settings.search.beams > 1 and vocabulary - len(settings.never) < needed:
        message = f"{settings.search.beams} beams need {needed} tokens that may be written: lower num_beams"
        raise parts.refuse("generation-not-supported", message)
    begin = (settings.begin, settings.forced_begin) if has_encoder else ()
    return TargetRules(
        vocabulary=vocabulary,
        max_tokens=max_tokens,
        begin=tuple(token for token in begin if token is not None),
        ends=settings.ends,
        forced_end=settings.forced_end,
        never=settings.never,
        least_tokens=settings.least_tokens,
        search=settings.search,
        sampling=settings.sampling,
        restrictions=settings.restrictions,
        empty=None if has_encoder else settings.begin,
        counted=int(settings.forced_begin is not None),
    )


def check_begin(rules: TargetRules | None, padding: int | None) -> None:
    """EtchError where a target begins with the padding token, of a decoder that counts no position for it."""
    if rules is not None and padding in rules.begin:
        message = f"a target begins with the padding token, pad_token_id {padding}, which has no position"
        raise parts.refuse("generation-not-supported", message)


def build_behind_encoder(
    checkpoint: Checkpoint, architecture: str, graph_of: GraphOf, max_tokens: int, positions: int
) -> Graph:
    """The graph of a checkpoint with an encoder, for texts of at most `max_tokens`. It writes as many tokens as the
    folder says, or as there are `positions`."""
    check_writer(checkpoint, architecture)
    most = most_written(checkpoint, positions)
    return graph_of(checkpoint.config, checkpoint.tensors, max_tokens, most, checkpoint.generation)


def build_decoder_alone(
    checkpoint: Checkpoint, architecture: str, graph_of: GraphOf, max_tokens: int, positions: int
) -> Graph:
    """The graph of a checkpoint without an encoder, for texts of at most `max_tokens`. It writes as many tokens behind
    one as the folder says, or as there are `positions` left; that of the last one nothing reads."""
    check_writer(checkpoint, architecture)
    asked = None if checkpoint.generation is None else checkpoint.generation.max_tokens
    room = max(positions - max_tokens + 1, 1) if asked is None else asked
    return graph_of(checkpoint.config, checkpoint.tensors, max_tokens, room, checkpoint.generation)


def check_writer(checkpoint: Checkpoint, architecture: str) -> None:
    """EtchError where the folder is another class's, or has a forced token that a text would show: it is read, and not
    handed out."""
    config = checkpoint.config
    if config.architectures and architecture not in config.architectures:
        message = f"architecture {', '.join(config.architectures)} is not supported: {architecture} writes texts"
        raise parts.refuse("architecture-not-supported", message)
    if checkpoint.sentence is not None:
        raise parts.refuse("architecture-conflict", f"{architecture} writes texts, modules.json makes an embedding")
    if checkpoint.generation is None or checkpoint.target is None:
        return
    forced = checkpoint.generation.forced_begin
    special = {token.id for token in checkpoint.target.spec.added_tokens if token.special}
    if forced is not None and forced not in special:
        message = f"forced_bos_token_id is {forced}: only special tokens, which read as nothing, are supported"
        raise parts.refuse("generation-not-supported", message)


def most_written(checkpoint: Checkpoint, positions: int) -> int:
    """Of a model with an encoder: as many tokens as the folder says, or as its positions leave where nobody says it.
    `max_length` of the library counts what a target begins with, too."""
    generation = checkpoint.generation
    if generation is None:
        return positions - 1
    forced = generation.forced_begin is not None
    return positions - 1 - forced if generation.max_tokens is None else generation.max_tokens
