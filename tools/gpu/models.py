# SPDX-License-Identifier: Apache-2.0
"""The models that are checked and measured: the committed one, and those that are generated here."""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from .checks import BUILD, ROOT, Check, run

GENERATOR_NEEDS = ("numpy", "jinja2", "tokenizers")


@dataclass(frozen=True)
class Model:
    name: str
    folder: Path
    classifies: bool = False  # AG News: its answers to the 7,600 rows are checked
    reference: str | None = None  # the fp32 model that its accuracy is compared with
    fp32: bool = False

    @property
    def program(self) -> str:
        return "classify" if self.name == "agnews" else f"classify-{self.name}"


def missing_packages() -> list[str]:
    return [name for name in GENERATOR_NEEDS if importlib.util.find_spec(name) is None]


def prepare_models() -> tuple[list[Model], list[Check]]:
    """Those that are there or could be generated, and a word on the others."""
    models = [Model("agnews", ROOT / "generated" / "agnews", True, "agnews_fp32")]
    if missing := missing_packages():
        reason = f"the generator needs {', '.join(missing)}"
        return models, [Check("models fp32, minilm, bert_base", "skipped", reason)]
    checks = []
    wanted = [("agnews_fp32", ROOT / "tools/train/agnews/checkpoint", "fp32", None)]
    if folder := os.environ.get("ETCH_MODELS"):
        minilm = Path(folder) / "minilm_l6_agnews"
        wanted += [("minilm", minilm, "w8a8", "minilm_fp32"), ("minilm_fp32", minilm, "fp32", None)]
    else:
        checks.append(Check("model minilm", "skipped", "ETCH_MODELS is not set"))
    checkpoint = BUILD / "bert_base_checkpoint"
    if not (checkpoint / "model.safetensors").exists():
        script = ROOT / "tests" / "codegen" / "large_checkpoint.py"
        written = run("bert-base-checkpoint", [sys.executable, script, "base", checkpoint])
        if not written.well:
            checks.append(Check("model bert_base", "failed", written.failure))
    if (checkpoint / "model.safetensors").exists():
        wanted.append(("bert_base", checkpoint, "w8a8", None))
    for name, source, recipe, reference in wanted:
        folder = BUILD / "generated" / name  # not models/, where CMake builds them
        command = ["generate", source, "--out", folder, "--name", name, "--recipe", recipe, "--gpu"]
        done = run(f"generate-{name}", [sys.executable, "-m", "codegen", *command], {"PYTHONPATH": str(ROOT)})
        if done.well:
            models.append(Model(name, folder, name != "bert_base", reference, recipe == "fp32"))
        else:
            checks.append(Check(f"model {name}", "failed", done.failure))
    return models, checks
