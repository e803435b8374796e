# SPDX-License-Identifier: Apache-2.0
"""LayerNorm modules of sentence-transformers, of the row of a text. Weights in a file of their own,
`PATH/model.safetensors` with norm.weight and norm.bias."""

from __future__ import annotations

from dataclasses import dataclass

from .config import Config
from .dense import open_module_weights
from .files import CheckpointFolder
from .refusal import refusal, shown
from .safetensors import TensorFile


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
    if not folder.has(file):
        raise refusal("sentence-file-missing", "the configuration of the LayerNorm module is missing", file=file)
    config = Config.from_json(folder.read_json(file), file)
    other = next((key for key in config.values if key != "dimension"), None)
    if other is not None:
        raise refusal("sentence-setting", f"the setting {shown(other)} is not known", file=file)
    dimension = config.positive_int("dimension")
    if dimension != width:
        raise refusal("sentence-width", f"'dimension' is {dimension}, the row before it has {width} values", file=file)
    return RowNorm(width, open_module_weights(folder, path, "LayerNorm"))
