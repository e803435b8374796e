# SPDX-License-Identifier: Apache-2.0
"""Writes a small, valid BertForSequenceClassification folder, without torch, transformers or safetensors."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

DEFAULT_VOCAB = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *("the", "a", "cat", "dog", "sat", "ran", "on", "mat", "good", "bad", "un", "##able", "##s", "##ing", "##ed"),
    *("work", "play", "caf", "##e", "Berlin", "berlin", "##lin", "ber", "x", "y", "##x", "##y", "1", "2", "##1", "##2"),
    *(".", ",", "!", "?", "中", "国", "ß", "é", "##é"),
)
SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_DTYPES = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "F64": np.dtype("<f8"),
    "BF16": np.dtype("<u2"),
    "I64": np.dtype("<i8"),
}


def write_tiny_checkpoint(
    path: str | os.PathLike[str],
    *,
    hidden: int = 10,
    heads: int = 2,
    layers: int = 1,
    intermediate: int = 37,
    labels: int = 3,
    max_positions: int = 32,
    type_vocab: int = 2,
    vocab: Sequence[str] | None = None,
    dtype: str = "F32",
    seed: int = 0,
    hidden_act: str = "gelu",
    lowercase: bool = True,
    problem_type: str | None = None,
) -> None:
    """Write config.json, model.safetensors, tokenizer.json and tokenizer_config.json into `path`."""
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    pieces = tuple(DEFAULT_VOCAB if vocab is None else vocab)
    names = [f"label {i}" for i in range(labels)]
    write_json(
        folder / "config.json",
        {
            "architectures": ["BertForSequenceClassification"],
            "attention_probs_dropout_prob": 0.1,
            "hidden_act": hidden_act,
            "hidden_dropout_prob": 0.1,
            "hidden_size": hidden,
            "id2label": {str(i): name for i, name in enumerate(names)},
            "initializer_range": 0.02,
            "intermediate_size": intermediate,
            "label2id": {name: i for i, name in enumerate(names)},
            "layer_norm_eps": 1e-12,
            "max_position_embeddings": max_positions,
            "model_type": "bert",
            "num_attention_heads": heads,
            "num_hidden_layers": layers,
            "pad_token_id": 0,
            "position_embedding_type": "absolute",
            **({} if problem_type is None else {"problem_type": problem_type}),
            "type_vocab_size": type_vocab,
            "use_cache": True,
            "vocab_size": len(pieces),
        },
    )
    shapes = bert_shapes(
        hidden=hidden,
        layers=layers,
        intermediate=intermediate,
        labels=labels,
        max_positions=max_positions,
        type_vocab=type_vocab,
        vocab_size=len(pieces),
    )
    write_safetensors(folder / "model.safetensors", random_tensors(shapes, seed), dtype=dtype)
    write_json(folder / "tokenizer.json", tokenizer_json(pieces, lowercase=lowercase))
    write_json(folder / "tokenizer_config.json", tokenizer_config(lowercase=lowercase, max_length=max_positions))


def bert_shapes(
    *, hidden: int, layers: int, intermediate: int, labels: int, max_positions: int, type_vocab: int, vocab_size: int
) -> dict[str, tuple[int, ...]]:
    """Name and shape of every tensor, as `save_pretrained` writes them."""
    shapes: dict[str, tuple[int, ...]] = {
        "bert.embeddings.word_embeddings.weight": (vocab_size, hidden),
        "bert.embeddings.position_embeddings.weight": (max_positions, hidden),
        "bert.embeddings.token_type_embeddings.weight": (type_vocab, hidden),
    }

    def linear(name: str, outputs: int, inputs: int) -> None:
        shapes[f"{name}.weight"] = (outputs, inputs)
        shapes[f"{name}.bias"] = (outputs,)

    def norm(name: str) -> None:
        shapes[f"{name}.weight"] = (hidden,)
        shapes[f"{name}.bias"] = (hidden,)

    norm("bert.embeddings.LayerNorm")
    for i in range(layers):
        layer = f"bert.encoder.layer.{i}"
        for part in ("query", "key", "value"):
            linear(f"{layer}.attention.self.{part}", hidden, hidden)
        linear(f"{layer}.attention.output.dense", hidden, hidden)
        norm(f"{layer}.attention.output.LayerNorm")
        linear(f"{layer}.intermediate.dense", intermediate, hidden)
        linear(f"{layer}.output.dense", hidden, intermediate)
        norm(f"{layer}.output.LayerNorm")
    linear("bert.pooler.dense", hidden, hidden)
    linear("classifier", labels, hidden)
    return shapes


def random_tensors(shapes: Mapping[str, tuple[int, ...]], seed: int = 0) -> dict[str, np.ndarray]:
    """Weights of a size that keeps activations near one; LayerNorm near the identity."""
    random = np.random.default_rng(seed)
    tensors = {}
    for name, shape in shapes.items():
        values = random.standard_normal(shape)
        if name.endswith("LayerNorm.weight"):
            values = 1 + 0.1 * values
        elif name.endswith("bias"):
            values = 0.1 * values
        elif not name.startswith("bert.embeddings"):
            values = values / np.sqrt(shape[-1])
        tensors[name] = values.astype(np.float32)
    return tensors


def tokenizer_json(vocab: Sequence[str], *, lowercase: bool = True) -> dict[str, Any]:
    """What `BertTokenizerFast.save_pretrained` writes."""
    ids = {piece: i for i, piece in enumerate(vocab)}

    def special(token: str, type_id: int) -> dict[str, Any]:
        return {"SpecialToken": {"id": token, "type_id": type_id}}

    single = [special("[CLS]", 0), {"Sequence": {"id": "A", "type_id": 0}}, special("[SEP]", 0)]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": ids[token],
                "content": token,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for token in SPECIAL_TOKENS
        ],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": lowercase,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": single,
            "pair": [*single, {"Sequence": {"id": "B", "type_id": 1}}, special("[SEP]", 1)],
            "special_tokens": {
                token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in ("[CLS]", "[SEP]")
            },
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": ids,
        },
    }


def tokenizer_config(*, lowercase: bool = True, max_length: int = 32) -> dict[str, Any]:
    """The settings beside it."""
    return {
        "cls_token": "[CLS]",
        "do_lower_case": lowercase,
        "mask_token": "[MASK]",
        "model_max_length": max_length,
        "pad_token": "[PAD]",
        "sep_token": "[SEP]",
        "strip_accents": None,
        "tokenize_chinese_chars": True,
        "tokenizer_class": "BertTokenizer",
        "unk_token": "[UNK]",
    }


def write_json(path: Path, value: object) -> None:
    """One JSON file, as the Python libraries write it."""
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def write_safetensors(
    path: Path,
    tensors: Mapping[str, np.ndarray],
    *,
    dtype: str = "F32",
    dtypes: Mapping[str, str] | None = None,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """A safetensors file with the tensors in the order given; `dtypes` overrides `dtype` by name."""
    header: dict[str, Any] = {"__metadata__": dict(metadata or {"format": "pt"})}
    blobs = []
    offset = 0
    for name, values in tensors.items():
        stored = (dtypes or {}).get(name, dtype)
        blob = _encode(values, stored)
        header[name] = {"dtype": stored, "shape": list(values.shape), "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    write_raw_safetensors(path, header, b"".join(blobs))


def write_raw_safetensors(path: Path, header: Mapping[str, Any] | bytes, data: bytes) -> None:
    """A file with any header, right or wrong; a mapping is padded with spaces to 8 bytes, as the usual writer does."""
    if not isinstance(header, bytes):
        header = json.dumps(header, separators=(",", ":")).encode()
        header += b" " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)


def read_raw_safetensors(path: Path) -> tuple[dict[str, Any], bytes]:
    """(header, data) of a well-formed file, to change and write again."""
    raw = path.read_bytes()
    (length,) = struct.unpack_from("<Q", raw)
    return json.loads(raw[8 : 8 + length]), raw[8 + length :]


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """The tensors of a well-formed file."""
    header, data = read_raw_safetensors(path)
    header.pop("__metadata__", None)
    return {
        name: np.frombuffer(data[slice(*entry["data_offsets"])], _DTYPES[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in header.items()
    }


def split_weights(folder: Path, count: int = 2) -> None:
    """Moves the weights into `count` files with an index, as save_pretrained(max_shard_size=…) writes them."""
    header, data = read_raw_safetensors(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    metadata = header.pop("__metadata__")
    names = list(header)
    size = -(-len(names) // count)
    places = {}
    for part in range(count):
        file = f"model-{part + 1:05}-of-{count:05}.safetensors"
        entries: dict[str, Any] = {"__metadata__": metadata}
        blobs = []
        offset = 0
        for name in names[part * size : (part + 1) * size]:
            begin, end = header[name]["data_offsets"]
            entries[name] = header[name] | {"data_offsets": [offset, offset + end - begin]}
            offset += end - begin
            blobs.append(data[begin:end])
            places[name] = file
        write_raw_safetensors(folder / file, entries, b"".join(blobs))
    write_json(folder / "model.safetensors.index.json", {"metadata": {"total_size": len(data)}, "weight_map": places})


def _encode(values: np.ndarray, dtype: str) -> bytes:
    if dtype == "BF16":  # truncated, which is good enough for a test
        return (np.ascontiguousarray(values, dtype="<f4").view("<u4") >> 16).astype("<u2").tobytes()
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(values).astype(_DTYPES[dtype]).tobytes()
