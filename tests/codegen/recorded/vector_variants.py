# SPDX-License-Identifier: Apache-2.0
"""Models that give a vector for each token, as `MultiVectorEncoder` of `sentence-transformers` defines and saves them,
or as it reads what PyLate has saved; and what it makes of texts: their vectors as queries and as documents, and MaxSim.

recorded.json has documents by their token ids, texts.json texts behind their prompts, in float64."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import sentence_transformers
import torch
from family_specials import specials_of
from library_models import MPNET_OFFSET, attention_of, build, max_tokens
from numpy.typing import NDArray
from outputs import Tokens, write_recorded
from published_settings import MODERN_IDS
from random_weights import randomize
from safetensors.torch import load_file, save_file
from sentence_transformers import MultiVectorEncoder
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
from sentence_variants import BERT_SIZES, inputs_of, write_encoder
from tiny_checkpoint import write_json
from token_ids import some_tokens
from torch import nn
from unrounded import unrounded

QUERIES = ("what is the good news?", "", "cats of Berlin, playing [MASK] dogs", "the " * 20 + "cat")
DOCUMENTS = ("the cat sat on the mat.", "", "Caf\u00e9: the news of, Berlin!", "a dog. " * 12)
TEXTS_FILE = "texts.json"
ROWS = "token_embeddings"


@dataclass(frozen=True)
class Vectors:
    """A bare encoder, how its texts are read, and what follows it."""

    model: str
    config: dict[str, Any]
    widths: tuple[int, ...] = (6,)  # of the linears
    transformer: dict[str, Any] = field(default_factory=dict)
    mask: dict[str, Any] | None = field(default_factory=dict)
    normalize: bool = True
    prompts: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] | None = None  # of config_sentence_transformers.json, as PyLate writes it
    metadata: dict[str, Any] | None = None  # of artifact.metadata, as ColBERT's own code writes it


def expansion(length: int, strategy: str = "fixed", **others: Any) -> dict[str, Any]:
    """The setting that fills queries up."""
    return {"query_expansion": {"strategy": strategy, "length": length, **others}}


ROBERTA_SIZES = BERT_SIZES | {"max_position_embeddings": 16 + 2, "type_vocab_size": 1}
VECTORS: dict[str, Vectors] = {
    "vectors/bert": Vectors(
        "BertModel",
        BERT_SIZES,
        transformer={"document_length": 12} | expansion(9),
        mask={"skiplist_words": [".", "of", "absent"]},
        prompts={"query": "what: ", "document": "is "},
    ),
    "vectors/bert_min": Vectors(
        "BertModel",
        BERT_SIZES | {"hidden_size": 10},
        widths=(),
        transformer={"query_length": 11} | expansion(7, "min", token="[UNK]"),
        mask={"skiplist_words": [",", "[MASK]"], "skiplist_tasks": ["query", "document"]},
        normalize=False,
        prompts={"query": "how "},
    ),
    "vectors/modernbert": Vectors(
        "ModernBertModel",
        BERT_SIZES | MODERN_IDS | {"num_hidden_layers": 3, "local_attention": 14},
        widths=(11, 8),
        transformer=expansion(8),
        mask={"skiplist_words": ["."]},
    ),
    "vectors/distilbert": Vectors(
        "DistilBertModel",
        {"dim": 22, "n_heads": 2, "n_layers": 1, "hidden_dim": 31, "max_position_embeddings": 14},
        transformer=expansion(10, attend=True),
        normalize=False,
    ),
    "vectors/mpnet": Vectors(
        "MPNetModel",
        BERT_SIZES | {"max_position_embeddings": 16 + MPNET_OFFSET},
        transformer=expansion(12, "min"),
    ),
    "vectors/roberta": Vectors(
        "RobertaModel", ROBERTA_SIZES, transformer={"query_length": 7, "document_length": 10}, mask=None
    ),
    "vectors/pylate": Vectors(
        "BertModel",
        BERT_SIZES,
        settings={
            "model_type": "ColBERT",
            "query_prefix": "sat ",
            "document_prefix": "ran ",
            "query_length": 8,
            "document_length": 14,
            "attend_to_expansion_tokens": False,
            "do_query_expansion": True,
            "prompts": {"query": "what ", "document": ""},
        },
    ),
    "vectors/pylate_attends": Vectors(
        "BertModel",
        BERT_SIZES,
        settings={
            "query_prefix": "##ing ",
            "document_prefix": "[MASK] ",
            "document_length": 13,
            "query_length": 9,
            "attend_to_expansion_tokens": True,
            "skiplist_words": ["the"],
        },
    ),
    "vectors/stanford": Vectors(
        "BertModel",
        BERT_SIZES,
        metadata={
            "query_token_id": "##ing",
            "doc_token_id": "[MASK]",
            "query_maxlen": 9,
            "doc_maxlen": 15,
            "mask_punctuation": True,
            "attend_to_mask_tokens": False,
            "similarity": "cosine",
        },
    ),
}
VARIANTS = tuple(VECTORS)


def record(folder: Path, name: str, seed: int) -> None:
    """Writes the folder of one variant."""
    variant, specials = VECTORS[name], specials_of(name.removeprefix("vectors/"))
    encoder = build(variant.model, specials, variant.config, seed)
    limit = max_tokens(encoder.config)
    with TemporaryDirectory() as place:
        write_encoder(Path(place), encoder, specials, limit)
        modules = [Transformer(place, **variant.transformer), *_modules(variant, encoder.config.hidden_size, seed)]
        whole = MultiVectorEncoder(modules=modules, prompts=variant.prompts, device="cpu")
        whole.half().save_pretrained(str(folder), create_model_card=False)
    encoder.save_pretrained(folder)  # without the pooler that the library adds
    if variant.settings is not None:
        as_pylate(folder, variant.settings, len(variant.widths))
    if variant.metadata is not None:
        as_stanford(folder, variant.metadata)
    kwargs = {"attn_implementation": attention_of(encoder.config)}

    def load(dtype: torch.dtype) -> MultiVectorEncoder:
        loaded = MultiVectorEncoder(
            str(folder), device="cpu", local_files_only=True, model_kwargs={"dtype": dtype, **kwargs}
        )
        return loaded.to(dtype).eval()

    def run(dtype: torch.dtype) -> Callable[[Tokens], NDArray[np.floating]]:
        model = load(dtype)

        def document(text: Tokens) -> NDArray[np.floating]:
            with torch.inference_mode(), nullcontext() if dtype is torch.float32 else unrounded(model):
                found = model(inputs_of(text, specials), task="document")
            return found[ROWS][0][found["attention_mask"][0].bool()].numpy()

        return document

    source = f"{variant.model} in MultiVectorEncoder of sentence-transformers {sentence_transformers.__version__}"
    texts = [text for text in some_tokens(seed, limit, specials) if not any(text.segments)]
    write_recorded(folder, source, texts, run(torch.float32), run(torch.float64))
    _write_texts(folder, load(torch.float64))


def _modules(variant: Vectors, width: int, seed: int) -> list[nn.Module]:
    made: list[nn.Module] = []
    for inputs, outputs in zip((width, *variant.widths), variant.widths, strict=False):
        linear = Dense(inputs, outputs, bias=False, activation_function=nn.Identity(), module_input_name=ROWS)
        randomize(linear, seed + 1)
        made.append(linear)
    own = variant.settings is None and variant.metadata is None
    if own and variant.mask is not None:
        made.append(MultiVectorMask(**variant.mask))
    if own and variant.normalize:
        made.append(Normalize(ROWS))
    return made


def as_pylate(folder: Path, settings: dict[str, Any], linears: int) -> None:
    """As PyLate names its modules, a Transformer and so many linears, and places its settings."""
    write_json(folder / "config_sentence_transformers.json", settings)
    places = [("", "sentence_transformers.models.Transformer")]
    places += [(f"{i}_Dense", "pylate.models.Dense.Dense") for i in range(1, linears + 1)]
    write_json(
        folder / "modules.json",
        [{"idx": i, "name": str(i), "path": path, "type": name} for i, (path, name) in enumerate(places)],
    )
    for path, _ in places[1:]:
        dense = folder / path / "config.json"
        values = json.loads(dense.read_text(encoding="utf-8"))
        write_json(dense, {key: values[key] for key in ("in_features", "out_features", "bias", "activation_function")})
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": settings["document_length"] - 1})


def as_stanford(folder: Path, metadata: dict[str, Any]) -> None:
    """The linear beside the encoder's weights, no modules."""
    encoder, linear = (load_file(folder / place / "model.safetensors") for place in ("", "1_Dense"))
    tensors = {f"bert.{name}": tensor for name, tensor in encoder.items()} | linear
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    shutil.rmtree(folder / "1_Dense")
    for name in ("modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"):
        (folder / name).unlink()
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    write_json(folder / "config.json", config | {"architectures": ["HF_ColBERT"]})
    write_json(folder / "artifact.metadata", metadata)


def _write_texts(folder: Path, model: MultiVectorEncoder) -> None:
    """Texts of both sides, and the score of each query with each document."""
    with torch.inference_mode(), unrounded(model):
        sides = {
            "query": (QUERIES, [model.encode_query(text) for text in QUERIES]),
            "document": (DOCUMENTS, [model.encode_document(text) for text in DOCUMENTS]),
        }
        scores = [
            [float((query @ document.T).max(dim=1).values.sum()) for document in sides["document"][1]]
            for query in sides["query"][1]
        ]
    found = {side: [[text, rows.tolist()] for text, rows in zip(*pair, strict=True)] for side, pair in sides.items()}
    (folder / TEXTS_FILE).write_text(json.dumps({**found, "scores": scores}, indent=0) + "\n", encoding="utf-8")
