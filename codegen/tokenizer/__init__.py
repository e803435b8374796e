# SPDX-License-Identifier: Apache-2.0
"""From a tokenizer's specification to the const tables that the runtime searches."""

from .tables import UNICODE_TABLE_BYTES, Field, WordPieceTables, compile_wordpiece, scratch_bytes

__all__ = ["UNICODE_TABLE_BYTES", "Field", "WordPieceTables", "compile_wordpiece", "scratch_bytes"]
