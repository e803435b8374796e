# SPDX-License-Identifier: Apache-2.0
"""`*ForMaskedLM`, which FlauBERT and XLM call `*WithLMHeadModel`: what may stand at masks, or what a text weighs the
words of the vocabulary."""

from __future__ import annotations

from ...errors import EtchError
from ...ir.graph import Head
from ...ir.tokenizer_spec import MASKS, AddedToken, TokenizerSpec
from ...load.config import XLM_MASKED
from ...tasks.fill_mask import MOST_CANDIDATES, FillMask
from ...tasks.sparse_embedding import SparseEmbedding
from ..shared import parts
from ..shared.prediction_head import OUT, WEIGHTS
from ..shared.rows import HeadOps, Rows


def _head(rows: Rows) -> HeadOps:
    """The family's own, of which the last linear is the embedding's table."""
    if rows.prediction is None:
        message = f"{rows.config.architectures[0]}: masked language models of this family are not supported"
        raise EtchError("architecture-not-supported", "front-end", message, file="config.json")
    config, tensors = rows.config, rows.tensors
    vocabulary = config.positive_int(parts.either_name(config, "vocab_size", "n_words"))  # XLM's older files say that
    if rows.sparse is not None:
        ops, widths = rows.prediction.weights(config, tensors, rows.body, rows.value, rows.width, rows.sparse)
        return ops, widths, Head(SparseEmbedding(vocabulary, rows.sparse.query), WEIGHTS)
    mask = _mask_of(rows.tokenizer)
    pieces = _pieces(rows.tokenizer, vocabulary)
    count = min(MOST_CANDIDATES, vocabulary)
    ops, widths = rows.prediction.ops(config, tensors, rows.body, rows.value, rows.width, mask.id, count)
    return ops, widths, Head(FillMask(mask, count, pieces), OUT)


def _mask_of(spec: TokenizerSpec) -> AddedToken:
    found = [token for token in spec.added_tokens if token.content in MASKS]
    if len(found) != 1:
        names = " or ".join(MASKS)
        raise EtchError("mask-missing", "front-end", f"the tokenizer has {len(found)} tokens {names}, one is needed")
    return found[0]


def _pieces(spec: TokenizerSpec, vocabulary: int) -> tuple[str, ...]:
    """As `piece` of the generated code gives them."""
    found = [""] * max(vocabulary, len(spec.model.pieces), *(token.id + 1 for token in spec.added_tokens))
    for index, piece in enumerate(spec.model.pieces):
        found[index] = piece.decode("utf-8", "replace") if isinstance(piece, bytes) else piece or ""
    for token in spec.added_tokens:
        found[token.id] = token.content
    return tuple(found)


HEADS = {"ForMaskedLM": _head, **{f"{family}{XLM_MASKED}": _head for family in ("Flaubert", "XLM")}}
