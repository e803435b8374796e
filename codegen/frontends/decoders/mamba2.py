# SPDX-License-Identifier: Apache-2.0
"""Mamba-2 (Dao and Gu 2024, arXiv:2405.21060): layers of a state space, none of attention. Names as in
`transformers`."""

from __future__ import annotations

from ...ir.graph import Op
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family, Names
from ..shared import parts
from ..shared.llama_parts import LlamaParts, Sizes
from ..shared.llama_stack import Stack
from ..shared.mamba_mixer import LINEAR, Mamba, Usual, mixer
from ..shared.mamba_stack import mamba_stack

MODEL_TYPE = "mamba2"
# From which weights are made before training, and how the library goes through a text.
_HARMLESS = """
    chunk_size residual_in_fp32 time_step_floor time_step_max time_step_min time_step_rank
"""
HARMLESS_KEYS = frozenset(_HARMLESS.split())
_RESCALED = "rescale_prenorm_residual"
_WIDTH, _LAYERS, _EPSILON = 4096, 64, 1e-5  # where the configuration does not say them
_USUAL = Usual(heads=128, groups=8, state_width=128, head_width=64)
_TOKENS = 2048  # of the texts of its paper; a state ends nowhere
_NAMES = Names("backbone.", words="embeddings.weight")


def _width(config: Config) -> int:
    return config.positive_int("hidden_size", _WIDTH, maximum=parts.MAX_WIDTH)


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    width, count = _width(config), config.positive_int("num_hidden_layers", _LAYERS, maximum=parts.MAX_LAYERS)
    parts.check_layers(tensors, count)
    if config.flag(_RESCALED, False):
        message = f"{_RESCALED}: the library divides weights that it reads by the root of the number of layers"
        raise parts.refuse("config-not-supported", message)
    mamba = Mamba.read(config, _USUAL, width)
    sizes = Sizes(width, 1, 1, width, width, count)
    made = LlamaParts(tensors, prefix, sizes, parts.epsilon_of(config, "layer_norm_epsilon", _EPSILON))

    def ops_of(of_kind: LlamaParts, kind: str) -> tuple[Op, ...]:
        return (of_kind.norm("mixer_norm", "norm"), *mixer(of_kind, mamba, "mixer"))

    widths = {"hidden": width, "normed": width, **mamba.widths}
    words = _NAMES.words, vocabulary
    return mamba_stack(made, words, [LINEAR] * count, ops_of, widths, final_norm="norm_f")


FAMILY = Family(
    "Mamba2",
    "GPTNeoXTokenizer",
    _stack,
    names=_NAMES,
    width_of=_width,
    usual_positions=_TOKENS,
    padding=1,
    endless=True,
)
