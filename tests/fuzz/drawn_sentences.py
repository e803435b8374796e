# SPDX-License-Identifier: Apache-2.0
"""Random modules of `sentence-transformers` behind an encoder, the folders as it or PyLate or ColBERT's own code writes
them, and random changes of their settings: usual, rare, some that etch refuses."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from random_weights import randomize
from sentence_transformers import MultiVectorEncoder, SparseEncoder
from sentence_transformers.base.modules import Dense, Normalize, Router, Transformer
from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
from sentence_transformers.sparse_encoder.modules import MLMTransformer, SpladePooling
from sparse_variants import move_up, table
from torch import nn
from transformers import AutoModel
from vector_variants import ROWS, Vectors, as_pylate, as_stanford

SPARSE = ("sparse", "routed")  # the second one weighs queries by a table
KINDS = (*SPARSE, "vectors", "pylate", "stanford")
_SETTINGS, _TRANSFORMER = "config_sentence_transformers.json", "sentence_bert_config.json"
_WORDS = ("the", ".", ",", "of", "absent", "[MASK]", "<mask>", "cat", "a")
_PROMPTS = ("", "what ", "the: ", "of a ", "[MASK] ")
_FUNCTIONS = (nn.Identity, nn.Identity, nn.Tanh, nn.ReLU, nn.GELU, nn.SiLU, nn.Sigmoid)
_LENGTHS = (None, None, 5, 8, 11, 13)
# By the end of a file's path and by key: other values, of which one is put there or which is taken away.
_EDITS: dict[str, dict[str, tuple[Any, ...]]] = {
    "SpladePooling/config.json": {
        "pooling_strategy": ("max", "sum", "mean", None),
        "activation_function": ("relu", "log1p_relu", "gelu", None),
        "embedding_dimension": (7, None),
        "word_embedding_dimension": (7, None),
        "chunk_size": (0, 3, None),
    },
    "MultiVectorMask/config.json": {
        "skiplist_words": (None, [], ["the"], [".", "absent"], list(_WORDS), "the"),
        "skiplist_tasks": (None, [], "query", ["query"], ["query", "document"], ["other"]),
        "keep_only_token_ids": (None, [], [7, 8]),
    },
    "Normalize/config.json": {
        "module_input_name": ("token_embeddings", "sentence_embedding", None),
        "module_output_name": ("token_embeddings", None),
    },
    "Dense/config.json": {
        "activation_function": ("torch.nn.modules.activation.ReLU", "torch.nn.Identity", "torch.nn.Softplus"),
        "bias": (True, False),
        "use_residual": (True, False),
        "module_input_name": ("token_embeddings", "sentence_embedding"),
        "module_output_name": ("token_embeddings", "other", None),
    },
    _TRANSFORMER: {
        "max_seq_length": (None, 3, 7, 12, 2000),
        "do_lower_case": (True, False),
        "transformer_task": ("fill-mask", "feature-extraction"),
        "module_output_name": ("token_embeddings", "other"),
        "unpad_inputs": (None, True, False),
        "query_length": (None, 6, 9, 30),
        "document_length": (None, 6, 9, 30),
        "query_expansion": (
            None,
            {"strategy": "fixed", "length": 7},
            {"strategy": "min", "length": 6, "attend": True},
            {"strategy": "min", "length": 5, "token": "[UNK]"},
            {"strategy": "fixed", "length": 9, "attend": False, "token": None},
            {"strategy": "max", "length": 4},
        ),
    },
    "SparseStaticEmbedding/config.json": {
        "frozen": (True, False),
        "path": ("idf.json", "other", None),
    },
    "SparseStaticEmbedding/tokenizer_config.json": {
        "model_max_length": (2, 5, 9, 1000, 10**30),
    },
    "router_config.json": {
        "parameters": (
            {},
            {"default_route": "query"},
            {"default_route": None, "route_mappings": {}},
            {"route_mappings": {"(None, 'text')": "query"}},
            {"route_mappings": {"('query', None)": "document"}},
        ),
    },
    _SETTINGS: {
        "max_active_dims": (None, 3, 20),
        "similarity_fn_name": (None, "dot", "cosine", "maxsim", "meanmaxsim"),
        "prompts": ({}, {"query": "what ", "document": "the "}, {"passage": "of "}, {"query": "", "corpus": "a "}),
        "default_prompt_name": (None, "query"),
        "model_type": (None, "SparseEncoder", "MultiVectorEncoder", "ColBERT", "SentenceTransformer"),
        "truncate_dim": (None, 4),
        "query_prefix": ("what ", "cat ", None),
        "document_prefix": ("the ", "[MASK] "),
        "query_length": (7, 12, None),
        "document_length": (7, 12, None),
        "attend_to_expansion_tokens": (True, False),
        "do_query_expansion": (True, False, None),
        "skiplist_words": (None, [], ["the"], list(_WORDS)),
    },
    "artifact.metadata": {
        "query_token_id": ("[MASK]", "the", "absent", None),
        "doc_token_id": ("[MASK]", "cat", "", None),
        "query_maxlen": (5, 9, 40, None),
        "doc_maxlen": (6, 11, 60, None),
        "mask_punctuation": (True, False, None),
        "attend_to_mask_tokens": (True, False, None),
        "similarity": ("cosine", "l2"),
    },
}


@dataclass(frozen=True)
class Drawn:
    """What stands behind an encoder, and how texts are read."""

    kind: str
    pooling: str = "max"
    activation: str = "relu"
    legacy: bool = False
    linears: tuple[tuple[int, bool, type[nn.Module]], ...] = ()  # outputs, bias, activation
    vectors: Vectors = Vectors("", {})  # noqa: RUF009 - frozen


def draw(source: random.Random, kind: str) -> Drawn:
    if kind in SPARSE:
        pooling, activation = source.choice(SpladePooling.SPLADE_POOLING_MODES), source.choice(("relu", "log1p_relu"))
        return Drawn(kind, pooling, activation, source.random() < 0.5)
    count = 1 if kind == "stanford" else source.choice((0, 1, 1, 2))
    linears = tuple(
        (source.randrange(3, 20), kind == "vectors" and source.random() < 0.5, _function(source, kind))
        for _ in range(count)
    )
    words = source.sample(_WORDS, source.randrange(4))
    vectors = {
        "vectors": lambda: Vectors(
            "",
            {},
            transformer=_transformer(source),
            mask=_mask(source, words) if source.random() < 0.85 else None,
            normalize=source.random() < 0.7,
            prompts={
                name: source.choice(_PROMPTS)
                for name in source.sample(("query", "document", "passage"), source.randrange(4))
            },
        ),
        "pylate": lambda: Vectors("", {}, settings=_pylate(source, words)),
        "stanford": lambda: Vectors("", {}, metadata=_metadata(source)),
    }[kind]()
    return Drawn(kind, linears=linears, vectors=vectors)


def _function(source: random.Random, kind: str) -> type[nn.Module]:
    return source.choice(_FUNCTIONS) if kind == "vectors" else nn.Identity


def _transformer(source: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {"query_length": source.choice(_LENGTHS), "document_length": source.choice(_LENGTHS)}
    if source.random() < 0.7:
        made["query_expansion"] = {
            "strategy": source.choice(("fixed", "min")),
            "length": source.randrange(4, 13),
            "attend": source.random() < 0.4,
            "token": source.choice((None, None, "[UNK]", "[MASK]")),
        }
        if source.random() < 0.7:
            del made["query_length"]
    return {key: value for key, value in made.items() if value is not None}


def _mask(source: random.Random, words: list[str]) -> dict[str, Any]:
    return {"skiplist_words": words, "skiplist_tasks": source.choice((None, ["query", "document"], ["query"]))}


def _pylate(source: random.Random, words: list[str]) -> dict[str, Any]:
    """Some of the keys that PyLate writes, one that says so among them."""
    made = {
        "model_type": "ColBERT",
        "query_prefix": source.choice(("what ", "cat ", "[MASK] ", "")),
        "document_prefix": source.choice(("the ", "sat ", "")),
        "query_length": source.randrange(5, 14),
        "document_length": source.randrange(7, 16),
        "attend_to_expansion_tokens": source.random() < 0.5,
        "do_query_expansion": source.random() < 0.8,
        "skiplist_words": words,
        "prompts": {"query": source.choice(_PROMPTS), "document": source.choice(_PROMPTS)},
    }
    gone = source.sample(list(made), source.choice((0, 1, 3)))
    kept = {key: value for key, value in made.items() if key not in gone}
    return kept | {"document_length": made["document_length"]}


def _metadata(source: random.Random) -> dict[str, Any]:
    made = {
        "query_token_id": source.choice(("the", "cat", "[MASK]")),
        "doc_token_id": source.choice(("the", "sat", "[MASK]")),
        "query_maxlen": source.randrange(5, 13),
        "doc_maxlen": source.randrange(8, 16),
        "mask_punctuation": source.random() < 0.5,
        "attend_to_mask_tokens": source.random() < 0.4,
    }
    gone = source.sample(list(made), source.choice((0, 0, 1, 2)))
    return {key: value for key, value in made.items() if key not in gone}


def write(drawn: Drawn, bare: Path, folder: Path, seed: int) -> None:
    """The folder of all of it; `bare` has the encoder alone."""
    if drawn.kind in SPARSE:
        first = MLMTransformer(str(bare)) if drawn.legacy else Transformer(str(bare), transformer_task="fill-mask")
        pooling = SpladePooling(drawn.pooling, activation_function=drawn.activation)
        modules: list[nn.Module] = [first, pooling]
        if drawn.kind == "routed":
            modules = [Router.for_query_document([table(first, seed, 3 + seed % 9)], modules)]
        SparseEncoder(modules=modules, device="cpu").half().save_pretrained(str(folder), create_model_card=False)
        if drawn.kind == "routed" and seed % 2:
            move_up(folder)
        return
    encoder, vectors = AutoModel.from_pretrained(bare), drawn.vectors
    modules = [Transformer(str(bare), **vectors.transformer)]
    inputs = encoder.config.hidden_size
    for place, (outputs, bias, function) in enumerate(drawn.linears):
        linear = Dense(inputs, outputs, bias=bias, activation_function=function(), module_input_name=ROWS)
        randomize(linear, seed + place)
        modules.append(linear)
        inputs = outputs
    if drawn.kind == "vectors" and vectors.mask is not None:
        modules.append(MultiVectorMask(**vectors.mask))
    if drawn.kind == "vectors" and vectors.normalize:
        modules.append(Normalize(ROWS))
    whole = MultiVectorEncoder(modules=modules, prompts=vectors.prompts, device="cpu")
    whole.half().save_pretrained(str(folder), create_model_card=False)
    if vectors.settings is not None:
        as_pylate(folder, vectors.settings, len(drawn.linears))
    if vectors.metadata is not None:
        as_stanford(folder, vectors.metadata)


def edit(source: random.Random, folder: Path) -> str:
    """Changes settings; what was done."""
    done = []
    for _ in range(source.choice((0, 1, 1, 2, 3))):
        files = [
            (path, keys)
            for end, keys in _EDITS.items()
            for path in sorted(folder.rglob("*"))
            if path.relative_to(folder).as_posix().endswith(end)
        ]
        path, keys = source.choice(files)
        values = json.loads(path.read_text(encoding="utf-8"))
        key = source.choice(sorted(keys))
        where = f"{path.relative_to(folder).as_posix()} {key}"
        if source.random() < 0.2:
            values.pop(key, None)
            done.append(f"{where} away")
        else:
            values[key] = source.choice(keys[key])
            done.append(f"{where}: {values[key]!r}")
        path.write_text(json.dumps(values), encoding="utf-8")
    if source.random() < 0.1:
        done.append(_other_order(source, folder))
    return "; ".join(done)


def _other_order(source: random.Random, folder: Path) -> str:
    path = folder / "modules.json"
    if not path.is_file():
        return "no modules"
    items = json.loads(path.read_text(encoding="utf-8"))
    behind = items[1:]
    source.shuffle(behind)
    items = [items[0], *(behind if source.random() < 0.5 else behind[1:])]
    path.write_text(json.dumps([{**item, "idx": i} for i, item in enumerate(items)]), encoding="utf-8")
    return f"modules {[item['type'].rpartition('.')[2] for item in items]}"


def load(folder: Path, drawn: Drawn, attention: str) -> SparseEncoder | MultiVectorEncoder:
    """As the library reads it, in float64."""
    kind = SparseEncoder if drawn.kind in SPARSE else MultiVectorEncoder
    options = {"dtype": torch.float64, "attn_implementation": attention}
    model = kind(str(folder), device="cpu", local_files_only=True, model_kwargs=options)
    return model.to(torch.float64).eval()
