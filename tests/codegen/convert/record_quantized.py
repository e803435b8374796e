# SPDX-License-Identifier: Apache-2.0
"""Writes linears as the libraries of quantization store them, and the weights that these libraries read from that.

    python tests/codegen/convert/record_quantized.py [--out DIR] [NAME ...]

Needs Python 3.11, torch 2.15.0, transformers 5.23.0, compressed-tensors 0.20.1, bitsandbytes 0.50.2, and, `--no-deps`,
for one file is taken of each, auto_gptq 0.7.1 and autoawq 0.2.9.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import zlib
from collections.abc import Callable
from importlib.metadata import files, version
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from bitsandbytes import functional as bnb
from compressed_tensors.compressors.base import BaseCompressor
from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
from compressed_tensors.quantization.utils import calculate_qparams
from safetensors.torch import save_file
from transformers.integrations.finegrained_fp8 import Fp8Dequantize

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from record_cases import record_cases  # noqa: E402 - of the folder above

PINNED = {
    "torch": "2.15.0",
    "transformers": "5.23.0",
    "compressed-tensors": "0.20.1",
    "bitsandbytes": "0.50.2",
    "auto_gptq": "0.7.1",
    "autoawq": "0.2.9",
}
# [outputs, inputs], of a BERT that is 32 wide.
SHAPES = {
    "bert.encoder.layer.0.attention.self.query": (32, 32),
    "bert.encoder.layer.0.intermediate.dense": (64, 32),
    "bert.encoder.layer.0.output.dense": (32, 64),
}
Tensors = dict[str, torch.Tensor]
# From a weight to its settings, what is stored of it, and what the library reads from that.
Quantize = Callable[[torch.Tensor], tuple[dict[str, Any], Tensors, torch.Tensor]]


def _file_of(package: str, ending: str) -> ModuleType:
    """A module of a package whose other modules want a GPU or older libraries."""
    path = next(file.locate() for file in files(package) or () if str(file).endswith(ending))
    spec = importlib.util.spec_from_file_location(Path(str(path)).stem, str(path))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _in_groups(weight: torch.Tensor, group: int, bits: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Scale and zero point, [outputs, groups], of values from 0 to 2^bits - 1."""
    blocks = weight.reshape(len(weight), -1, group)
    low, high = blocks.amin(2).clamp(max=0), blocks.amax(2).clamp(min=0)
    scale = ((high - low) / (2**bits - 1)).half().to(weight.dtype)
    return scale, (-low / scale).round().clamp(1, 2**bits - 1)


