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

from .files import CheckpointFolder
from .head_file import Activation, HeadFile, head_refusal, open_head_weights
from .refusal import shown
from .safetensors import TensorFile

MAX_LAYERS = 4
_MAX_WIDTH = 16_384
# With another value these would change what is computed.
_ONLY: Mapping[str, object] = {
    "proj_size": 0,
    "packed": True,
    "pooling": "last_states",
    "nonlinearity": "tanh",
    "reset_after": True,
}
_READ = ("hidden_size", "num_layers", "bidirectional", "bias", "input_size", "batch_first", "dropout")


@dataclass(frozen=True)
class GruHead:
    """What follows the encoder; its tensors are for the front-end to take."""

    width: int  # of a direction's states
    layers: int
    directions: int
    bias: bool
    labels: tuple[str, ...]
    activation: Activation
    tensors: TensorFile


def read_gru_head(folder: CheckpointFolder, file: HeadFile, width: int) -> GruHead:
    """The head that `file` says; `width` is that of the encoder's rows."""
    config = file.config
    file.check_keys(_READ, _ONLY)
    config.flag("batch_first", True)
    if not 0 <= config.number("dropout", 0.0) <= 1:
        raise head_refusal("config-out-of-range", f"'dropout' must be in 0..1, got {shown(config.values['dropout'])}")
    if config.positive_int("input_size", width) != width:
        inputs = config.positive_int("input_size")
        raise head_refusal("head-width", f"'input_size' is {inputs}, the encoder's rows have {width} values")
    return GruHead(
        width=config.positive_int("hidden_size", maximum=_MAX_WIDTH),
        layers=config.positive_int("num_layers", 1, maximum=MAX_LAYERS),
        directions=2 if config.flag("bidirectional", False) else 1,
        bias=config.flag("bias", True),
        labels=file.labels,
        activation=file.activation,
        tensors=open_head_weights(folder),
    )
