# SPDX-License-Identifier: Apache-2.0
"""Folders that etch writes, all or nothing, and reads again: generated models, checkpoints."""
