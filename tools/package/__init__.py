# SPDX-License-Identifier: Apache-2.0
"""The installed package `etch`: its generator is `etch.codegen`, the C++ sources that it builds with lie beside it."""
