# SPDX-License-Identifier: Apache-2.0
"""Marian's layout, as the translators of the Helsinki-NLP group have it: written for `transformers` and for etch."""

from __future__ import annotations

from pathlib import Path

import torch
from common.checkpoint import write_half, write_json
from form import Form
from layout import POSITIONS, write_texts
from pieces import END_ID
from torch.nn.functional import linear
from transformers import MarianConfig, MarianMTModel

PIECES = 5_000
_PAD = PIECES - 1
_TIED = ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight")


def _new() -> MarianMTModel:
    """Deep encoder, shallow decoder: the encoder runs once for a text, the decoder once for each token."""
    return MarianMTModel(
        MarianConfig(
            vocab_size=PIECES,
            d_model=192,
            encoder_layers=3,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=512,
            decoder_ffn_dim=512,
            activation_function="swish",
            dropout=0.1,
            attention_dropout=0.0,
            activation_dropout=0.0,
            init_std=0.02,
            max_position_embeddings=POSITIONS,
            scale_embedding=True,
            pad_token_id=_PAD,
            eos_token_id=END_ID,
            bos_token_id=None,
            decoder_start_token_id=_PAD,
            forced_eos_token_id=END_ID,
            share_encoder_decoder_embeddings=True,
            tie_word_embeddings=True,
        )
    )


def _read(folder: Path) -> MarianMTModel:
    return MarianMTModel.from_pretrained(folder, dtype=torch.float32)


def _logits(model: MarianMTModel, sources: torch.Tensor, begun: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    hidden = model.model(input_ids=sources, attention_mask=(sources != _PAD).long(), decoder_input_ids=begun)[0]
    return linear(hidden[counts], model.model.shared.weight, model.final_logits_bias[0])


def _write(folder: Path, model: MarianMTModel, pieces: Path) -> None:
    """All files of the checkpoint: the weights in float16, without those that are computed or tied."""
    config = model.config.to_dict()
    config |= {"architectures": ["MarianMTModel"], "dtype": "float16", "dropout": 0.0}
    write_json(folder / "config.json", {key: value for key, value in config.items() if value is not None})
    kept = {
        name: value
        for name, value in model.state_dict().items()
        if name not in _TIED and not name.endswith("embed_positions.weight")
    }
    write_half(folder / "model.safetensors", kept)
    write_texts(folder, pieces, _PAD)


MARIAN = Form(PIECES, _new, _read, _logits, _write, writer=_read)
