# SPDX-License-Identifier: Apache-2.0
"""A BERT classifier's checkpoint as a LiteRT model, in TensorFlow Lite's format, of built-in ops that its XNNPACK
delegate takes. Inputs, int32 [1, tokens]: the ids, and 0, 1, 2, … for their positions, since a size that the graph
computes itself would keep the delegate off. `tokens` is set before a call.

Schema: https://github.com/google-ai-edge/LiteRT/blob/main/tflite/converter/schema/schema.fbs
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

from .bert_writer import BertWriter

OPS = schema.BuiltinOperator
TYPES = {np.dtype(np.float32): schema.TensorType.FLOAT32, np.dtype(np.int32): schema.TensorType.INT32}
VERSIONS = {OPS.FULLY_CONNECTED: 5, OPS.BATCH_MATMUL: 2, OPS.GATHER: 2}  # which the fields used ask for; others 1
ANY = -1  # a size that is set before a call


def write_litert(checkpoint: Path, path: Path) -> None:
    builder = flatbuffers.Builder()
    builder.Finish(_Writer(checkpoint).model().Pack(builder), b"TFL3")
    path.write_bytes(bytes(builder.Output()))


def quantize_litert(source: Path, path: Path) -> None:
    """Weights of 8 bits, each output with a scale of its own; inputs are quantized as they come."""
    from ai_edge_quantizer import quantizer, recipe

    made = quantizer.Quantizer(str(source), recipe.dynamic_wi8_afp32()).quantize()
    path.write_bytes(bytes(made.quantized_model))


class _Writer(BertWriter[int]):
    def __init__(self, checkpoint: Path) -> None:
        super().__init__(checkpoint)
        self._model = schema.ModelT()
        self._model.version = 3
        self._model.buffers = [schema.BufferT()]  # the first is that of all tensors without values
        self._model.operatorCodes = []
        self._graph = schema.SubGraphT()
        self._graph.name = "bert"
        self._graph.tensors, self._graph.operators, self._graph.inputs = [], [], []

    def model(self) -> Any:
        self._graph.outputs = [self.logits()]
        self._model.subgraphs = [self._graph]
        signature = schema.SignatureDefT()
        signature.signatureKey, signature.subgraphIndex = "serving_default", 0
        signature.inputs, signature.outputs = (
            [self._named(index) for index in indices] for indices in (self._graph.inputs, self._graph.outputs)
        )
        self._model.signatureDefs = [signature]
        return self._model

    def embedding(self, words: np.ndarray, positions: np.ndarray) -> int:
        self._graph.inputs = [self._tensor(name, (1, ANY), np.dtype(np.int32)) for name in ("ids", "positions")]
        rows = [
            self._op(OPS.GATHER, [self._constant(table), index], (1, ANY, self.width), schema.GatherOptionsT())
            for table, index in zip((words, positions), self._graph.inputs, strict=True)
        ]
        return self.add(*rows)

    def linear(self, x: int, weight: np.ndarray, bias: np.ndarray) -> int:
        options = schema.FullyConnectedOptionsT()
        options.keepNumDims = True
        inputs = [x, self._constant(weight), self._constant(bias)]
        return self._op(OPS.FULLY_CONNECTED, inputs, (*self._shape(x)[:-1], len(bias)), options)

    def norm(self, x: int, gamma: np.ndarray, beta: np.ndarray) -> int:
        centered = self._elementwise(OPS.SUB, x, self._mean(x), schema.SubOptionsT())
        variance = self._mean(self._multiply(centered, centered))
        variance = self.add(variance, self._constant(np.array([self.epsilon], np.float32)))
        inverse = self._op(OPS.RSQRT, [variance], self._shape(variance))
        scaled = self._multiply(self._multiply(centered, inverse), self._constant(gamma))
        return self.add(scaled, self._constant(beta))

    def attention(self, query: int, key: int, value: int) -> int:
        query = self._multiply(query, self._constant(np.array([self.score_scale], np.float32)))
        query, key, value = (self._transpose(self._split(part)) for part in (query, key, value))
        scores = self._matmul(query, key, (1, self.heads, ANY, ANY), transposed=True)
        options = schema.SoftmaxOptionsT()
        options.beta = 1.0
        weights = self._op(OPS.SOFTMAX, [scores], self._shape(scores), options)
        mixed = self._transpose(self._matmul(weights, value, self._shape(value), transposed=False))
        return self._reshape(mixed, (1, ANY, self.width))

    def gelu(self, x: int) -> int:
        options = schema.GeluOptionsT()
        options.approximate = False
        return self._op(OPS.GELU, [x], self._shape(x), options)

    def tanh(self, x: int) -> int:
        return self._op(OPS.TANH, [x], self._shape(x))

    def add(self, x: int, y: int) -> int:
        return self._elementwise(OPS.ADD, x, y, schema.AddOptionsT())

    def first_rows(self, x: int) -> int:
        shape = (1, 1, self.width)
        begin, size = (self._constant(np.array(values, np.int32)) for values in ((0, 0, 0), shape))
        return self._op(OPS.SLICE, [x, begin, size], shape, schema.SliceOptionsT())

    def _multiply(self, x: int, y: int) -> int:
        return self._elementwise(OPS.MUL, x, y, schema.MulOptionsT())

    def _elementwise(self, code: int, x: int, y: int, options: Any) -> int:
        """y may have less in it: it is repeated."""
        return self._op(code, [x, y], self._shape(x), options)

    def _mean(self, x: int) -> int:
        """Of the last axis, which stays."""
        options = schema.ReducerOptionsT()
        options.keepDims = True
        shape = self._shape(x)
        axis = self._constant(np.array([len(shape) - 1], np.int32))
        return self._op(OPS.MEAN, [x, axis], (*shape[:-1], 1), options)

    def _split(self, x: int) -> int:
        return self._reshape(x, (1, ANY, self.heads, self.width // self.heads))

    def _reshape(self, x: int, shape: tuple[int, ...]) -> int:
        wanted = self._constant(np.array(shape, np.int32))
        return self._op(OPS.RESHAPE, [x, wanted], shape, schema.ReshapeOptionsT())

    def _transpose(self, x: int) -> int:
        """Swaps the second and the third of four axes."""
        order = (0, 2, 1, 3)
        shape = tuple(self._shape(x)[axis] for axis in order)
        inputs = [x, self._constant(np.array(order, np.int32))]
        return self._op(OPS.TRANSPOSE, inputs, shape, schema.TransposeOptionsT())

    def _matmul(self, x: int, y: int, shape: tuple[int, ...], *, transposed: bool) -> int:
        options = schema.BatchMatMulOptionsT()
        options.adjY = transposed
        return self._op(OPS.BATCH_MATMUL, [x, y], shape, options)

    def _named(self, index: int) -> Any:
        entry = schema.TensorMapT()
        entry.name, entry.tensorIndex = self._graph.tensors[index].name, index
        return entry

    def _shape(self, index: int) -> tuple[int, ...]:
        return tuple(self._graph.tensors[index].shapeSignature)

    def _tensor(self, name: str, shape: tuple[int, ...], kind: np.dtype[Any]) -> int:
        tensor = schema.TensorT()
        tensor.name, tensor.type = name, TYPES[kind]
        tensor.shape, tensor.shapeSignature = [abs(size) for size in shape], list(shape)
        self._graph.tensors.append(tensor)
        return len(self._graph.tensors) - 1

    def _constant(self, values: np.ndarray) -> int:
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(np.ascontiguousarray(values).tobytes(), np.uint8)
        self._model.buffers.append(buffer)
        index = self._tensor(f"constant_{len(self._model.buffers)}", values.shape, values.dtype)
        self._graph.tensors[index].buffer = len(self._model.buffers) - 1
        return index

    def _op(self, code: int, inputs: list[int], shape: tuple[int, ...], options: Any = None) -> int:
        codes = [known.builtinCode for known in self._model.operatorCodes]
        if code not in codes:
            entry = schema.OperatorCodeT()
            entry.builtinCode, entry.version = code, VERSIONS.get(code, 1)
            entry.deprecatedBuiltinCode = min(code, schema.BuiltinOperator.PLACEHOLDER_FOR_GREATER_OP_CODES)
            self._model.operatorCodes.append(entry)
            codes.append(code)
        operator = schema.OperatorT()
        operator.opcodeIndex, operator.inputs = codes.index(code), inputs
        if options is not None:
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, type(options).__name__.removesuffix("T"))
            operator.builtinOptions = options
        operator.outputs = [self._tensor(f"value_{len(self._graph.tensors)}", shape, np.dtype(np.float32))]
        self._graph.operators.append(operator)
        return operator.outputs[0]
