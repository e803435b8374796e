# SPDX-License-Identifier: Apache-2.0
"""etch's generator: a checkpoint folder in, C++ sources and weight tables out."""

__version__ = "0.5.0"
ABI = 5  # ETCH_ABI of the runtime that the output compiles against
