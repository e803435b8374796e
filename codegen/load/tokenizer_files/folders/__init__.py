# SPDX-License-Identifier: Apache-2.0
"""What the classes of `transformers` make of a folder's files: a module for each kind of class."""
