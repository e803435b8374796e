# SPDX-License-Identifier: Apache-2.0
"""`etch convert MODEL.gguf`: a file of llama.cpp's to a folder as `save_pretrained` writes it."""
