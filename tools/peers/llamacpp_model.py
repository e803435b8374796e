# SPDX-License-Identifier: Apache-2.0
"""A checkpoint of GPT-2's shape as a GGUF file for llama.cpp, without a tokenizer.

Weights of 8 bits are Q8_0, those of 4 bits Q4_0 but for the words, which are Q8_0: as many bits, in the same places, as
etch has them with w8a8 and w4a8.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import gguf
import numpy as np

from codegen.load.safetensors import TensorFile

_KINDS = {
    "q8_0": gguf.GGMLQuantizationType.Q8_0,
    "q4_0": gguf.GGMLQuantizationType.Q4_0,
    "f32": gguf.GGMLQuantizationType.F32,
}
_FILE_TYPES = {
    "q8_0": gguf.LlamaFileType.MOSTLY_Q8_0,
    "q4_0": gguf.LlamaFileType.MOSTLY_Q4_0,
    "f32": gguf.LlamaFileType.ALL_F32,
}
_PREFIX = "transformer."
_WORDS = "token_embd.weight"
_PARTS = {
    "ln_1": "attn_norm",
    "attn.c_attn": "attn_qkv",
    "attn.c_proj": "attn_output",
    "ln_2": "ffn_norm",
    "mlp.c_fc": "ffn_up",
    "mlp.c_proj": "ffn_down",
}
_OUTER = {"wte": "token_embd", "wpe": "position_embd", "ln_f": "output_norm"}


def write_gguf(checkpoint: Path, file: Path, kind: str) -> None:
    """`kind` is q8_0, q4_0 or f32."""
    config = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
    writer = gguf.GGUFWriter(file, "gpt2")
    writer.add_context_length(config["n_positions"])
    writer.add_embedding_length(config["n_embd"])
    writer.add_feed_forward_length(config.get("n_inner") or 4 * config["n_embd"])
    writer.add_block_count(config["n_layer"])
    writer.add_head_count(config["n_head"])
    writer.add_layer_norm_eps(config.get("layer_norm_epsilon", 1e-5))
    writer.add_vocab_size(config["vocab_size"])
    writer.add_tokenizer_model("none")
    writer.add_file_type(_FILE_TYPES[kind])
    for name, values in _tensors(checkpoint):
        stored = _kind_of(name, values, kind)
        writer.add_tensor(name, gguf.quants.quantize(values, stored), raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _kind_of(name: str, values: np.ndarray, kind: str) -> gguf.GGMLQuantizationType:
    if values.ndim == 1 or name == "position_embd.weight":
        return _KINDS["f32"]
    return _KINDS["q8_0" if name == _WORDS and kind == "q4_0" else kind]


def _tensors(checkpoint: Path) -> Iterator[tuple[str, np.ndarray]]:
    """By llama.cpp's names; linears as [outputs, inputs], which the checkpoint has the other way round."""
    for file in sorted(checkpoint.glob("*.safetensors")):
        tensors = TensorFile.open(file)
        for stored in tensors.names:
            name, values = stored.removeprefix(_PREFIX), tensors.take(stored, tensors.info(stored)[1]).values
            if name.startswith("h."):
                _, index, rest = name.split(".", 2)
                part, end = rest.rsplit(".", 1)
                if part not in _PARTS:
                    continue  # the masks of the first files
                turned = np.ascontiguousarray(values.T) if values.ndim == 2 else values
                yield f"blk.{index}.{_PARTS[part]}.{end}", turned
            elif name.rsplit(".", 1)[0] in _OUTER:
                part, end = name.rsplit(".", 1)
                yield f"{_OUTER[part]}.{end}", values
