# SPDX-License-Identifier: Apache-2.0
"""How long the text of each piece is: what tells a piece that goes on a word from one that begins it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..ir.tokenizer_spec import WordPieceModel

_MOST = 0x7F  # etch::kMostCharacters
_CONTINUING = 0x80  # etch::kContinuingPiece


def piece_characters(model: WordPieceModel, texts: list[bytes]) -> NDArray[np.uint8]:
    """[ids] characters, and whether the prefix of pieces that go on a word is among them."""
    prefix = model.continuing_prefix.encode()
    return np.array(
        [min(len(text.decode()), _MOST) | (_CONTINUING if prefix and text.startswith(prefix) else 0) for text in texts],
        np.uint8,
    )
