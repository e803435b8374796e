# SPDX-License-Identifier: Apache-2.0
"""A text for a text: what an encoder and a decoder write, token by token."""

from __future__ import annotations

from dataclasses import dataclass

from .generation import Generation


@dataclass(frozen=True)
class Translation(Generation):
    """As `Generation`, of a text that is read as a whole."""

    task_names = ("translation",)
    verb = "translate"


TASK = Translation
