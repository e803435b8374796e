# SPDX-License-Identifier: Apache-2.0
"""LED, the Longformer encoder-decoder (Beltagy et al., 2020, arXiv:2004.05150): BART whose encoder's tokens see so many
to each side, with positions that begin at 0, for the texts and for what is written. Names as in `transformers`.

No token sees all others, as where the library is not told which; files have projections of such tokens all the same.
"""

from __future__ import annotations

from dataclasses import replace

from ...ir.graph import Term
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.bart_family import Family
from ..shared import attention_windows, encoder_decoder, parts
from ..shared.encoder_layer import BART_NAMES

MODEL_TYPE = "led"
HARMLESS_KEYS = encoder_decoder.HARMLESS_KEYS | attention_windows.HARMLESS_KEYS
_ROOT, _ATTENTION = "led.", "self_attn.longformer_self_attn"
_LAYER = replace(
    BART_NAMES,
    query=f"{_ATTENTION}.query",
    key=f"{_ATTENTION}.key",
    value=f"{_ATTENTION}.value",
    attention_output="self_attn.output",
)
_FORM = encoder_decoder.Form(
    embedding_norm=True,
    scales_words=None,
    root=_ROOT,
    encoder=_LAYER,
    masks=lambda config: attention_windows.windowed(config, "encoder_layers"),
    unused=f"{_ATTENTION}.*_global.*",
    source_positions="max_encoder_position_embeddings",
    target_positions="max_decoder_position_embeddings",
)


def _positions(config: Config, tensors: TensorFile) -> encoder_decoder.Positions:
    keys = {"encoder": _FORM.source_positions, "decoder": _FORM.target_positions}

    def positions(of: str, width: int) -> Term:
        shape = (encoder_decoder.position_count(config, keys[of]), width)
        name = encoder_decoder.position_table(of, _ROOT)
        return Term(parts.parameter(tensors, f"{of}_positions", name, shape), "positions")

    return positions


FAMILY = Family(
    "LEDForConditionalGeneration",
    "RobertaTokenizer",
    _FORM,
    _positions,
    of_rows="LED",
    endings=("ForQuestionAnswering",),
)
