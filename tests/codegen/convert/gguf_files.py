# SPDX-License-Identifier: Apache-2.0
"""Checkpoint folders as GGUF files, as convert_hf_to_gguf.py of llama.cpp makes them: names of tensors by the `gguf`
package's own table, changes of tensors and keys as that script has them."""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from numpy.typing import NDArray
from tiny_checkpoint import read_tensors, write_json

from codegen import cli

RECORDED = Path(__file__).resolve().parents[1]
WRITERS = RECORDED / "generation"

_EMBEDDING = "gemma-embedding"
_ARCHITECTURES = {"gemma3_text": "gemma3", "mistral": "llama", "nomic_bert": "nomic-bert", "xlm-roberta": "bert"}
_SPECIAL = {"bos": "bos_token_id", "eos": "eos_token_id", "pad": "pad_token_id"}
_PREFIX = re.compile(r"(nomic_)?bert\.")
KIND, PRE = "tokenizer.ggml.model", "tokenizer.ggml.pre"


class Model:
    """A folder's configuration, and what is to be written of it."""

    def __init__(self, folder: Path) -> None:
        self.config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.tensors: dict[str, NDArray[Any]] = read_tensors(folder / "model.safetensors")
        kind = self.config["model_type"]
        self.architecture = _ARCHITECTURES.get(kind, kind)
        if self.config["architectures"] == ["Gemma3TextModel"]:
            self.architecture = _EMBEDDING
        self.tokenizer = folder / "tokenizer.json"


