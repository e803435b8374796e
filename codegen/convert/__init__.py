# SPDX-License-Identifier: Apache-2.0
"""`etch convert`: pickled or quantized weights to plain safetensors."""
