# SPDX-License-Identifier: Apache-2.0
"""A BERT classifier's checkpoint as an ONNX model, written tensor by tensor, so that no exporter and no PyTorch is
needed. Texts of one length, no padding and no mask: the fastest form for the runtimes that read it. Segment 0 is added
to the positions beforehand.

`fused` says attention in ONNX Runtime's own op instead of six standard ones.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

OPSET = 17
ARCHITECTURE = "BertForSequenceClassification"


class NotWritten(Exception):
    """A checkpoint that this writer does not know."""


def write_onnx(checkpoint: Path, path: Path, *, fused: bool) -> None:
    config = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
    if config.get("architectures") != [ARCHITECTURE] or config.get("hidden_act", "gelu") != "gelu":
        raise NotWritten(f"the ONNX writer knows {ARCHITECTURE} with gelu only")
    tensors: dict[str, np.ndarray] = {}
    for file in sorted(checkpoint.glob("*.safetensors")):
        tensors |= load_file(file)
    onnx.save(_Writer(config, tensors, fused).model(), path)


class _Writer:
    def __init__(self, config: dict[str, Any], tensors: dict[str, np.ndarray], fused: bool) -> None:
        self._tensors = tensors
        self._layers: int = config["num_hidden_layers"]
        self._heads: int = config["num_attention_heads"]
        self._width: int = config["hidden_size"]
        self._epsilon: float = config.get("layer_norm_eps", 1e-12)
        self._fused = fused
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def model(self) -> onnx.ModelProto:
        hidden = self._embedding()
        for index in range(self._layers):
            hidden = self._layer(hidden, f"bert.encoder.layer.{index}")
        first = self._op("Slice", hidden, self._ints([0]), self._ints([1]), self._ints([1]))
        first = self._op("Squeeze", first, self._ints([1]))
        pooled = self._op("Tanh", self._linear(first, "bert.pooler.dense"))
        logits = self._linear(pooled, "classifier")
        self._nodes.append(helper.make_node("Identity", [logits], ["logits"]))
        outputs = self._tensors["classifier.bias"].shape[0]
        graph = helper.make_graph(
            self._nodes,
            "bert",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["texts", "tokens"])],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["texts", outputs])],
            self._constants,
        )
        opsets = [helper.make_opsetid("", OPSET)]
        if self._fused:
            opsets.append(helper.make_opsetid("com.microsoft", 1))
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        if not self._fused:
            onnx.checker.check_model(model)
        return model

    def _embedding(self) -> str:
        prefix = "bert.embeddings."
        positions = self._float(f"{prefix}position_embeddings.weight")
        positions = positions + self._float(f"{prefix}token_type_embeddings.weight")[0]
        count = self._op("Slice", self._op("Shape", "input_ids"), self._ints([1]), self._ints([2]))
        used = self._op("Slice", self._constant("positions", positions), self._ints([0]), count)
        words = self._constant("words", self._float(f"{prefix}word_embeddings.weight"))
        return self._norm(self._op("Add", self._op("Gather", words, "input_ids"), used), f"{prefix}LayerNorm")

    def _layer(self, hidden: str, name: str) -> str:
        query, key, value = (
            self._linear(hidden, f"{name}.attention.self.{part}") for part in ("query", "key", "value")
        )
        attended = self._fused_attention(query, key, value) if self._fused else self._attention(query, key, value)
        attended = self._op("Add", self._linear(attended, f"{name}.attention.output.dense"), hidden)
        hidden = self._norm(attended, f"{name}.attention.output.LayerNorm")
        inner = self._gelu(self._linear(hidden, f"{name}.intermediate.dense"))
        inner = self._op("Add", self._linear(inner, f"{name}.output.dense"), hidden)
        return self._norm(inner, f"{name}.output.LayerNorm")

    def _attention(self, query: str, key: str, value: str) -> str:
        split = self._ints([0, 0, self._heads, self._width // self._heads])
        query, value = (
            self._op("Transpose", self._op("Reshape", part, split), perm=[0, 2, 1, 3]) for part in (query, value)
        )
        key = self._op("Transpose", self._op("Reshape", key, split), perm=[0, 2, 3, 1])
        root = self._constant("root", np.array(math.sqrt(self._width / self._heads), np.float32))
        scores = self._op("Div", self._op("MatMul", query, key), root)
        mixed = self._op("MatMul", self._op("Softmax", scores, axis=-1), value)
        mixed = self._op("Transpose", mixed, perm=[0, 2, 1, 3])
        return self._op("Reshape", mixed, self._ints([0, 0, self._width]))

    def _fused_attention(self, query: str, key: str, value: str) -> str:
        return self._op("MultiHeadAttention", query, key, value, num_heads=self._heads, domain="com.microsoft")

    def _gelu(self, x: str) -> str:
        """The form that the runtimes recognize."""

        def number(value: float) -> str:
            return self._constant("number", np.array(value, np.float32))

        erf = self._op("Erf", self._op("Div", x, number(math.sqrt(2))))
        return self._op("Mul", self._op("Mul", x, self._op("Add", erf, number(1.0))), number(0.5))

    def _linear(self, x: str, name: str) -> str:
        weight = self._constant(f"{name}.weight", np.ascontiguousarray(self._float(f"{name}.weight").T))
        return self._op(
            "Add", self._op("MatMul", x, weight), self._constant(f"{name}.bias", self._float(f"{name}.bias"))
        )

    def _norm(self, x: str, name: str) -> str:
        gamma, beta = (
            self._constant(f"{name}.{new}", self._float(f"{name}.{new if f'{name}.{new}' in self._tensors else old}"))
            for new, old in (("weight", "gamma"), ("bias", "beta"))
        )
        return self._op("LayerNormalization", x, gamma, beta, epsilon=self._epsilon)

    def _float(self, name: str) -> np.ndarray:
        return self._tensors[name].astype(np.float32)

    def _ints(self, values: list[int]) -> str:
        return self._constant("ints", np.array(values, np.int64))

    def _constant(self, name: str, values: np.ndarray) -> str:
        unique = f"{name}_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(values, unique))
        return unique

    def _op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        output = f"{kind}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, list(inputs), [output], name=output, **attributes))
        return output