def write_gguf(
    folder: Path,
    path: Path,
    type_of: Callable[[str], Type] = lambda _: Type.F32,
    add: Callable[[gguf.GGUFWriter], None] = lambda _: None,
    leave_out: frozenset[str] = frozenset(),
) -> Path:
    """The model in `folder` as `path`, each matrix of the type that `type_of` its name in the file has; `add` more."""
    model = Model(folder)
    writer = gguf.GGUFWriter(path, model.architecture)
    _add_keys(writer, model)
    _add_tokens(writer, model)
    add(writer)
    for name, values in tensors_of(model):
        if name in leave_out:
            continue
        kind = Type.F32 if values.ndim == 1 or name.endswith("_norm.weight") else type_of(name)
        data = gguf.quants.quantize(np.ascontiguousarray(values, np.float32), kind)
        writer.add_tensor(name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def tensors_of(model: Model) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """By the names of llama.cpp."""
    layers = model.config.get("num_hidden_layers") or model.config["n_layer"]
    architecture = next(key for key, name in gguf.MODEL_ARCH_NAMES.items() if name == model.architecture)
    names = gguf.get_tensor_name_map(architecture, layers)
    for name, stored in model.tensors.items():
        if (
            name.endswith((".attn.bias", ".attn.masked_bias", "position_ids"))
            or "pooler" in name
            or name.startswith("classifier")
        ):
            continue
        values = stored.astype(np.float32)
        found = names.get_name(_PREFIX.sub("", name), try_suffixes=(".weight", ".bias"))
        assert found is not None, name
        yield found, np.squeeze(_changed(model, found, values))
    for path, name in (("2_Dense", "dense_2.weight"), ("3_Dense", "dense_3.weight")):
        linear = model.tokenizer.with_name(path) / "model.safetensors"
        if model.architecture == _EMBEDDING and linear.is_file():
            yield name, read_tensors(linear)["linear.weight"].astype(np.float32)
    factors = _llama3_factors(model.config)
    if factors is not None:
        yield "rope_freqs.weight", factors
    scaled = model.config.get("rope_parameters") or {}
    if "long_factor" in scaled:
        yield "rope_factors_long.weight", np.array(scaled["long_factor"], np.float32)
        yield "rope_factors_short.weight", np.array(scaled["short_factor"], np.float32)


def _changed(model: Model, name: str, values: NDArray[np.float32]) -> NDArray[np.float32]:
    part = name.split(".")[-2]
    if model.architecture == "llama" and part in ("attn_q", "attn_k"):
        heads = model.config["num_attention_heads" if part == "attn_q" else "num_key_value_heads"]
        halves = values.reshape(heads, 2, len(values) // heads // 2, *values.shape[1:])
        return halves.swapaxes(1, 2).reshape(values.shape)
    if model.architecture.startswith("gemma") and name.endswith("norm.weight"):
        return values + np.float32(1)
    if model.config["model_type"] == "xlm-roberta" and part == "position_embd":
        return values[model.config["pad_token_id"] + 1 :]
    if model.architecture == "gpt2" and part in ("attn_qkv", "attn_output", "ffn_up", "ffn_down") and values.ndim == 2:
        return values.T
    return values


def _llama3_factors(config: dict[str, Any]) -> NDArray[np.float32] | None:
    """As LlamaModel.generate_extra_tensors computes them."""
    said = config.get("rope_parameters") or {}
    if said.get("rope_type") != "llama3":
        return None
    width = config["head_dim"]
    found = []
    for frequency in 1.0 / said["rope_theta"] ** (np.arange(0, width, 2) / width):
        length, positions = 2 * np.pi / frequency, said["original_max_position_embeddings"]
        low, high = said["low_freq_factor"], said["high_freq_factor"]
        if length < positions / high:
            found.append(1.0)
        elif length > positions / low:
            found.append(said["factor"])
        else:
            smooth = (positions / length - low) / (high - low)
            found.append(1 / ((1 - smooth) / said["factor"] + smooth))
    return np.array(found, np.float32)


def _add_keys(writer: gguf.GGUFWriter, model: Model) -> None:
    config = model.config
    first = {name: next((config[key] for key in keys if config.get(key)), None) for name, keys in _KEYS.items()}
    first["feed"] = first["feed"] or 4 * first["width"]
    writer.add_block_count(first["layers"])
    in_front = model.config["pad_token_id"] + 1 if model.config["model_type"] == "xlm-roberta" else 0
    writer.add_context_length(first["positions"] - in_front)
    writer.add_embedding_length(first["width"])
    writer.add_feed_forward_length(first["feed"])
    writer.add_head_count(first["heads"])
    if config.get("num_key_value_heads"):
        writer.add_head_count_kv(config["num_key_value_heads"])
    if config.get("rms_norm_eps"):
        writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    if first["epsilon"]:
        writer.add_layer_norm_eps(first["epsilon"])
    if config.get("head_dim") and model.architecture != "nomic-bert":
        writer.add_key_length(config["head_dim"])
        writer.add_value_length(config["head_dim"])
    if config.get("sliding_window") and model.architecture in ("gemma2", "gemma3", _EMBEDDING, "phi3"):
        writer.add_sliding_window(config["sliding_window"])
    if model.architecture == "gemma2":
        writer.add_attn_logit_softcapping(config["attn_logit_softcapping"])
        writer.add_final_logit_softcapping(config["final_logit_softcapping"])
    if model.architecture in ("bert", "nomic-bert"):
        writer.add_causal_attention(False)
    _add_angles(writer, model)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)


_KEYS = {
    "layers": ("num_hidden_layers", "n_layer"),
    "positions": ("max_position_embeddings", "n_positions"),
    "width": ("hidden_size", "n_embd"),
    "feed": ("intermediate_size", "n_inner"),
    "heads": ("num_attention_heads", "n_head"),
    "epsilon": ("layer_norm_eps", "layer_norm_epsilon"),
}


def _add_angles(writer: gguf.GGUFWriter, model: Model) -> None:
    said = model.config.get("rope_parameters") or {}
    if model.architecture in ("gemma3", _EMBEDDING):
        writer.add_rope_freq_base(said["full_attention"]["rope_theta"])
        return
    if "rope_theta" in said and model.architecture not in ("gemma", "gemma2"):
        writer.add_rope_freq_base(said["rope_theta"])
    if said.get("rope_type") == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(said["factor"])
    if model.architecture == "phi3":
        width = model.config["hidden_size"] // model.config["num_attention_heads"]
        writer.add_rope_dimension_count(int(width * said.get("partial_rotary_factor", 1.0)))
        writer.add_rope_scaling_orig_ctx_len(model.config["original_max_position_embeddings"])
    elif model.architecture in ("llama",):
        writer.add_rope_dimension_count(model.config["head_dim"])


def _add_tokens(writer: gguf.GGUFWriter, model: Model) -> None:
    if model.tokenizer.is_file():
        described = json.loads(model.tokenizer.read_text(encoding="utf-8"))
        if described["model"]["type"] == "Unigram":
            add_unigram(writer, described)
        elif described["model"]["type"] == "WordPiece":
            _add_word_piece(writer, described)
        else:
            _add_byte_level(writer, described)
    elif model.tokenizer.with_name("vocab.json").is_file():
        vocab = json.loads(model.tokenizer.with_name("vocab.json").read_text(encoding="utf-8"))
        merges = model.tokenizer.with_name("merges.txt").read_text(encoding="utf-8").splitlines()[1:]
        end = {"content": "<|endoftext|>", "id": vocab["<|endoftext|>"], "special": True}
        _add_byte_level(writer, {"added_tokens": [end], "model": {"vocab": vocab, "merges": merges}})
    elif model.tokenizer.with_name("vocab.txt").is_file():
        lines = model.tokenizer.with_name("vocab.txt").read_text(encoding="utf-8").splitlines()
        vocab = {line: index for index, line in enumerate(lines)}
        added = [{"content": line} for line in lines if line.startswith("[")]
        _add_word_piece(writer, {"added_tokens": added, "model": {"vocab": vocab}})
    else:
        add_pieces(writer, model.config["vocab_size"])
    for name, key in _SPECIAL.items():
        value = model.config.get(key)
        if value is not None and model.architecture not in ("bert", "nomic-bert"):
            getattr(writer, f"add_{name}_token_id")(value[0] if isinstance(value, list) else value)


def add_unigram(writer: gguf.GGUFWriter, described: dict[str, Any]) -> None:
    """As _xlmroberta_set_vocab has it."""
    pieces = [text for text, _ in described["model"]["vocab"]]
    added = {token["content"] for token in described["added_tokens"]}
    writer.add_tokenizer_model("t5")
    writer.add_token_list(pieces)
    writer.add_token_scores([score for _, score in described["model"]["vocab"]])
    writer.add_token_types([2 if text == "<unk>" else 3 if text in added else 1 for text in pieces])
    writer.add_add_space_prefix(True)
    normalizer = described["normalizer"]
    if normalizer is not None:
        writer.add_precompiled_charsmap(base64.b64decode(normalizer["precompiled_charsmap"]))
    for name, text in (("bos", "<s>"), ("eos", "</s>"), ("unk", "<unk>"), ("pad", "<pad>")):
        getattr(writer, f"add_{name}_token_id")(pieces.index(text))


def _add_byte_level(writer: gguf.GGUFWriter, described: dict[str, Any]) -> None:
    vocab = described["model"]["vocab"]
    added = {token["content"]: token for token in described["added_tokens"]}
    texts = vocab | {text: token["id"] for text, token in added.items()}
    ordered = sorted(texts, key=texts.__getitem__)
    kinds = [(3 if added[text]["special"] else 4) if text in added else 1 for text in ordered]
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(ordered)
    writer.add_token_types(kinds)
    merges = described["model"]["merges"]
    writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in merges])


