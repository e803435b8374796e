# SPDX-License-Identifier: Apache-2.0
"""Checkpoint folders of translators in Marian's layout, with random weights. As a program: SIZE FOLDER."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tiny_checkpoint import write_json, write_safetensors

sys.path.insert(0, str(Path(__file__).resolve().parent / "load"))
from sentencepiece_files import CONTROL, UNKNOWN, sentencepiece_file

POSITIONS = 128
END, UNK, PAD = "</s>", "<unk>", "<pad>"


@dataclass(frozen=True)
class Size:
    layers: int  # of the encoder, and of the decoder
    hidden: int
    heads: int
    vocabulary: int

    @property
    def intermediate(self) -> int:
        return 4 * self.hidden


SIZES = {"small": Size(3, 256, 4, 8_000), "base": Size(6, 512, 8, 32_000), "tiny": Size(1, 32, 2, 64)}


def write_folder(folder: Path, size: Size) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pad = size.vocabulary - 1
    pieces = [END, UNK, "\u2581", *(f"\u2581w{index}" for index in range(size.vocabulary - 4)), PAD]
    first = [(UNK, UNKNOWN), ("<s>", CONTROL), (END, CONTROL)]
    model = sentencepiece_file(first, [(piece, -1.0 - index / 1e4) for index, piece in enumerate(pieces[2:-1])])
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(model)
    (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}), encoding="utf-8")
    languages = {"source_lang": "en", "target_lang": "de", "separate_vocabs": False, "model_max_length": POSITIONS}
    tokens = {"eos_token": END, "unk_token": UNK, "pad_token": PAD, "tokenizer_class": "MarianTokenizer"}
    write_json(folder / "tokenizer_config.json", tokens | languages)
    ids = {"decoder_start_token_id": pad, "eos_token_id": 0, "pad_token_id": pad}
    write_json(folder / "generation_config.json", ids | {"bad_words_ids": [[pad]], "max_length": POSITIONS})
    sides = {
        f"{side}_{key}": value
        for side in ("encoder", "decoder")
        for key, value in {
            "layers": size.layers,
            "attention_heads": size.heads,
            "ffn_dim": size.intermediate,
        }.items()
    }
    form = {"activation_function": "relu", "scale_embedding": True, "is_encoder_decoder": True}
    of_words = {"vocab_size": size.vocabulary, "decoder_vocab_size": size.vocabulary, "tie_word_embeddings": True}
    config = {"model_type": "marian", "architectures": ["MarianMTModel"], "d_model": size.hidden}
    write_json(folder / "config.json", config | {"max_position_embeddings": POSITIONS} | form | of_words | sides | ids)
    random = np.random.default_rng(1)
    tensors = {
        name: (0.05 * random.standard_normal(shape) + name.endswith("norm.weight")).astype(np.float32)
        for name, shape in _shapes(size).items()
    }
    tensors["model.shared.weight"][pad] = 0
    write_safetensors(folder / "model.safetensors", tensors)


def _shapes(size: Size) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {"model.shared.weight": (size.vocabulary, size.hidden)}
    shapes["final_logits_bias"] = (1, size.vocabulary)
    for side, attentions in (("encoder", ["self_attn"]), ("decoder", ["self_attn", "encoder_attn"])):
        for index in range(size.layers):
            layer = f"model.{side}.layers.{index}"
            linears = {"fc1": (size.intermediate, size.hidden), "fc2": (size.hidden, size.intermediate)}
            for name in attentions:
                linears |= {f"{name}.{part}_proj": (size.hidden, size.hidden) for part in "qkv"}
                linears[f"{name}.out_proj"] = (size.hidden, size.hidden)
            for name, shape in linears.items():
                shapes |= {f"{layer}.{name}.weight": shape, f"{layer}.{name}.bias": shape[:1]}
            for name in (*attentions, "final"):
                norm = f"{layer}.{name}_layer_norm"
                shapes |= {f"{norm}.weight": (size.hidden,), f"{norm}.bias": (size.hidden,)}
    return shapes


if __name__ == "__main__":
    write_folder(Path(sys.argv[2]), SIZES[sys.argv[1]])
