# SPDX-License-Identifier: Apache-2.0
"""A checkpoint in Marian's layout as a model of CTranslate2, by its own spec classes: its converter goes through
PyTorch, and knows an older `transformers`.

The decoder begins with the padding token, as the checkpoint says; that token is kept from being written by the call.
"""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from ctranslate2.converters.utils import fuse_linear
from ctranslate2.specs import common_spec, transformer_spec
from safetensors.numpy import load_file

_ACTIVATIONS = {
    "relu": common_spec.Activation.RELU,
    "gelu": common_spec.Activation.GELU,
    "swish": common_spec.Activation.SWISH,
}


def write_ctranslate2(checkpoint: Path, folder: Path, quantization: str | None) -> None:
    """`quantization` as CTranslate2 names it, None: float32."""
    config = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
    tensors: dict[str, np.ndarray] = {}
    for file in sorted(checkpoint.glob("*.safetensors")):
        tensors |= load_file(file)
    spec = _Writer(config, {name: values.astype(np.float32) for name, values in tensors.items()}).spec()
    vocabulary = json.loads((checkpoint / "vocab.json").read_text(encoding="utf-8"))
    pieces = sorted(vocabulary, key=vocabulary.__getitem__)
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.config.eos_token = pieces[config["eos_token_id"]]
    spec.config.unk_token = "<unk>"
    spec.config.decoder_start_token = pieces[config["decoder_start_token_id"]]
    spec.validate()
    spec.optimize(quantization=quantization)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    spec.save(str(folder))


class _Writer:
    def __init__(self, config: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        self._config = config
        self._tensors = tensors

    def spec(self) -> transformer_spec.TransformerSpec:
        config = self._config
        spec = transformer_spec.TransformerSpec.from_config(
            (config["encoder_layers"], config["decoder_layers"]),
            config["encoder_attention_heads"],
            pre_norm=False,
            activation=_ACTIVATIONS[config["activation_function"]],
        )
        words = self._tensors["model.shared.weight"]
        for side, embeddings in ((spec.encoder, spec.encoder.embeddings[0]), (spec.decoder, spec.decoder.embeddings)):
            embeddings.weight = words
            side.scale_embeddings = math.sqrt(config["d_model"]) if config["scale_embedding"] else 1.0
            side.position_encodings.encodings = _sinusoids(config["max_position_embeddings"], config["d_model"])
        for index, layer in enumerate(spec.encoder.layer):
            self._layer(layer, f"model.encoder.layers.{index}")
        for index, layer in enumerate(spec.decoder.layer):
            name = f"model.decoder.layers.{index}"
            self._layer(layer, name)
            self._attention(layer.attention, f"{name}.encoder_attn", fused="q")
        spec.decoder.projection.weight = words
        spec.decoder.projection.bias = self._tensors["final_logits_bias"].reshape(-1)
        return spec

    def _layer(self, spec: Any, name: str) -> None:
        self._attention(spec.self_attention, f"{name}.self_attn", fused="qkv")
        self._linear(spec.ffn.linear_0, f"{name}.fc1")
        self._linear(spec.ffn.linear_1, f"{name}.fc2")
        self._norm(spec.ffn.layer_norm, f"{name}.final_layer_norm")

    def _attention(self, spec: Any, name: str, fused: str) -> None:
        """The parts of `fused` in the first product, those left in one of their own."""
        for linear, parts in zip(spec.linear, filter(None, (fused, "qkv".replace(fused, ""))), strict=False):
            fuse_linear(linear, [self._linear(common_spec.LinearSpec(), f"{name}.{part}_proj") for part in parts])
        self._linear(spec.linear[-1], f"{name}.out_proj")
        self._norm(spec.layer_norm, f"{name}_layer_norm")

    def _linear(self, spec: Any, name: str) -> Any:
        spec.weight, spec.bias = self._tensors[f"{name}.weight"], self._tensors[f"{name}.bias"]
        return spec

    def _norm(self, spec: Any, name: str) -> None:
        spec.gamma, spec.beta = self._tensors[f"{name}.weight"], self._tensors[f"{name}.bias"]


def _sinusoids(count: int, width: int) -> np.ndarray:
    """All sines first, then all cosines."""
    angles = np.arange(count)[:, None] / 10_000 ** (2 * np.arange(width // 2) / width)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)
