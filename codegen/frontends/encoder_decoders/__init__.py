# SPDX-License-Identifier: Apache-2.0
"""Encoders with decoders: they translate and summarize; some classify, tag and answer, too."""
