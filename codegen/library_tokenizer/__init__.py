# SPDX-License-Identifier: Apache-2.0
"""Texts and token ids as the libraries make them of each other: `tokenizers` and `sentencepiece`."""
