# SPDX-License-Identifier: Apache-2.0
"""LLaVA, a decoder beside an encoder of images: its texts alone, read as `llama` has them. Names as in
`transformers`."""

from __future__ import annotations

from ...load.tokenizer_files.tokenizer_config import AS_IN_JSON
from ..bases import decoder_half
from ..bases.decoder_half import DecoderHalf
from . import llama

MODEL_TYPE = "llava"
HARMLESS_KEYS = decoder_half.HARMLESS_KEYS | {"ignore_index"}
# What published folders do not say of their texts, as the library's configuration of these has it.
USUAL = {
    **{"vocab_size": 32_000, "max_position_embeddings": 2048, "hidden_size": 4096, "intermediate_size": 11_008},
    **{"num_hidden_layers": 32, "num_attention_heads": 32},
}

FAMILY = DecoderHalf(
    "Llava",
    {llama.MODEL_TYPE: llama},
    tied=False,
    texts_tie=True,
    usual=USUAL,
    tokenizer_class=AS_IN_JSON,
)
