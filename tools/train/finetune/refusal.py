# SPDX-License-Identifier: Apache-2.0
"""The one exception for input that cannot be trained on."""

from __future__ import annotations


class Refused(Exception):
    """One line for the user: what is wrong, and where."""
