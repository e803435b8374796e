# SPDX-License-Identifier: Apache-2.0
"""Single files: what a user names, texts and tables of texts, what is written as one file."""
