# SPDX-License-Identifier: Apache-2.0
"""Masked language models that weigh the words of their vocabulary, as `sentence-transformers` saves them: SPLADE."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

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
from sentence_transformers.base.modules import Transformer
from sentence_transformers.sparse_encoder.modules import MLMTransformer, SpladePooling
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


VARIANTS: dict[str, Sparse] = {
    "sparse/bert": Sparse(bert_like("Bert", 0, (20, 5, 1, 37, 20)), "max", "relu", legacy=True),
    "sparse/distilbert": Sparse(distilbert(0, (21, 3, 2, 19, 24), activation="relu"), "max", "log1p_relu"),
    "sparse/roberta": Sparse(bert_like("Roberta", 0, (20, 4, 2, 35, 16 + 2), type_vocab_size=1), "sum", "relu"),
    "sparse/modernbert": Sparse(
        bert_like("ModernBert", 0, (20, 5, 3, 23, 16), **MODERN_IDS, local_attention=6), "sum", "log1p_relu"
    ),
    "sparse/eurobert": Sparse(bert_like("EuroBert", 0, (20, 5, 1, 23, 16), **EURO_IDS), "max", "relu"),
}


def record(folder: Path, name: str, seed: int) -> None:
    """Writes the folder of one variant."""
    variant = VARIANTS[name]
    specials = SPECIALS.get(name.partition("/")[2], BERT)
    model_class = f"{variant.model.model.removesuffix('ForSequenceClassification')}ForMaskedLM"
    encoder = build(model_class, specials, variant.model.config, seed)
    limit = max_tokens(encoder.config)
    with TemporaryDirectory() as place:
        write_encoder(Path(place), encoder, specials, limit)
        transformer = MLMTransformer(place) if variant.legacy else Transformer(place, transformer_task="fill-mask")
        pooling = SpladePooling(variant.pooling, activation_function=variant.activation)
        whole = SparseEncoder(modules=[transformer, pooling], device="cpu")
        whole.half().save_pretrained(str(folder), create_model_card=False)
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
    write_cases(folder, [_of_text(single, text) for text in TEXTS])


def _of_text(model: SparseEncoder, text: str) -> dict[str, Any]:
    """What the library makes of a text: ids and weights, the largest first."""
    row = model.encode([text], convert_to_sparse_tensor=False)[0].numpy()
    order = [int(i) for i in np.argsort(-row, kind="stable") if row[i] > 0]
    return {"text": text, "weights": [[i, float(f"{row[i]:.6g}")] for i in order]}
