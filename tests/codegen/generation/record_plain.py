# SPDX-License-Identifier: Apache-2.0
"""Writes tiny random transformers of the textbooks, and what the module of tools/train/plain writes for ids and texts.

    python tests/codegen/generation/record_plain.py [--out DIR]

Needs torch 2.15.0, tokenizers and numpy. Weights are stored in float16; the module computes in float64.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

HERE = Path(__file__).resolve().parent
TRAIN = HERE.parents[2] / "tools" / "train"
for _place in (HERE.parent / "recorded", HERE.parent, TRAIN, TRAIN / "plain"):
    sys.path.insert(1, str(_place))
from common.checkpoint import write_json  # noqa: E402 - of a folder above
from folder import read_translator, write_translator  # noqa: E402 - of a folder above
from random_weights import randomize  # noqa: E402 - of a folder above
from translator import Transformer, TranslatorShape  # noqa: E402 - of a folder above

MAX_TARGET, LOGITS = 17, 5
PAD, BEGIN, END, UNKNOWN = range(4)
_SPECIAL = ("[PAD]", "[BEGIN]", "[END]", "[UNK]")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
SOURCE = (*_SPECIAL, *_LETTERS, *(f"##{letter}" for letter in _LETTERS), "the", "cat", "and", "hat", "dog", ".", ",")
TARGET = (*_SPECIAL, "die", "katze", "und", "hut", "hund", "er", "##e", "##n", "##er", "ein", ".", "\u00fc", "##st")
SIZES = {"hidden_size": 20, "num_heads": 4, "intermediate_size": 37, "max_positions": 24}
VARIANTS: dict[str, TranslatorShape] = {
    "course": TranslatorShape(len(SOURCE), len(TARGET), **SIZES, num_encoder_layers=2, num_decoder_layers=2),
    "paper": TranslatorShape(len(SOURCE), len(SOURCE), **SIZES, num_encoder_layers=1, num_decoder_layers=2, tied=True),
    "pre": TranslatorShape(
        len(SOURCE),
        len(TARGET),
        **(SIZES | {"num_heads": 2, "hidden_size": 22}),
        num_encoder_layers=2,
        num_decoder_layers=1,
        positions="learned",
        scale_embedding=False,
        norm="pre",
        activation="gelu",
        bias=False,
        layer_norm_eps=1e-6,
    ),
}
SEEDS = {"course": 10, "paper": 10, "pre": 6369}  # with which tokens change
TEXTS = (
    *("The cat and the hat", "a", "", "dog, dog.", "\u00dcber 1 \u732b!"),
    "the dog and the cat and the hat and the other dog, and so on.",
)


def tokenizer_of(pieces: tuple[str, ...]) -> Tokenizer:
    """WordPiece over these pieces, a begin and an end around a text."""
    model = models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]")
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(list(_SPECIAL))
    single = "[BEGIN] $A [END]"
    special = [("[BEGIN]", BEGIN), ("[END]", END)]
    tokenizer.post_processor = processors.TemplateProcessing(single, f"{single} $B:1 [END]:1", special)
    return tokenizer


def record(folder: Path, name: str, seed: int) -> None:
    """Writes the folder of one variant."""
    shape = VARIANTS[name]
    model = Transformer(shape)
    randomize(model, seed)
    if shape.scale_embedding:  # so that words are no larger than positions
        with torch.no_grad():
            for table in (module for module in model.modules() if isinstance(module, torch.nn.Embedding)):
                table.weight *= shape.hidden_size**-0.5
    write_translator(folder, model, BEGIN, END)
    source, target = tokenizer_of(SOURCE), tokenizer_of(TARGET)
    for tokenizer, place in ((source, folder), (target, folder / "target")):
        if tokenizer is source or not shape.tied:
            place.mkdir(exist_ok=True)
            tokenizer.save(str(place / "tokenizer.json"), pretty=False)
            write_json(place / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast"})
    double = read_translator(folder)[0].double()
    random = np.random.default_rng(seed + 1)
    items = []
    for length in (1, 2, 5, 11, 24):
        ids = random.integers(END + 1, shape.vocab_size, length).tolist()
        written = double.translate(ids, BEGIN, END, MAX_TARGET)
        rows = [[float(f"{value:.12g}") for value in row] for row in _logits(double, ids, written)[:LOGITS]]
        items.append(f'  {{"ids": {ids}, "written": {written},\n   "logits": {json.dumps(rows)}}}')
    lines, of = ",\n".join(items), f"tools/train/plain/translator.py, torch {torch.__version__.partition('+')[0]}"
    text = f'{{"source": "{of}", "max_target": {MAX_TARGET},\n "outputs": [\n{lines}\n]}}\n'
    (folder / "recorded.json").write_text(text, encoding="utf-8")
    texts = []
    for prompt in TEXTS:
        source.enable_truncation(shape.max_positions)
        ids = source.encode(prompt).ids
        written = double.translate(ids, BEGIN, END, shape.max_positions - 1)
        best = np.sort(_logits(double, ids, written), axis=1)
        shown = (source if shape.tied else target).decode(written, skip_special_tokens=True)
        margin = round(float((best[:, -1] - best[:, -2]).min()), 6)
        texts.append({"prompt": prompt, "ids": ids, "written": written, "text": shown, "margin": margin})
    lines = ",\n ".join(json.dumps(text, ensure_ascii=False) for text in texts)
    (folder / "texts.json").write_text(f"[{lines}]\n", encoding="utf-8")


@torch.inference_mode()
def _logits(model: Transformer, ids: list[int], written: list[int]) -> np.ndarray:
    """Of every step."""
    source = torch.tensor([ids])
    return model(source, torch.ones_like(source).bool(), torch.tensor([[BEGIN, *written[:-1]]]))[0].numpy()


def main() -> None:
    """Records all variants."""
    parser = argparse.ArgumentParser(description="Records what the module of tools/train/plain writes.")
    parser.add_argument("--out", type=Path, default=HERE, metavar="DIR")
    arguments = parser.parse_args()
    for name in VARIANTS:
        folder = arguments.out / "transformer" / name
        folder.mkdir(parents=True, exist_ok=True)
        record(folder, name, SEEDS[name])


if __name__ == "__main__":
    main()
