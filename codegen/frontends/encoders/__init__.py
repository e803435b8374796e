# SPDX-License-Identifier: Apache-2.0
"""Encoders: each position sees the whole text. They classify, tag, answer, predict words and embed."""
