# SPDX-License-Identifier: Apache-2.0
"""UMT5: mT5 whose layers have a bias of distances each. The library's class always scales what logits are made of.
Names as in `transformers` 5.23."""

from __future__ import annotations

from ..bases import t5_family

MODEL_TYPE = "umt5"
HARMLESS_KEYS = t5_family.HARMLESS_KEYS
_FORM = t5_family.Form("gated-gelu", scaling="always", begin=0, bias_by_layer=True)
FAMILY = t5_family.Family("UMT5", _FORM, tokenizer_class="TokenizersBackend")
