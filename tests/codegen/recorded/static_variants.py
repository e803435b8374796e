# SPDX-License-Identifier: Apache-2.0
"""StaticEmbedding folders, as `sentence-transformers` saves them, as it did in a folder of its own, and as model2vec
0.10 writes them (`save_pretrained`): with a configuration, other names, and a tokenizer that puts nothing around texts.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import sentence_transformers
import torch
from numpy.typing import NDArray
from outputs import Tokens, write_recorded
from random_weights import randomize
from safetensors.numpy import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tiny_checkpoint import write_json
from token_ids import BERT, FIRST_WORD, WORDS, XLM_ROBERTA, Specials
from tokenizers import Tokenizer
from torch import nn
from transformers import AutoTokenizer
from vocabularies import write_tokenizer

TOKENS = 20  # of the longest text; none of the modules has a limit
SHARED_ROWS = 23
MODEL2VEC_CONFIG = {
    "model_type": "model2vec",
    "architectures": ["StaticModel"],
    "tokenizer_name": "tiny",
    "apply_pca": 18,
    "hidden_dim": 18,
    "seq_length": 1_000_000,
    "normalize": True,
    "max_length": TOKENS,
    "embedding_dtype": "float16",
}


@dataclass(frozen=True)
class Static:
    """The width of the table, its tokenizer, and the modules behind it."""

    width: int
    specials: Specials
    modules: tuple[Callable[[], nn.Module], ...]


VARIANTS: dict[str, Static] = {
    "static_embedding/mean": Static(21, BERT, (Normalize,)),
    "static_embedding/dense": Static(24, XLM_ROBERTA, (lambda: Dense(24, 13), lambda: Dense(13, 17, bias=False))),
    "static_embedding/model2vec": Static(18, BERT, (Normalize,)),
    "static_embedding/shared": Static(19, BERT, (Normalize,)),
}


def record(folder: Path, name: str, seed: int) -> None:
    """Writes the folder of one variant."""
    variant = VARIANTS[name]
    tokenizer = tokenizer_of(variant.specials)
    modules = [StaticEmbedding(tokenizer, embedding_dim=variant.width), *(make() for make in variant.modules)]
    for module in modules:
        randomize(module, seed)
    whole = SentenceTransformer(modules=modules, device="cpu")
    whole.half().save_pretrained(str(folder), create_model_card=False)
    changes = {"dense": in_its_own_folder, "model2vec": as_model2vec, "shared": with_shared_rows}
    changes.get(folder.name, lambda _: None)(folder)

    def run(dtype: torch.dtype) -> Callable[[Tokens], NDArray[np.floating]]:
        model = SentenceTransformer(str(folder), device="cpu", local_files_only=True).to(dtype).eval()

        def embed(text: Tokens) -> NDArray[np.floating]:
            inputs = {"input_ids": torch.tensor(text.ids), "offsets": torch.tensor([0])}
            with torch.inference_mode():
                return model(inputs)["sentence_embedding"][0].numpy()

        return embed

    source = f"StaticEmbedding in SentenceTransformer of sentence-transformers {sentence_transformers.__version__}"
    texts = list(some_words(seed, variant.specials.unknown))
    write_recorded(folder, source, texts, run(torch.float32), run(torch.float64))


def tokenizer_of(specials: Specials) -> Tokenizer:
    """That of `tokenizers` that the family's class has."""
    with TemporaryDirectory() as place:
        write_tokenizer(Path(place), specials, TOKENS)
        return AutoTokenizer.from_pretrained(place, local_files_only=True).backend_tokenizer


def some_words(seed: int, unknown: int) -> Iterator[Tokens]:
    """Texts of one token to the most; nothing stands around them."""
    random = np.random.default_rng(seed)
    for count in (1, 2, 5, 11, TOKENS):
        ids = random.integers(FIRST_WORD, FIRST_WORD + WORDS, count)
        ids[random.random(count) < 0.2] = unknown
        yield Tokens(ids.tolist(), [0] * count)


def in_its_own_folder(folder: Path) -> None:
    """As version 3 saved the module, whose tokenizer cuts texts."""
    path = "0_StaticEmbedding"
    (folder / path).mkdir()
    for name in ("model.safetensors", "tokenizer.json"):
        (folder / name).rename(folder / path / name)
    described = json.loads((folder / path / "tokenizer.json").read_text(encoding="utf-8"))
    cut = {"direction": "Right", "max_length": TOKENS, "strategy": "LongestFirst", "stride": 0}
    write_json(folder / path / "tokenizer.json", described | {"truncation": cut})
    items = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    items[0] |= {"path": path, "type": "sentence_transformers.models.StaticEmbedding"}
    write_json(folder / "modules.json", items)


def as_model2vec(folder: Path) -> None:
    """With its configuration, tensor and modules."""
    table = load_file(folder / "model.safetensors")["embedding.weight"]
    save_file({"embeddings": table}, folder / "model.safetensors")
    described = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    write_json(folder / "tokenizer.json", described | {"post_processor": None})
    write_json(folder / "config.json", MODEL2VEC_CONFIG)
    names = {"StaticEmbedding": ".", "Normalize": "1_Normalize"}
    kinds = [{"idx": i, "name": str(i), "path": path} for i, path in enumerate(names.values())]
    items = [each | {"type": f"sentence_transformers.models.{name}"} for each, name in zip(kinds, names, strict=True)]
    write_json(folder / "modules.json", items)
    (folder / "config_sentence_transformers.json").unlink()
    shutil.rmtree(folder / "1_Normalize")


def with_shared_rows(folder: Path) -> None:
    """As model2vec writes a vocabulary that it has quantized: several tokens have one row, times factors of their
    own. It fits the rows by scikit-learn; here every token has the row of one of the first few."""
    as_model2vec(folder)
    table = load_file(folder / "model.safetensors")["embeddings"]
    random = np.random.default_rng(len(table))
    rows = random.integers(0, SHARED_ROWS, len(table)).astype(np.int32)
    weights = random.uniform(0.5, 2, len(table)).astype(np.float32)
    tensors = {"embeddings": table[:SHARED_ROWS], "mapping": rows, "weights": weights}
    save_file(tensors, folder / "model.safetensors")
    write_json(folder / "config.json", MODEL2VEC_CONFIG | {"vocabulary_quantization": SHARED_ROWS})
