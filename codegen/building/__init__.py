# SPDX-License-Identifier: Apache-2.0
"""Generated sources compiled: CMake, the cache of runtimes, the program that comes of it."""
