# SPDX-License-Identifier: Apache-2.0
"""Makes what each runtime loads: generated and built models, ONNX files. Kept between runs, by the checkpoint's hash;
generated models are made anew each time, since the generator may have changed."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "compare"
MOST_CALIBRATION_TEXTS = 64
GENERATION_FILE = "generation_config.json"
VERBS = {"regression": "regress", "translation": "translate", "generation": "generate"}


class PrepareError(Exception):
    """A step that did not work, with the end of its output."""


@dataclass
class Preparation:
    checkpoint: Path
    max_tokens: int  # longest text: the same for all
    calibration: list[list[int]]  # token ids for a quantizer that wants to see inputs
    written: int = 0  # tokens, of a generative model: always so many
    beams: int = 1  # of its searches, at most
    encoder: bool = True  # reads what it is asked; otherwise it goes on with it
    folder: Path = field(init=False)

    def __post_init__(self) -> None:
        digest = hashlib.sha256()
        for file in sorted(self.checkpoint.iterdir()):
            if file.is_file():
                digest.update(file.name.encode() + b"\0" + file.read_bytes())
        digest.update(f"{self.written} {self.beams}".encode() if self.written else b"")
        self.folder = BUILD / "models" / digest.hexdigest()[:16]
        self.folder.mkdir(parents=True, exist_ok=True)

    def model(self, peer: str) -> Path:
        """The file or folder that `peer` loads."""
        kind, precision, *form = peer.split("-")
        if kind == "etch":
            return self._etch(precision)
        if kind == "torch":
            return self.checkpoint
        if kind == "ctranslate2":
            return self._ctranslate2(precision)
        if kind == "llamacpp":
            return self._llamacpp(precision)
        if kind == "litert":
            path = self._litert()
            return self._litert_int8(path) if precision == "int8" else path
        if kind == "openvino":
            return self._openvino_int8() if precision == "int8" else self._onnx(fused=False)
        path = self._onnx(fused=bool(form))
        return self._onnx_int8(path) if precision == "int8" else path

    def program(self, peer: str) -> Path:
        """The native program of an etch peer that was prepared."""
        recipe = peer.split("-")[1]
        return self.folder / "build" / "bin" / f"{_verb(self._manifest(recipe))}-peer_{recipe}"

    def _manifest(self, recipe: str) -> dict[str, Any]:
        return json.loads((self.folder / f"peer_{recipe}" / "etch.json").read_text(encoding="utf-8"))

    def _etch(self, recipe: str) -> Path:
        name = f"peer_{recipe}"
        out, build = self.folder / name, self.folder / "build"
        limits = ["--recipe", recipe, "--max-tokens", str(self.max_tokens)]
        if self.written:
            limits += ["--max-target", str(self.written), "--beams", str(self.beams)]
        checkpoint = self._endless() if self.written else self.checkpoint
        _run(sys.executable, "-m", "codegen", "generate", checkpoint, "--out", out, *limits)
        manifest = self._manifest(recipe)
        if manifest["task"] == "embedding":
            raise PrepareError("only classifiers, regressors, translators and generators can be compared")
        others = [folder for folder in sorted(self.folder.glob("peer_*")) if (folder / "etch.json").exists()]
        models = ";".join(str(folder) for folder in others)
        # No launcher: what ccache has kept comes without the call graph that the check of the stack reads.
        options = ("-DCMAKE_BUILD_TYPE=Release", "-DETCH_INSTALL=OFF", "-DCMAKE_CXX_COMPILER_LAUNCHER=")
        options = (*options, f"-DETCH_MODEL_DIRS={models}")
        _run("cmake", "-S", ROOT, "-B", build, *options)
        program = f"{_verb(manifest)}-{name}"
        _run("cmake", "--build", build, "--parallel", str(os.cpu_count() or 1), "--target", program)
        library, calls = self.folder / f"lib{name}.so", self.folder / f"{name}_calls.o"
        includes = (f"-I{ROOT / 'runtime' / 'include'}", f"-I{out}")
        peers = ROOT / "tools" / "peers"
        source = peers / ("etch_writes.c" if self.written else "etch_calls.c")
        macros = _macros(name, manifest) | {"ETCH_BEAMS": str(self.beams)}
        defines = [f"-D{key}={value}" for key, value in macros.items()]
        _run("cc", "-std=c99", "-O2", "-fPIC", "-c", "-o", calls, source, *defines, *includes)
        _run(
            *("c++", "-std=c++17", "-O2", "-fPIC", "-shared", "-o", library, peers / "etch_threads.cpp", calls),
            *(*includes, "-pthread"),
            *(build / "bin" / f"libetch{part}.a" for part in (f"_{name}", "_hosted", "")),
        )
        return library

    def _endless(self) -> Path:
        """The checkpoint, but that it never writes its end before there is no more room."""
        folder = self.folder / "endless"
        folder.mkdir(exist_ok=True)
        for file in self.checkpoint.iterdir():
            if file.is_file():
                shutil.copyfile(file, folder / file.name)
        settings = json.loads((self.checkpoint / GENERATION_FILE).read_text(encoding="utf-8"))
        least = self.written + 1  # the token that the decoder begins with counts
        settings = {key: value for key, value in settings.items() if key != "forced_eos_token_id"}
        settings |= {"min_length": least, "max_length": least} if self.encoder else {"min_new_tokens": self.written}
        text = json.dumps(settings)
        (folder / GENERATION_FILE).write_text(text, encoding="utf-8")
        return folder

    def _ctranslate2(self, precision: str) -> Path:
        from .ctranslate2_model import write_ctranslate2

        path = self.folder / f"ctranslate2-{precision}"
        if not (path / "model.bin").exists():
            write_ctranslate2(self.checkpoint, path, "int8" if precision == "int8" else None)
        return path

    def _llamacpp(self, kind: str) -> Path:
        from .llamacpp_model import write_gguf

        path = self.folder / f"llamacpp-{kind}.gguf"
        if not path.exists():
            part = path.with_suffix(".part")
            write_gguf(self.checkpoint, part, kind)
            part.rename(path)
        return path

    def _onnx(self, *, fused: bool) -> Path:
        from .onnx_model import write_onnx

        path = self.folder / ("fused-texts.onnx" if fused else "plain-texts.onnx")
        if not path.exists():
            part = path.with_suffix(".part")
            write_onnx(self.checkpoint, part, fused=fused)
            part.rename(path)
        return path

    def _onnx_int8(self, source: Path) -> Path:
        from onnx import TensorProto
        from onnxruntime.quantization import QuantType, quantize_dynamic

        path = source.with_name(f"{source.stem}-int8.onnx")
        if not path.exists():
            part = path.with_suffix(".part")
            types = {"DefaultTensorType": TensorProto.FLOAT}  # of what follows ONNX Runtime's own ops
            quantize_dynamic(source, part, per_channel=True, weight_type=QuantType.QInt8, extra_options=types)
            part.rename(path)
        return path

    def _litert(self) -> Path:
        from .litert_model import write_litert

        path = self.folder / "texts.tflite"
        if not path.exists():
            part = path.with_suffix(".part")
            write_litert(self.checkpoint, part)
            part.rename(path)
        return path

    def _litert_int8(self, source: Path) -> Path:
        from .litert_model import quantize_litert

        path = source.with_name(f"{source.stem}-int8.tflite")
        if not path.exists():
            part = path.with_suffix(".part")
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):  # its progress
                quantize_litert(source, part)
            part.rename(path)
        return path

    def _openvino_int8(self) -> Path:
        texts = self.calibration[:MOST_CALIBRATION_TEXTS]
        path = self.folder / f"nncf-int8-{zlib.crc32(json.dumps(texts).encode()):08x}.xml"
        if not path.exists():
            import nncf
            import numpy as np
            import openvino

            model = openvino.Core().read_model(self._onnx(fused=False))
            dataset = nncf.Dataset(texts, lambda ids: {"input_ids": np.array([ids], np.int64)})
            with contextlib.redirect_stdout(io.StringIO()):  # its progress
                quantized = nncf.quantize(model, dataset, model_type=nncf.ModelType.TRANSFORMER, subset_size=len(texts))
            openvino.save_model(quantized, path)
        return path


def _verb(manifest: dict[str, Any]) -> str:
    return VERBS.get(manifest["task"], "classify")


def _macros(name: str, manifest: dict[str, Any]) -> dict[str, str]:
    """What etch_model.h and the sources that include it ask for."""
    values = manifest["task"] == "regression"
    return {
        "ETCH_HEADER": f'"{name}.h"',
        "ETCH_PREFIX": f"etch_{name}_",
        "ETCH_COUNT": f"ETCH_{name.upper()}_{'VALUE' if values else 'LABEL'}_COUNT",
        "ETCH_SCRATCH": f"ETCH_{name.upper()}_SCRATCH_BYTES",
        "ETCH_VERB": _verb(manifest),
        "ETCH_OUTPUTS": "value" if values else "logits",
    }


def _run(*command: str | Path) -> None:
    done = subprocess.run([str(part) for part in command], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).strip().splitlines()
        raise PrepareError(f"{Path(command[0]).name} failed: " + " | ".join(lines[-3:]))
