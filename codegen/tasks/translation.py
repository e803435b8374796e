# SPDX-License-Identifier: Apache-2.0
"""A text for a text: what an encoder and a decoder write, token by token."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.task import Face
from .generation import Generation


@dataclass(frozen=True)
class Translation(Generation):
    """As `Generation`, of a text that is read as a whole."""

    verb = "translate"
    face = Face("generation", outputs="tokens", reported="texts", field="tokens", key="ids", count="kMaxTarget")

    @classmethod
    def task_names(cls) -> tuple[str, ...]:
        return ("translation",)


TASK = Translation
