# SPDX-License-Identifier: Apache-2.0
"""Names of pickled weights, which are never read here, and what a user can do with them."""

from __future__ import annotations

import re

from ..process.command_line import etch_command
from .files import CheckpointFolder
from .refusal import refusal

PICKLE = "pytorch_model.bin"
SETFIT_HEAD = "model_head.pkl"  # of a classifier by SetFit
PICKLE_SUFFIXES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
# What a Trainer leaves beside the weights.
_NOT_WEIGHTS = re.compile(r"(?:training_args|optimizer|scheduler|scaler|rng_state\w*|trainer_state)\.\w+")


def pickled_names(names: list[str]) -> list[str]:
    """Those of the names that a pickle with weights may have."""
    return [name for name in names if name.endswith(PICKLE_SUFFIXES) and not _NOT_WEIGHTS.fullmatch(name)]


def pickle_refusal(folder: CheckpointFolder, name: str) -> Exception:
    """The refusal of a pickled file, with the command that converts the folder."""
    converted = folder.path.with_name(f"{folder.path.name}-safetensors")
    command = etch_command("convert", folder.path, "--out", converted)
    return refusal("pickle-refused", f"pickle is refused; convert the folder with: {command}", file=name)
