# SPDX-License-Identifier: Apache-2.0
"""The last stage before the compiler: program, plan and tables as C++ text and bytes."""

from .model import render_model

__all__ = ["render_model"]
