# SPDX-License-Identifier: Apache-2.0
"""Dense modules of sentence-transformers: a linear of the pooled row, with an activation. Weights in a file of their
own, `PATH/model.safetensors` with linear.weight and linear.bias."""

from __future__ import annotations

from dataclasses import dataclass

from .config import Config
from .files import CheckpointFolder
from .pickles import PICKLE, pickle_refusal
from .refusal import refusal, shown
from .safetensors import TensorFile
from .sentence_files import PLACES, check_places, only, read_module_settings
from .shards import WEIGHTS_FILE

# The classes that sentence-transformers names -> the runtime's activations.
_ACTIVATIONS = {
    f"torch.nn.{module}{name}": ours
    for name, ours, modules in (
        ("Identity", "none", ("", "modules.linear.")),
        ("Tanh", "tanh", ("", "modules.activation.")),
        ("ReLU", "relu", ("", "modules.activation.")),
        ("GELU", "gelu", ("", "modules.activation.")),
        ("SiLU", "silu", ("", "modules.activation.")),
        ("Sigmoid", "sigmoid", ("", "modules.activation.")),
    )
    for module in modules
}
_KEYS = ("in_features", "out_features", "bias", "activation_function", "use_residual", *PLACES)
_MAX_WIDTH = 65_536


@dataclass(frozen=True)
class Dense:
    """One module; its tensors are for the front-end to take."""

    inputs: int
    outputs: int
    bias: bool
    activation: str  # the runtime's
    tensors: TensorFile


def read_dense(folder: CheckpointFolder, path: str, width: int, value: str = "sentence_embedding") -> Dense:
    """The module in a folder of the checkpoint; `width` is that of the row before it, `value` what rows are called."""
    file = f"{path}/config.json"
    config = Config.from_json(read_module_settings(folder, file, "Dense"), file)
    only(config.values, _KEYS, file)
    check_places(config.values, value, file)
    if config.flag("use_residual", False):
        raise refusal("sentence-setting", "'use_residual': true is not supported", file=file)
    inputs = config.positive_int("in_features", maximum=_MAX_WIDTH)
    if inputs != width:
        raise refusal("sentence-width", f"'in_features' is {inputs}, the row before it has {width} values", file=file)
    named = config.text("activation_function", "torch.nn.modules.activation.Tanh")
    if named not in _ACTIVATIONS:
        raise refusal(
            "activation-not-supported",
            f"'activation_function' is {shown(named)} (supported: {', '.join(_ACTIVATIONS)})",
            file=file,
        )
    return Dense(
        inputs=inputs,
        outputs=config.positive_int("out_features", maximum=_MAX_WIDTH),
        bias=config.flag("bias", True),
        activation=_ACTIVATIONS[named],
        tensors=open_module_weights(folder, path, "Dense"),
    )


def open_module_weights(folder: CheckpointFolder, path: str, module: str) -> TensorFile:
    """Those of a module of sentence-transformers, in its folder; `path` is "" where that is the checkpoint's."""
    inside = f"{path}/" if path else ""
    weights, pickle = f"{inside}{WEIGHTS_FILE}", f"{inside}{PICKLE}"
    if folder.has(weights):
        return TensorFile.open_in(folder, weights)
    if folder.has(pickle):
        raise pickle_refusal(folder, pickle)
    raise refusal("weights-missing", f"the weights of the {module} module are missing", file=weights)
