# SPDX-License-Identifier: Apache-2.0
"""What NVIDIA GPUs can run of a program: `--gpu` asks, and what they cannot is refused by name."""

from .check import check_tokenizer, encoder_of
from .encoder import Encoder

__all__ = ["Encoder", "check_tokenizer", "encoder_of"]
