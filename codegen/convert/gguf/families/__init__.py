# SPDX-License-Identifier: Apache-2.0
"""A module for the architectures of llama.cpp that are alike: which family of `transformers` each is."""
