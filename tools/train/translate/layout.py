# SPDX-License-Identifier: Apache-2.0
"""What lies beside the weights of either form: how texts are cut into pieces, and how they are written."""

from __future__ import annotations

from pathlib import Path

from common.checkpoint import write_json
from pieces import END, END_ID, PAD, UNKNOWN, copy_pieces

POSITIONS = 128


def write_texts(folder: Path, pieces: Path, pad: int) -> None:
    """Marian's tokenizer of the folder `pieces`, and generation_config.json."""
    generation = {
        "bad_words_ids": [[pad]],
        "decoder_start_token_id": pad,
        "eos_token_id": END_ID,
        "forced_eos_token_id": END_ID,
        "max_length": POSITIONS,
        "num_beams": 4,
        "pad_token_id": pad,
    }
    write_json(folder / "generation_config.json", generation)
    tokens = {"eos_token": END, "unk_token": UNKNOWN, "pad_token": PAD}
    settings = {"model_max_length": POSITIONS, "separate_vocabs": False, "source_lang": "en", "target_lang": "de"}
    write_json(folder / "tokenizer_config.json", tokens | settings | {"tokenizer_class": "MarianTokenizer"})
    copy_pieces(pieces, folder)