def _add_word_piece(writer: gguf.GGUFWriter, described: dict[str, Any]) -> None:
    vocab = described["model"]["vocab"]
    added = {token["content"] for token in described["added_tokens"]}
    ordered = sorted(vocab, key=vocab.__getitem__)

    def phantom(text: str) -> str:
        if text.startswith("[") and text.endswith("]"):
            return text
        return text[2:] if text.startswith("##") else "\u2581" + text

    writer.add_tokenizer_model("bert")
    writer.add_token_list([phantom(text) for text in ordered])
    writer.add_token_types([3 if text in added else 1 for text in ordered])
    writer.add_token_type_count(2)
    for name in ("cls", "sep", "unk", "pad", "mask"):
        if f"[{name.upper()}]" in vocab and name != "cls":
            getattr(writer, f"add_{name}_token_id")(vocab[f"[{name.upper()}]"])
    writer.add_bos_token_id(vocab["[CLS]"])


def add_pieces(writer: gguf.GGUFWriter, count: int) -> None:
    """SentencePiece's tokens: <unk>, <s>, </s>, and characters with words of them; no bytes."""
    pieces = ["<unk>", "<s>", "</s>", "\u2581", *"abcdefghij", "ab", "\u2581a", "abc", "\u2581ab", "\u2581abc", "de"]
    pieces += [chr(ord("\u00c0") + i) for i in range(count)]
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(pieces[:count])
    writer.add_token_types([2, 3, 3, *[1] * (count - 3)])
    writer.add_token_scores([0.0] * 3 + [float(-i) for i in range(count - 3)])
    writer.add_unk_token_id(0)


def source_of(variant: str, to: Path, root: Path = WRITERS, **changes: Any) -> Path:
    """A copy of a recorded folder, with keys of its configuration changed; None: without them."""
    shutil.copytree(root / variant, to)
    config = json.loads((to / "config.json").read_text()) | changes
    write_json(to / "config.json", {key: value for key, value in config.items() if value is not None})
    return to


def converted(file: Path, *options: str) -> tuple[int, Path]:
    """What the command ends with, and the folder that it writes."""
    out = file.parent / "out"
    return cli.main(["convert", str(file), "--out", str(out), *options]), out
