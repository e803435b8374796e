# SPDX-License-Identifier: Apache-2.0
"""LayerNorm modules of sentence-transformers, of the row of a text. Weights in a file of their own,
`PATH/model.safetensors` with norm.weight and norm.bias."""

from __future__ import annotations

from dataclasses import dataclass

from .config import Config
from .dense import open_module_weights
from .files import CheckpointFolder
from .refusal import refusal
from .safetensors import TensorFile
from .sentence_files import only, read_module_settings


@dataclass(frozen=True)
class RowNorm:
    """One module; its tensors are for the front-end to take."""

    width: int
    tensors: TensorFile

    @property
    def outputs(self) -> int:
        return self.width


def read_row_norm(folder: CheckpointFolder, path: str, width: int) -> RowNorm:
    """The module in a folder of the checkpoint; `width` is that of the row before it."""
    file = f"{path}/config.json"
    config = Config.from_json(read_module_settings(folder, file, "LayerNorm"), file)
    only(config.values, ("dimension",), file)
    dimension = config.positive_int("dimension")
    if dimension != width:
        raise refusal("sentence-width", f"'dimension' is {dimension}, the row before it has {width} values", file=file)
    return RowNorm(width, open_module_weights(folder, path, "LayerNorm"))
