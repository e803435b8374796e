# SPDX-License-Identifier: Apache-2.0
"""A classifier by a GRU on an encoder that was frozen while it was trained. No library has a format for it; this is
etch's own: a folder with

    encoder/            any supported encoder, as `save_pretrained` or sentence-transformers writes it
    head.json           {"type": "gru", "labels": ["no", "yes"], "activation": "softmax", "hidden_size": 256,
                        "num_layers": 2, "bidirectional": true}
    head.safetensors    PyTorch's names: gru.weight_ih_l0, gru.weight_hh_l0, gru.bias_ih_l0, gru.bias_hh_l0,
                        gru...._l0_reverse, gru...._l1, ..., linear.weight [labels, directions * hidden_size],
                        linear.bias or none

The GRU reads the encoder's rows of all real tokens, special ones included, as PyTorch does with packed sequences. The
linear reads the last state of each direction: forward's of the last token, backward's of the first. "softmax": one of
the labels holds; "sigmoid": each by itself, usually one. Optional are "bias" (true), "batch_first" and "dropout", which
change nothing here, and "input_size", the encoder's width; what else nn.GRU could have is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .config import Config
from .files import CheckpointFolder
from .labels import MAX_LABELS
from .pickles import pickled_names
from .refusal import refusal, shown
from .safetensors import TensorFile

FILE = "head.json"
WEIGHTS_FILE = "head.safetensors"
ENCODER = "encoder"
MAX_LAYERS = 4
_MAX_WIDTH = 16_384
_ACTIVATIONS: Mapping[str, Literal["softmax", "sigmoid"]] = {"softmax": "softmax", "sigmoid": "sigmoid"}
# With another value these would change what is computed.
_ONLY: Mapping[str, object] = {
    "proj_size": 0,
    "packed": True,
    "pooling": "last_states",
    "nonlinearity": "tanh",
    "reset_after": True,
}
_READ = ("type", "labels", "activation", "hidden_size", "num_layers", "bidirectional", "bias", "input_size")
_HARMLESS = ("batch_first", "dropout")


@dataclass(frozen=True)
class GruHead:
    """What follows the encoder; its tensors are for the front-end to take."""

    width: int  # of a direction's states
    layers: int
    directions: int
    bias: bool
    labels: tuple[str, ...]
    activation: Literal["softmax", "sigmoid"]
    tensors: TensorFile


def read_gru_head(folder: CheckpointFolder, width: int) -> GruHead:
    """The head of a folder that has FILE; `width` is that of the encoder's rows."""
    config = Config.from_json(folder.read_json(FILE), FILE)
    _check_keys(config)
    labels = _labels(config.values.get("labels"))
    activation = config.text("activation")
    if activation not in _ACTIVATIONS:
        raise _refusal("activation-not-supported", f"'activation' is {shown(activation)} (supported: softmax, sigmoid)")
    if activation == "softmax" and len(labels) == 1:
        raise _refusal("labels-conflict", "softmax of one label is always 1: say sigmoid")
    if config.positive_int("input_size", width) != width:
        inputs = config.positive_int("input_size")
        raise _refusal("head-width", f"'input_size' is {inputs}, the encoder's rows have {width} values")
    head = GruHead(
        width=config.positive_int("hidden_size", maximum=_MAX_WIDTH),
        layers=config.positive_int("num_layers", 1, maximum=MAX_LAYERS),
        directions=2 if config.flag("bidirectional", False) else 1,
        bias=config.flag("bias", True),
        labels=labels,
        activation=_ACTIVATIONS[activation],
        tensors=_open_weights(folder),
    )
    return head


def check_layout(folder: CheckpointFolder) -> None:
    """EtchError where the folder of a head holds something else than one."""
    if folder.has("config.json"):
        raise _refusal("head-conflict", f"beside it lies config.json: the encoder belongs into {ENCODER}/")
    if not folder.has(ENCODER):
        raise _refusal("encoder-missing", f"there is no {ENCODER}/ beside it, the folder that the encoder was saved to")
    if not folder.is_folder(ENCODER):
        raise refusal("encoder-missing", "a link or a file: a folder is needed", file=ENCODER)
    if folder.has(f"{ENCODER}/{FILE}"):
        raise refusal("head-conflict", "a head on a head is not supported", file=f"{ENCODER}/{FILE}")


def _check_keys(config: Config) -> None:
    kind = config.text("type")
    if kind.lower() != "gru":
        raise _refusal("head-type-not-supported", f"'type' is {shown(kind)} (supported: gru)")
    for key, value in config.values.items():
        if key in _ONLY:
            if value != _ONLY[key] or type(value) is not type(_ONLY[key]):
                raise _refusal("head-setting", f"'{key}': {shown(value)} is not supported, {shown(_ONLY[key])} is")
        elif key not in _READ and key not in _HARMLESS:
            raise _refusal("head-setting", f"the setting {shown(key)} is not known")
    config.flag("batch_first", True)
    if not 0 <= config.number("dropout", 0.0) <= 1:
        raise _refusal("config-out-of-range", f"'dropout' must be in 0..1, got {shown(config.values['dropout'])}")


def _labels(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not 1 <= len(given) <= MAX_LABELS:
        raise _refusal("labels-type", f"'labels' must be a list of 1..{MAX_LABELS} names, got {shown(given)}")
    for label in given:
        if not isinstance(label, str):
            raise _refusal("labels-type", f"a label must be a string, got {shown(label)}")
    if len(set(given)) != len(given):
        raise _refusal("labels-duplicate", "two outputs have the same name")
    return tuple(given)


def _open_weights(folder: CheckpointFolder) -> TensorFile:
    if folder.has(WEIGHTS_FILE):
        return TensorFile.open_in(folder, WEIGHTS_FILE)
    pickled = [name for name in pickled_names(folder.names()) if name.startswith("head.")]
    if pickled:
        message = f"pickle is refused: write {WEIGHTS_FILE} with safetensors.torch.save_file(head.state_dict(), ...)"
        raise refusal("pickle-refused", message, file=pickled[0])
    raise refusal("weights-missing", "the weights of the head are missing", file=WEIGHTS_FILE)


def _refusal(code: str, message: str) -> Exception:
    return refusal(code, message, file=FILE)
