# SPDX-License-Identifier: Apache-2.0
"""From a graph to a program: which rows each op computes (demand), in how many passes (schedule), where values lie
(place), and the ops of the runtime (ops). Weights become tables as the recipe says."""

from .steps import lower

__all__ = ["lower"]
