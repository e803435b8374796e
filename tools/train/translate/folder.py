# SPDX-License-Identifier: Apache-2.0
"""Marian's layout, as the translators of the Helsinki-NLP group have it: written for `transformers` and for etch."""

from __future__ import annotations

from pathlib import Path

from common.checkpoint import write_half, write_json
from pieces import END, END_ID, PAD, UNKNOWN, copy_pieces
from transformers import MarianConfig, MarianMTModel

POSITIONS = 128


def configuration(vocabulary: int, dropout: float) -> MarianConfig:
    """Deep encoder, shallow decoder: the encoder runs once for a text, the decoder once for each token."""
    pad = vocabulary - 1
    return MarianConfig(
        vocab_size=vocabulary,
        d_model=192,
        encoder_layers=3,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=512,
        decoder_ffn_dim=512,
        activation_function="swish",
        dropout=dropout,
        attention_dropout=0.0,
        activation_dropout=0.0,
        init_std=0.02,
        max_position_embeddings=POSITIONS,
        scale_embedding=True,
        pad_token_id=pad,
        eos_token_id=END_ID,
        bos_token_id=None,
        decoder_start_token_id=pad,
        forced_eos_token_id=END_ID,
        share_encoder_decoder_embeddings=True,
        tie_word_embeddings=True,
    )


def write_folder(folder: Path, model: MarianMTModel, pieces: Path) -> None:
    """All files of the checkpoint: the weights in float16, without those that are computed or tied."""
    config = model.config.to_dict()
    config |= {"architectures": ["MarianMTModel"], "dtype": "float16", "dropout": 0.0}
    write_json(folder / "config.json", {key: value for key, value in config.items() if value is not None})
    kept = {name: value for name, value in model.state_dict().items() if not _computed(name)}
    write_half(folder / "model.safetensors", kept)
    pad, most = model.config.pad_token_id, model.config.max_position_embeddings
    generation = {
        "bad_words_ids": [[pad]],
        "decoder_start_token_id": pad,
        "eos_token_id": END_ID,
        "forced_eos_token_id": END_ID,
        "max_length": most,
        "num_beams": 4,
        "pad_token_id": pad,
    }
    write_json(folder / "generation_config.json", generation)
    tokens = {"eos_token": END, "unk_token": UNKNOWN, "pad_token": PAD}
    settings = {"model_max_length": most, "separate_vocabs": False, "source_lang": "en", "target_lang": "de"}
    write_json(folder / "tokenizer_config.json", tokens | settings | {"tokenizer_class": "MarianTokenizer"})
    copy_pieces(pieces, folder)


def _computed(name: str) -> bool:
    tied = ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight")
    return name in tied or name.endswith("embed_positions.weight")
