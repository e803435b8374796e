# SPDX-License-Identifier: Apache-2.0
"""Files that are read and written around the pipeline: what a user names, tables of texts, generated folders."""
