# SPDX-License-Identifier: Apache-2.0
"""A classifier by logistic regression on the embedding of a text, as SetFit trains (Tunstall et al., 2022,
arXiv:2209.11055): a folder with

    encoder/            a folder of sentence-transformers that makes an embedding of each text
    head.json           {"type": "logistic", "labels": ["no", "yes"], "activation": "softmax", "normalize": false}
    head.safetensors    linear.weight [labels, width of the embedding], linear.bias

"normalize": the embedding gets a length of one before the linear, whatever its modules do. `etch convert` makes such a
folder of SetFit's.
"""

from __future__ import annotations

from dataclasses import dataclass

from .files import CheckpointFolder
from .head_file import Activation, HeadFile, open_head_weights
from .safetensors import TensorFile


@dataclass(frozen=True)
class LogisticHead:
    """What follows the embedding; its tensors are for the front-end to take."""

    normalize: bool
    labels: tuple[str, ...]
    activation: Activation
    tensors: TensorFile


def read_logistic_head(folder: CheckpointFolder, file: HeadFile) -> LogisticHead:
    """The head that `file` says."""
    file.check_keys(("normalize",))
    normalize = file.config.flag("normalize", False)
    return LogisticHead(normalize, file.labels, file.activation, open_head_weights(folder))
