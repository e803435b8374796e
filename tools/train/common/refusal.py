# SPDX-License-Identifier: Apache-2.0
"""The one exception for input that cannot be trained on."""

from __future__ import annotations


class Refused(SystemExit):
    """One line for the user: what is wrong, and where. A program that does not catch it ends with that line and exit
    code 1."""
