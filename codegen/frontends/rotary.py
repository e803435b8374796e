# SPDX-License-Identifier: Apache-2.0
"""Tables of the angles that queries and keys are turned by (Su et al., 2021), as `rope_parameters` asks for them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np

from ..errors import EtchError, printable
from ..ir.graph import F32Array, Parameter
from ..load.config import Config
from ..load.limits import Limits
from . import parts
from .computed import Computed
from .sinusoids import sine_and_cosine

_POSITIONS = "max_position_embeddings"
_MAX_THETA = 1e12
_MAX_FACTOR = 1e6
_LLAMA3 = ("low_freq_factor", "high_freq_factor", "original_max_position_embeddings")
# What an object may say beside its kind and theta.
_KEYS: dict[str, tuple[str, ...]] = {"default": (), "linear": ("factor",), "llama3": ("factor", *_LLAMA3)}


@dataclass(frozen=True)
class Angles:
    """Position i turns pair k of a head of `width` values by i / theta^(2k / width), or slower."""

    theta: float
    factor: float = 1.0  # so much slower
    # Of llama3, by which only slow pairs are: low_freq_factor, high_freq_factor, original_max_position_embeddings.
    bounds: tuple[float, float, float] | None = None

    def frequencies(self, width: int) -> F32Array:
        """[width / 2]: by the operations of `modeling_rope_utils.py` of `transformers`, each rounded to float32. A
        number by a tensor is the tensor's inverse times the number, as in PyTorch."""
        with localcontext() as context:
            context.prec = 30
            exponents = [Decimal(float(np.float32(2 * k) / np.float32(width))) for k in range(width // 2)]
            powers = np.array([float(Decimal(self.theta) ** exponent) for exponent in exponents], np.float32)
        usual = np.float32(1) / powers
        slow = usual / np.float32(self.factor)
        if self.bounds is None:
            return slow
        low, high, positions = self.bounds
        one = np.float32(1)
        length = one / usual * np.float32(2 * math.pi)
        smooth = (one / length * np.float32(positions) - np.float32(low)) / np.float32(high - low)
        between = (one - smooth) * usual / np.float32(self.factor) + smooth * usual
        fast = np.where(length < np.float32(positions / high), usual, between)
        return np.where(length > np.float32(positions / low), slow, fast)


def limits_of(config: Config, tokenizer_class: str) -> Limits:
    """Of a model that has angles in the place of a table: its positions only bound the texts."""
    positions = config.positive_int(_POSITIONS, maximum=1 << 20)
    width, vocabulary = config.positive_int("hidden_size"), config.positive_int("vocab_size")
    return Limits(width, vocabulary, positions, _POSITIONS, tokenizer_class)


def angles_of(config: Config, theta: float, positions: int) -> Angles:
    """Those of a model whose layers all have the same; `theta` where no key says another one, `positions` are those of
    the model. In files of today they are an object of its own, before it only its kind was one."""
    if config.values.get(_LLAMA3[2]) is not None:
        raise _refuse(f"{_LLAMA3[2]} counts inside of rope_parameters only: put it there")
    theta = config.number("rope_theta", theta)
    asked = {key: config.values.get(key) for key in ("rope_parameters", "rope_scaling")}
    said = {key: value for key, value in asked.items() if value is not None}
    if len(said) == 2 and asked["rope_parameters"] != asked["rope_scaling"]:
        raise _refuse("rope_scaling is not rope_parameters: make them agree, or leave one out")
    for key, value in said.items():
        return angles_in(value, key, theta, positions)
    return angles_in({}, "rope_theta", theta, positions)


def angles_in(values: object, key: str, theta: float, positions: int) -> Angles:
    """The same of one object, which is what `key` has."""
    if not isinstance(values, dict):
        raise _refuse(f"{key}: expected an object")
    settings = Config.from_json(values)
    kind = settings.text("rope_type", settings.text("type", "default"))
    if kind not in _KEYS:
        raise _refuse(f"{key} is of type {printable(kind)} (supported: {', '.join(_KEYS)})")
    other = sorted(set(values) - {"rope_type", "type", "rope_theta", *_KEYS[kind]})
    if other:
        raise _refuse(f"{key} of type {kind} has {', '.join(map(printable, other))}, which is not supported")
    theta = settings.number("rope_theta", theta)
    if not 1 < theta <= _MAX_THETA:
        raise _refuse(f"rope_theta {theta:g} of {key}: expected 1 to {_MAX_THETA:g}")
    if kind == "default":
        return Angles(theta)
    factor = settings.number("factor")
    if not 1 <= factor <= _MAX_FACTOR:
        raise _refuse(f"factor {factor:g} of {key}: expected 1 to {_MAX_FACTOR:g}")
    if kind == "linear":
        return Angles(theta, factor)
    low, high = settings.number(_LLAMA3[0]), settings.number(_LLAMA3[1])
    if not 0 < low < high <= _MAX_FACTOR:
        raise _refuse(f"{_LLAMA3[0]} and {_LLAMA3[1]} of {key}: expected 0 < {low:g} < {high:g}")
    return Angles(theta, factor, (low, high, settings.positive_int(_LLAMA3[2], positions)))


def check_pairs(width: int) -> None:
    """Of a head, whose halves are turned with each other."""
    if width % 2:
        raise parts.refuse("heads-not-even", f"heads of {width} values cannot be turned in pairs")


def check_head_dim(config: Config, width: int) -> None:
    """That no key says another width of a head, which some classes would read for the angles alone."""
    if config.values.get("head_dim") not in (None, width):
        raise parts.refuse("config-not-supported", f"head_dim is not hidden_size / num_attention_heads, {width}")


def rotary_tables(name: str, angles: Angles, positions: int, width: int) -> tuple[Parameter, Parameter]:
    """Cosines and sines [positions, width / 2]. Frequencies are rounded to float32, angles are not."""
    return tables_of_frequencies(name, angles.frequencies(width), positions)


def tables_of_frequencies(name: str, frequencies: np.ndarray, positions: int) -> tuple[Parameter, Parameter]:
    """The same where others than those of `Angles` count."""
    sines, cosines = sine_and_cosine(np.arange(positions)[:, None] * frequencies.astype(np.float64))
    return _table(f"{name}_cosines", cosines), _table(f"{name}_sines", sines)


def still_tables(name: str, positions: int) -> tuple[Parameter, Parameter]:
    """Cosines and sines [positions, 1] that turn nothing."""
    return _table(f"{name}_cosines", np.ones((positions, 1))), _table(f"{name}_sines", np.zeros((positions, 1)))


def _table(name: str, values: np.ndarray) -> Parameter:
    return Parameter(name, (Computed(name, values.shape, lambda: values.astype(np.float32)),), common=True)


def _refuse(message: str) -> EtchError:
    return parts.refuse("rotary-not-supported", message)
