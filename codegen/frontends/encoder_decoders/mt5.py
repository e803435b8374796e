# SPDX-License-Identifier: Apache-2.0
"""mT5: version 1.1 of T5 for many languages; its class never scales what logits are made of. Names as in
`transformers`."""

from __future__ import annotations

from ..bases import t5_family

MODEL_TYPE = "mt5"
HARMLESS_KEYS = t5_family.HARMLESS_KEYS
FAMILY = t5_family.Family("MT5", t5_family.Form("gated-gelu", scaling="never", begin=0))
