# SPDX-License-Identifier: Apache-2.0
"""GTE (Zhang et al., 2024, arXiv:2407.19669), as gte-multilingual: angles, and a gate without biases; as `transformers`
saves it, or as published under this model type (snowflake-arctic-embed-m-v2.0)."""

from __future__ import annotations

from ..bases import gte_bert

MODEL_TYPE = "gte"
HARMLESS_KEYS = gte_bert.HARMLESS_KEYS
FAMILY = gte_bert.Family(gte_bert.GTE, positions=("absolute", "rope"))
