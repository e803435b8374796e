# SPDX-License-Identifier: Apache-2.0
"""What stands before the texts of a model that embeds, by what a text is for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Prompts:
    """As a checkpoint of sentence-transformers names them; callers write them, the model reads texts as they come."""

    texts: tuple[tuple[str, str], ...] = ()  # (name, what is written), in the order of the checkpoint
    usual: str | None = None  # the name of the one that is written where none is asked for

    @property
    def usual_place(self) -> int | None:
        """Of `usual` in `texts`."""
        return None if self.usual is None else [name for name, _ in self.texts].index(self.usual)

    @property
    def usual_text(self) -> str:
        """What is written where none is asked for."""
        return "" if self.usual is None else dict(self.texts)[self.usual]


NO_PROMPTS = Prompts()
