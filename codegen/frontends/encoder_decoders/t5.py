# SPDX-License-Identifier: Apache-2.0
"""T5 (Raffel et al., 2020, arXiv:1910.10683) and its version 1.1, which Flan-T5 is, as writers, their encoders, which
sentence-T5 and GTR are, and classes whose decoder reads the text itself. Names as in `transformers` 5.23."""

from __future__ import annotations

from ..bases import t5_family

MODEL_TYPE = "t5"
HARMLESS_KEYS = t5_family.HARMLESS_KEYS
FAMILY = t5_family.Family("T5", t5_family.Form("relu", scaling="said"))
