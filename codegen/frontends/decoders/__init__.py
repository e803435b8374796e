# SPDX-License-Identifier: Apache-2.0
"""Decoders alone: each position sees those before it. They continue a text; most classify, tag and embed, too."""
