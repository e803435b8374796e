# SPDX-License-Identifier: Apache-2.0
"""What configurations call the types of floats, and what files of safetensors do."""

from __future__ import annotations

DTYPES = {"float32": "F32", "float16": "F16", "bfloat16": "BF16"}
