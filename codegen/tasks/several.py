# SPDX-License-Identifier: Apache-2.0
"""Several heads on one encoder. `ir/several.py` has the task: graphs and programs make it of their heads."""

from __future__ import annotations

from ..ir.several import Several

TASK = Several
