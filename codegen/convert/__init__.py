# SPDX-License-Identifier: Apache-2.0
"""`etch convert`: pickled weights to safetensors."""