def gptq(bits: int, group: int, ordered: bool = True) -> Quantize:
    """In groups of neighbours, or of inputs that are far from each other."""
    linears = _file_of("auto_gptq", "qlinear_cuda.py")

    def quantize(weight: torch.Tensor) -> tuple[dict[str, Any], Tensors, torch.Tensor]:
        outputs, inputs = weight.shape
        order = torch.arange(inputs)
        if not ordered:
            order = torch.randperm(inputs, generator=torch.Generator().manual_seed(inputs))
        groups = torch.empty(inputs, dtype=torch.int32)
        groups[order] = (torch.arange(inputs) // group).int()
        scale, zero = _in_groups(weight[:, order], group, bits)
        linear = torch.nn.Linear(inputs, outputs, bias=False)
        linear.weight.data = weight.half().float()
        packed = linears.QuantLinear(bits, group, inputs, outputs, bias=False)
        packed.pack(linear, scale, zero, groups)
        packed.scales = packed.scales.half()
        read = packed(torch.eye(inputs, dtype=torch.float16)).T
        settings = {"quant_method": "gptq", "bits": bits, "group_size": group, "desc_act": not ordered, "sym": False}
        kept = {name: getattr(packed, name) for name in ("qweight", "qzeros", "scales", "g_idx")}
        return settings, kept, read

    return quantize


def awq(group: int) -> Quantize:
    """Of 4 bits."""
    packing = _file_of("autoawq", "packing_utils.py")

    def quantize(weight: torch.Tensor) -> tuple[dict[str, Any], Tensors, torch.Tensor]:
        scale, zero = _in_groups(weight, group, 4)
        spread = [each.repeat_interleave(group, 1) for each in (scale, zero)]
        values = (weight / spread[0] + spread[1]).round().clamp(0, 15).T.int()
        packed, zeros = (_packed_as_awq(each, packing.AWQ_ORDER) for each in (values, zero.T.int()))
        kept = {"qweight": packed, "qzeros": zeros, "scales": scale.T.half()}
        read = packing.dequantize_gemm(kept["qweight"], kept["qzeros"], kept["scales"], 4, group).T
        settings = {"quant_method": "awq", "bits": 4, "group_size": group, "zero_point": True, "version": "gemm"}
        return settings, kept, read

    return quantize


def _packed_as_awq(values: torch.Tensor, order: list[int]) -> torch.Tensor:
    """As WQLinear_GEMM.from_linear packs them."""
    words = torch.zeros((len(values), values.shape[1] // 8), dtype=torch.int32)
    for word in range(words.shape[1]):
        for place in range(8):
            words[:, word] |= values[:, word * 8 + order[place]] << (place * 4)
    return words


def four_bits(kind: str, nested: bool) -> Quantize:
    """bitsandbytes' `load_in_4bit`."""

    def quantize(weight: torch.Tensor) -> tuple[dict[str, Any], Tensors, torch.Tensor]:
        packed, state = bnb.quantize_4bit(weight, blocksize=64, quant_type=kind, compress_statistics=nested)
        kept = {"weight": packed} | {f"weight.{name}": value for name, value in state.as_dict(packed=True).items()}
        settings = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": kind}
        return settings, kept, bnb.dequantize_4bit(packed, state)

    return quantize


def eight_bits(weight: torch.Tensor) -> tuple[dict[str, Any], Tensors, torch.Tensor]:
    """bitsandbytes' `load_in_8bit`."""
    values, largest, _ = bnb.int8_vectorwise_quant(weight.half())
    kept = {"weight": values, "SCB": largest, "weight_format": torch.tensor(0, dtype=torch.uint8)}
    return {"quant_method": "bitsandbytes", "load_in_8bit": True}, kept, bnb.int8_vectorwise_dequant(values, largest)


def fp8(block: tuple[int, int] | None, powers_of_two: bool = False) -> Quantize:
    """With a scale for each block, or one of all."""

    def quantize(weight: torch.Tensor) -> tuple[dict[str, Any], Tensors, torch.Tensor]:
        rows, columns = block or weight.shape
        tiles = weight.reshape(weight.shape[0] // rows, rows, weight.shape[1] // columns, columns)
        scales = tiles.abs().amax(dim=(1, 3)) / 448
        if powers_of_two:
            scales = scales.log2().ceil().exp2()
        values = (tiles / scales[:, None, :, None]).reshape(weight.shape).to(torch.float8_e4m3fn)
        stored = scales.to(torch.float8_e8m0fnu) if powers_of_two else scales
        if block is None:
            stored = stored.reshape(())
        read = Fp8Dequantize(None)._dequantize_one(values, stored, torch.float32)
        settings = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": block}
        return settings, {"weight": values, "weight_scale_inv": stored}, read

    return quantize


def compressed(form: str, **said: Any) -> Quantize:
    """llm-compressor's."""
    arguments = QuantizationArgs(**said)
    inputs = QuantizationArgs(num_bits=8, type=arguments.type, dynamic=True, strategy="token")
    scheme = QuantizationScheme(
        targets=["Linear"], weights=arguments, input_activations=None if form == "pack-quantized" else inputs
    )

    def quantize(weight: torch.Tensor) -> tuple[dict[str, Any], Tensors, torch.Tensor]:
        rows, columns = weight.shape
        by_strategy = {"tensor": (rows, columns), "channel": (1, columns), "group": (1, arguments.group_size)}
        block = by_strategy.get(arguments.strategy) or tuple(arguments.block_structure)
        tiles = weight.reshape(rows // block[0], block[0], columns // block[1], block[1])
        scale, zero = calculate_qparams(tiles.amin(dim=(1, 3)), tiles.amax(dim=(1, 3)), arguments)
        if arguments.strategy == "tensor":
            scale, zero = scale.reshape(1), zero.reshape(1)
        state = {"weight": weight, "weight_scale": scale, "weight_zero_point": zero}
        compressor = BaseCompressor.get_value_from_registry(form)
        kept = compressor.compress(state, scheme)
        read = compressor.decompress(kept, scheme)["weight"]
        settings = {
            "quant_method": "compressed-tensors",
            "config_groups": {"group_0": json.loads(scheme.model_dump_json())},
            "format": form,
            "ignore": ["classifier"],
            "quantization_status": "compressed",
        }
        return settings, kept, read

    return quantize


CASES: dict[str, Quantize] = {
    "gptq_2_bits": gptq(2, 16),
    "gptq_3_bits": gptq(3, 32),
    "gptq_4_bits": gptq(4, 16),
    "gptq_8_bits": gptq(8, 32),
    "gptq_ordered": gptq(4, 16, ordered=False),
    "awq": awq(16),
    "nf4": four_bits("nf4", nested=False),
    "nf4_nested": four_bits("nf4", nested=True),
    "fp4": four_bits("fp4", nested=False),
    "int8": eight_bits,
    "fp8_blocks": fp8((16, 16)),
    "fp8_powers": fp8((32, 16), powers_of_two=True),
    "fp8_whole": fp8(None),
    "compressed_int8": compressed("int-quantized", num_bits=8, strategy="channel", symmetric=True),
    "compressed_zero": compressed("int-quantized", num_bits=8, strategy="tensor", symmetric=False),
    "compressed_fp8": compressed("float-quantized", num_bits=8, type="float", strategy="channel"),
    "compressed_blocks": compressed(
        "float-quantized", num_bits=8, type="float", strategy="block", block_structure=[16, 32]
    ),
    "packed_4_bits": compressed("pack-quantized", num_bits=4, strategy="group", group_size=16, symmetric=True),
    "packed_zero": compressed("pack-quantized", num_bits=4, strategy="group", group_size=16, symmetric=False),
    "packed_3_bits": compressed("pack-quantized", num_bits=3, strategy="channel", symmetric=True),
}


def record(name: str, case: Quantize, out: Path) -> None:
    """Writes one case's folder."""
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    stored: Tensors = {}
    read: Tensors = {}
    settings: dict[str, Any] = {}
    for module, shape in SHAPES.items():
        settings, kept, plain = case(torch.randn(shape, generator=generator) * 0.2)
        stored |= {f"{module}.{part}": value.contiguous() for part, value in kept.items()}
        read[f"{module}.weight"] = plain.contiguous()
    out.mkdir(parents=True, exist_ok=True)
    save_file(stored, out / "stored.safetensors")
    save_file(read, out / "read.safetensors")
    said = {"libraries": {key: version(key) for key in PINNED}, "quantization_config": settings}
    (out / "recorded.json").write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record_cases("Records what libraries of quantization store.", PINNED, CASES, record, HERE / "quantized")
