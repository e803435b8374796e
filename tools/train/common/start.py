# SPDX-License-Identifier: Apache-2.0
"""A small BERT's embeddings at the start: a large one's, on as many of their strongest directions as the small one is
wide."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from transformers.models.bert.modeling_bert import BertEmbeddings


def start_embeddings(
    embeddings: BertEmbeddings, weights: Mapping[str, torch.Tensor], prefix: str, ids: list[int]
) -> None:
    """Fills `embeddings` in place from the large model's tensors, of which `ids` are the pieces that are left."""
    words = weights[f"{prefix}word_embeddings.weight"].float()[ids]
    width, positions = embeddings.word_embeddings.embedding_dim, embeddings.position_embeddings.num_embeddings
    directions = torch.linalg.svd(words, full_matrices=False).Vh[:width].T
    with torch.no_grad():
        embeddings.word_embeddings.weight.copy_(words @ directions)
        embeddings.position_embeddings.weight.copy_(
            weights[f"{prefix}position_embeddings.weight"].float()[:positions] @ directions
        )
        embeddings.token_type_embeddings.weight.copy_(
            weights[f"{prefix}token_type_embeddings.weight"].float() @ directions
        )
