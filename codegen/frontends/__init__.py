# SPDX-License-Identifier: Apache-2.0
"""Model families. Each module knows the tensor names and configuration keys of one family and builds a Graph."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import EtchError
from ..graph import Graph
from ..load.config import Config
from ..load.folder import Checkpoint
from . import bert

FRONT_ENDS: dict[str, Callable[[Checkpoint, int], Graph]] = {"bert": bert.build_graph}


def check_supported(config: Config) -> None:
    """Refuses a model type that no front-end knows."""
    if config.model_type not in FRONT_ENDS:
        supported = ", ".join(sorted(FRONT_ENDS))
        raise EtchError(
            "model-type-not-supported",
            "front-end",
            f"model type '{config.model_type}' is not supported (supported: {supported})",
            file="config.json",
        )


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint for texts of at most `max_tokens` tokens, specials included."""
    check_supported(checkpoint.config)
    return FRONT_ENDS[checkpoint.config.model_type](checkpoint, max_tokens)
