# SPDX-License-Identifier: Apache-2.0
"""From a tokenizer's specification to the const tables that the runtime searches."""

from .decoder import compile_decoder
from .fields import Field, Part
from .tables import UNICODE_TABLE_BYTES, TokenizerTables, compile_tokenizer
from .target import TargetTables, compile_target

__all__ = [
    "UNICODE_TABLE_BYTES",
    "Field",
    "Part",
    "TargetTables",
    "TokenizerTables",
    "compile_decoder",
    "compile_target",
    "compile_tokenizer",
]
