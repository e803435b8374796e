# SPDX-License-Identifier: Apache-2.0
"""Masked language models that weigh the words of their vocabulary, as `sentence-transformers` saves them: SPLADE."""

from __future__ import annotations

import copy
import json
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
import sentence_transformers
import torch
from family_specials import SPECIALS
from head_model import write_cases
from library_models import attention_of, build, max_tokens
from numpy.typing import NDArray
from outputs import Tokens, write_recorded
from published_settings import EURO_IDS, MODERN_IDS
from sentence_transformers import SparseEncoder
from sentence_transformers.base.modules import Router, Transformer
from sentence_transformers.sparse_encoder.modules import MLMTransformer, SparseStaticEmbedding, SpladePooling
from sentence_variants import inputs_of, write_encoder
from token_ids import BERT, some_tokens
from unrounded import unrounded
from variant_shapes import Variant, bert_like, distilbert

TEXTS = ("the cat sat on the mat", "", "what is up, dogs of Caf\u00e9 zzz", "the price of oil is up and the cats " * 4)


@dataclass(frozen=True)
class Sparse:
    """A masked language model, and what follows its logits."""

    model: Variant
    pooling: str
    activation: str
    legacy: bool = False  # saved as version 5 does
    # Whether a table weighs queries, and where the model of documents then lies: in the folder of its route, or beside
    # modules.json.
    routed: Literal["inside", "at the top"] | None = None
    query_tokens: int | None = None  # at which queries are cut


VARIANTS: dict[str, Sparse] = {
    "sparse/bert": Sparse(bert_like("Bert", 0, (20, 5, 1, 37, 20)), "max", "relu", legacy=True),
    "sparse/distilbert": Sparse(distilbert(0, (21, 3, 2, 19, 24), activation="relu"), "max", "log1p_relu"),
    "sparse/roberta": Sparse(bert_like("Roberta", 0, (20, 4, 2, 35, 16 + 2), type_vocab_size=1), "sum", "relu"),
    "sparse/modernbert": Sparse(
        bert_like("ModernBert", 0, (20, 5, 3, 23, 16), **MODERN_IDS, local_attention=6), "sum", "log1p_relu"
    ),
    "sparse/routed": Sparse(
        bert_like("Bert", 0, (20, 5, 1, 37, 20)), "max", "log1p_relu", routed="inside", query_tokens=7
    ),
    "sparse/routed_top": Sparse(
        bert_like("Roberta", 0, (20, 4, 1, 35, 16 + 2), type_vocab_size=1), "max", "relu", True, "at the top", 14
    ),
    "sparse/eurobert": Sparse(bert_like("EuroBert", 0, (20, 5, 1, 23, 16), **EURO_IDS), "max", "relu"),
}


def record(folder: Path, name: str, seed: int) -> None:
    """Writes the folder of one variant."""
    variant = VARIANTS[name]
    family = "roberta" if name == "sparse/routed_top" else name.partition("/")[2]
    specials = SPECIALS.get(family, BERT)
    model_class = f"{variant.model.model.removesuffix('ForSequenceClassification')}ForMaskedLM"
    encoder = build(model_class, specials, variant.model.config, seed)
    limit = max_tokens(encoder.config)
    with TemporaryDirectory() as place:
        write_encoder(Path(place), encoder, specials, limit)
        transformer = MLMTransformer(place) if variant.legacy else Transformer(place, transformer_task="fill-mask")
        pooling = SpladePooling(variant.pooling, activation_function=variant.activation)
        modules = [transformer, pooling]
        if variant.routed is not None:
            modules = [Router.for_query_document([table(transformer, seed, variant.query_tokens)], modules)]
        whole = SparseEncoder(modules=modules, device="cpu")
        whole.half().save_pretrained(str(folder), create_model_card=False)
    if variant.routed == "at the top":
        move_up(folder)
    if variant.legacy:
        (folder / "sentence_bert_config.json").write_text(f'{{"max_seq_length": {limit}}}\n')

    def of_type(dtype: torch.dtype) -> SparseEncoder:
        kwargs = {"dtype": dtype, "attn_implementation": attention_of(encoder.config)}
        return SparseEncoder(str(folder), device="cpu", local_files_only=True, model_kwargs=kwargs).to(dtype).eval()

    single, double = of_type(torch.float32), of_type(torch.float64)

    def weights(model: SparseEncoder, text: Tokens) -> NDArray[np.floating]:
        with torch.inference_mode(), nullcontext() if model is single else unrounded(model):
            return model(inputs_of(text, specials))["sentence_embedding"][0].numpy()

    source = f"{model_class} in SparseEncoder of sentence-transformers {sentence_transformers.__version__}"
    shortest, *texts = list(some_tokens(seed, limit, specials))[:4]
    texts = [shortest, *texts[-(200 // len(whole.tokenizer)) - 1 :]]  # each has a value for every entry
    write_recorded(folder, source, texts, lambda text: weights(single, text), lambda text: weights(double, text))
    write_cases(folder, [_of_text(single, text, variant.routed is not None) for text in TEXTS])


def table(transformer: Transformer, seed: int, tokens: int | None) -> SparseStaticEmbedding:
    """Weights of the tokens of queries, which its tokenizer cuts at so many; those of some are 0."""
    tokenizer = copy.deepcopy(transformer.tokenizer)
    if tokens is not None:
        tokenizer.model_max_length = tokens
    weights = np.random.default_rng(seed).gamma(2.0, 1.5, transformer.config.vocab_size)
    weights[::5] = 0
    return SparseStaticEmbedding(tokenizer, torch.tensor(weights, dtype=torch.float32), frozen=True)


def move_up(folder: Path) -> None:
    """Puts the model of documents beside modules.json, as published folders have it."""
    file = folder / "router_config.json"
    values = json.loads(file.read_text(encoding="utf-8"))
    inside = values["structure"]["document"][0]
    values["types"] = {"" if path == inside else path: kind for path, kind in values["types"].items()}
    values["structure"]["document"][0] = ""
    file.write_text(json.dumps(values, indent=4), encoding="utf-8")
    for path in sorted((folder / inside).iterdir()):
        path.rename(folder / path.name)
    (folder / inside).rmdir()


def _of_text(model: SparseEncoder, text: str, routed: bool) -> dict[str, Any]:
    """What the library makes of a text: ids and weights, the largest first; where queries are read otherwise, as a
    query, too, if it can."""
    found = {"text": text, "weights": _largest(model.encode_document([text], convert_to_sparse_tensor=False)[0])}
    if routed and text:
        found["query"] = _largest(model.encode_query([text], convert_to_sparse_tensor=False)[0])
    return found


def _largest(weights: torch.Tensor) -> list[list[Any]]:
    row = weights.numpy()
    order = [int(i) for i in np.argsort(-row, kind="stable") if row[i] > 0]
    return [[i, float(f"{row[i]:.6g}")] for i in order]
