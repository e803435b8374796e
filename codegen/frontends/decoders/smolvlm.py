# SPDX-License-Identifier: Apache-2.0
"""SmolVLM, a decoder beside an encoder of images: its texts alone, read as `llama` has them. Names as in
`transformers`."""

from __future__ import annotations

from dataclasses import replace

from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from . import idefics3

MODEL_TYPE = "smolvlm"
HARMLESS_KEYS = idefics3.HARMLESS_KEYS

FAMILY = replace(idefics3.FAMILY, name="SmolVLM", tokenizer_class=AS_IN_JSON)
