# SPDX-License-Identifier: Apache-2.0
"""A model whose ids are code points: `etch::CodePoints` has no tables."""

from __future__ import annotations

from .fields import Part

MOST_PIECES = 16  # as etch::most_pieces


def compile_code_points() -> Part:
    return Part("CodePoints", (), most_pieces=MOST_PIECES)
