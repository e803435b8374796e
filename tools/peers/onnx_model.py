# SPDX-License-Identifier: Apache-2.0
"""A BERT classifier's checkpoint as an ONNX model.

`fused` says attention in ONNX Runtime's own op instead of six standard ones.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .bert_writer import BertWriter

OPSET = 17


def write_onnx(checkpoint: Path, path: Path, *, fused: bool) -> None:
    onnx.save(_Writer(checkpoint, fused).model(), path)


class _Writer(BertWriter[str]):
    def __init__(self, checkpoint: Path, fused: bool) -> None:
        super().__init__(checkpoint)
        self._fused = fused
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def model(self) -> onnx.ModelProto:
        self._nodes.append(helper.make_node("Identity", [self.logits()], ["logits"]))
        graph = helper.make_graph(
            self._nodes,
            "bert",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["texts", "tokens"])],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["texts", self.labels])],
            self._constants,
        )
        opsets = [helper.make_opsetid("", OPSET)]
        if self._fused:
            opsets.append(helper.make_opsetid("com.microsoft", 1))
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        if not self._fused:
            onnx.checker.check_model(model)
        return model

    def embedding(self, words: np.ndarray, positions: np.ndarray) -> str:
        count = self._op("Slice", self._op("Shape", "input_ids"), self._ints([1]), self._ints([2]))
        used = self._op("Slice", self._constant("positions", positions), self._ints([0]), count)
        return self.add(self._op("Gather", self._constant("words", words), "input_ids"), used)

    def attention(self, query: str, key: str, value: str) -> str:
        if self._fused:
            return self._op("MultiHeadAttention", query, key, value, num_heads=self.heads, domain="com.microsoft")
        split = self._ints([0, 0, self.heads, self.width // self.heads])
        query, value = (
            self._op("Transpose", self._op("Reshape", part, split), perm=[0, 2, 1, 3]) for part in (query, value)
        )
        key = self._op("Transpose", self._op("Reshape", key, split), perm=[0, 2, 3, 1])
        scores = self._op("Div", self._op("MatMul", query, key), self._number(1 / self.score_scale))
        mixed = self._op("MatMul", self._op("Softmax", scores, axis=-1), value)
        mixed = self._op("Transpose", mixed, perm=[0, 2, 1, 3])
        return self._op("Reshape", mixed, self._ints([0, 0, self.width]))

    def gelu(self, x: str) -> str:
        """The form that the runtimes recognize."""
        erf = self._op("Erf", self._op("Div", x, self._number(math.sqrt(2))))
        return self._op("Mul", self._op("Mul", x, self.add(erf, self._number(1.0))), self._number(0.5))

    def linear(self, x: str, weight: np.ndarray, bias: np.ndarray) -> str:
        product = self._op("MatMul", x, self._constant("weight", np.ascontiguousarray(weight.T)))
        return self.add(product, self._constant("bias", bias))

    def norm(self, x: str, gamma: np.ndarray, beta: np.ndarray) -> str:
        tables = self._constant("gamma", gamma), self._constant("beta", beta)
        return self._op("LayerNormalization", x, *tables, epsilon=self.epsilon)

    def first_rows(self, x: str) -> str:
        first = self._op("Slice", x, self._ints([0]), self._ints([1]), self._ints([1]))
        return self._op("Squeeze", first, self._ints([1]))

    def tanh(self, x: str) -> str:
        return self._op("Tanh", x)

    def add(self, x: str, y: str) -> str:
        return self._op("Add", x, y)

    def _number(self, value: float) -> str:
        return self._constant("number", np.array(value, np.float32))

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
