# SPDX-License-Identifier: Apache-2.0
"""Where in a text its tokens are, which answers and tags are judged by."""

from __future__ import annotations

from ..errors import EtchError
from ..ir.tokenizer_spec import MosesSegmenter, NormalizedMosesSegmenter, TokenizerSpec


def need_token_places(spec: TokenizerSpec) -> None:
    """EtchError where the tokenizer's library does not tell them."""
    if isinstance(spec.segmenter, MosesSegmenter | NormalizedMosesSegmenter):
        message = "sacremoses does not tell where its words are in a text: build the model, its program can --evaluate"
        raise EtchError("token-places-unknown", "evaluate", message)
