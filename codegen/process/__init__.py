# SPDX-License-Identifier: Apache-2.0
"""The process itself: signals, how far the work is, commands that messages name."""
