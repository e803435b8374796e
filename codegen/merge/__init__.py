# SPDX-License-Identifier: Apache-2.0
"""`etch merge`: a LoRA adapter and the checkpoint it was trained beside."""
