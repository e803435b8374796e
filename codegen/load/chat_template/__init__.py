# SPDX-License-Identifier: Apache-2.0
"""The chat template of a folder, a program in Jinja, and the fixed text that conversations have by it."""
