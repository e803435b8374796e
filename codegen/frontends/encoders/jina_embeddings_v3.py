# SPDX-License-Identifier: Apache-2.0
"""Jina's embeddings v3 (Sturua et al., 2024, arXiv:2409.10173) as `transformers` has them: XLM-RoBERTa with angles;
adapters are no part of it. As published it is an `xlm-roberta`."""

from __future__ import annotations

from ..bases.flash_roberta import ANGLES

MODEL_TYPE = "jina_embeddings_v3"
FAMILY = ANGLES
