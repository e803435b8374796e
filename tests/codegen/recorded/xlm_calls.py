# SPDX-License-Identifier: Apache-2.0
"""What calls of XLM and FlauBERT in `transformers` need that no configuration says there: the language of a text, which
etch has of `default_language`; and what norms before the blocks ask a cache for, which it has not in 5.23."""

from __future__ import annotations

from functools import wraps
from typing import Any

import torch
from transformers import XLMModel
from transformers.cache_utils import EncoderDecoderCache


def prepare_xlm_calls() -> None:
    """For all models of this process."""
    forward = XLMModel.forward

    @wraps(forward)
    def with_language(self: Any, input_ids: torch.Tensor, **inputs: Any) -> Any:
        named = getattr(self.config, "default_language", None)
        if named is not None:
            inputs["langs"] = torch.full_like(input_ids, self.config.lang2id[named])
        return forward(self, input_ids, **inputs)

    XLMModel.forward = with_language
    EncoderDecoderCache.__getitem__ = lambda *_: None
