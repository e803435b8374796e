# SPDX-License-Identifier: Apache-2.0
"""Shapes and pronunciations of RoCBert's words, as its tokenizer of `transformers` gives them: models are asked with
token ids alone, the others are put beside them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import torch
from token_ids import BERT
from transformers import RoCBertTokenizer
from transformers.models.roc_bert.modeling_roc_bert import RoCBertEmbeddings
from vocabularies import VOCABULARY, write_roc_bert

_KINDS = "shape", "pronunciation"


def give_numbers() -> None:
    """To all models of the class, from now on."""
    tables, forward = _tables(), RoCBertEmbeddings.forward

    def with_numbers(embeddings: Any, input_ids: torch.Tensor, *args: Any, **inputs: Any) -> torch.Tensor:
        numbers = {f"input_{kind}_ids": tables[kind][input_ids] for kind in _KINDS}
        return forward(embeddings, input_ids, *args, **inputs | numbers)

    RoCBertEmbeddings.forward = with_numbers  # type: ignore[method-assign]


def _tables() -> dict[str, torch.Tensor]:
    """By kind the number of each id; those around a text are what the class puts there."""
    with tempfile.TemporaryDirectory() as name:
        write_roc_bert(Path(name), 20)
        tokenizer = RoCBertTokenizer.from_pretrained(name)
    around = tokenizer("the")
    found = {}
    for kind in _KINDS:
        numbers = getattr(tokenizer, f"convert_tokens_to_{kind}_ids")(list(VOCABULARY))
        for place, token in ((0, BERT.classify), (-1, BERT.separate)):
            assert token is not None
            numbers[token] = around[f"input_{kind}_ids"][place]
        found[kind] = torch.tensor(numbers)
    return found
