# SPDX-License-Identifier: Apache-2.0
"""Weights as bytes in the target's layout."""
