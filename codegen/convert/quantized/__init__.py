# SPDX-License-Identifier: Apache-2.0
"""Weights that are quantized already: each method's module reads what its library wrote, as the floats that it stands
for. etch's recipes then quantize these anew."""
