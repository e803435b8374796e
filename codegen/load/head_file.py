# SPDX-License-Identifier: Apache-2.0
"""head.json and head.safetensors, with the encoder in a folder beside: etch's own form of a head for which no library
has one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
Activation = Literal["softmax", "sigmoid"]
_ACTIVATIONS: Mapping[str, Activation] = {"softmax": "softmax", "sigmoid": "sigmoid"}
_SHARED = ("type", "labels", "activation")


@dataclass(frozen=True)
class HeadFile:
    """What all heads say."""

    config: Config
    type: str
    labels: tuple[str, ...]
    activation: Activation  # softmax: one of the labels holds; sigmoid: each by itself, usually one

    def check_keys(self, read: Collection[str], only: Mapping[str, object] = {}) -> None:
        """Refuses keys but those that are `read`, and those of which `only` one value is."""
        for key, value in self.config.values.items():
            if key in only:
                if value != only[key] or type(value) is not type(only[key]):
                    raise head_refusal(
                        "head-setting", f"'{key}': {shown(value)} is not supported, {shown(only[key])} is"
                    )
            elif key not in read and key not in _SHARED:
                raise head_refusal("head-setting", f"the setting {shown(key)} is not known")


def read_head_file(folder: CheckpointFolder) -> HeadFile:
    """Of a folder that has FILE."""
    config = Config.from_json(folder.read_json(FILE), FILE)
    kind = config.text("type").lower()
    if kind not in ("gru", "logistic"):
        raise head_refusal("head-type-not-supported", f"'type' is {shown(kind)} (supported: gru, logistic)")
    labels = _labels(config.values.get("labels"))
    activation = config.text("activation")
    if activation not in _ACTIVATIONS:
        message = f"'activation' is {shown(activation)} (supported: softmax, sigmoid)"
        raise head_refusal("activation-not-supported", message)
    if activation == "softmax" and len(labels) == 1:
        raise head_refusal("labels-conflict", "softmax of one label is always 1: say sigmoid")
    return HeadFile(config, kind, labels, _ACTIVATIONS[activation])


def check_layout(folder: CheckpointFolder) -> None:
    """EtchError where the folder of a head holds something else than one."""
    if folder.has("config.json"):
        raise head_refusal("head-conflict", f"beside it lies config.json: the encoder belongs into {ENCODER}/")
    if not folder.has(ENCODER):
        raise head_refusal(
            "encoder-missing", f"there is no {ENCODER}/ beside it, the folder that the encoder was saved to"
        )
    if not folder.is_folder(ENCODER):
        raise refusal("encoder-missing", "a link or a file: a folder is needed", file=ENCODER)
    if folder.has(f"{ENCODER}/{FILE}"):
        raise refusal("head-conflict", "a head on a head is not supported", file=f"{ENCODER}/{FILE}")


def open_head_weights(folder: CheckpointFolder) -> TensorFile:
    """The tensors of a folder that has FILE."""
    if folder.has(WEIGHTS_FILE):
        return TensorFile.open_in(folder, WEIGHTS_FILE)
    pickled = [name for name in pickled_names(folder.names()) if name.startswith("head.")]
    if pickled:
        message = f"pickle is refused: write {WEIGHTS_FILE} with safetensors.torch.save_file(head.state_dict(), ...)"
        raise refusal("pickle-refused", message, file=pickled[0])
    raise refusal("weights-missing", "the weights of the head are missing", file=WEIGHTS_FILE)


def head_refusal(code: str, message: str) -> Exception:
    """Of FILE."""
    return refusal(code, message, file=FILE)


def _labels(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not 1 <= len(given) <= MAX_LABELS:
        raise head_refusal("labels-type", f"'labels' must be a list of 1..{MAX_LABELS} names, got {shown(given)}")
    for label in given:
        if not isinstance(label, str):
            raise head_refusal("labels-type", f"a label must be a string, got {shown(label)}")
    if len(set(given)) != len(given):
        raise head_refusal("labels-duplicate", "two outputs have the same name")
    return tuple(given)
