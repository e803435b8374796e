# SPDX-License-Identifier: Apache-2.0
"""`etch verify`: a built model beside the interpreter, the emulator and the folder's own tokenizer."""
