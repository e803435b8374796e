# SPDX-License-Identifier: Apache-2.0
"""Generation against a budget: the most accurate form of a checkpoint that fits in given flash and RAM."""

from .choose import Chosen, choose
from .limits import Limits
from .linked import check_linked, check_planned, check_tools

__all__ = ["Chosen", "Limits", "check_linked", "check_planned", "check_tools", "choose"]
