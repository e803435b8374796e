# SPDX-License-Identifier: Apache-2.0
"""tokenizer.json of what a GGUF file says of its tokens: a module for each kind."""
