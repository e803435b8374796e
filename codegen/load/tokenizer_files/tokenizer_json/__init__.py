# SPDX-License-Identifier: Apache-2.0
"""What a tokenizer.json says, part by part: a module each, all of fields that are known."""
