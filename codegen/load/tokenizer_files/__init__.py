# SPDX-License-Identifier: Apache-2.0
"""The tokenizers of checkpoint folders: which files they have, and what each of these may say."""
