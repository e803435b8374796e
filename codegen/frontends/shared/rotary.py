# SPDX-License-Identifier: Apache-2.0
"""Tables of the angles that queries and keys are turned by (Su et al., 2021), as `rope_parameters` asks for them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from ...errors import EtchError, printable
from ...ir.graph import Parameter
from ...ir.parameter import F32Array
from ...load.config import Config
from ...load.limits import Limits
from . import parts
from .computed import Computed
from .sinusoids import sine_and_cosine

_POSITIONS, _PART = "max_position_embeddings", "partial_rotary_factor"
PROPORTIONAL = "proportional"
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
    slower: tuple[float, ...] = ()  # by how much each pair is, where each has a factor of its own
    slow: tuple[float, ...] = ()  # of yarn, of each pair how much of it is: its angle is a mean
    amplitude: float = 1.0  # what cosines and sines are multiplied by
    turned: int | None = None  # of proportional ones, how many pairs are: the first ones; None: all

    def frequencies(self, width: int) -> F32Array:
        """[width / 2]: by the operations of `modeling_rope_utils.py` of `transformers`, each rounded to float32. A
        number by a tensor is the tensor's inverse times the number, as in PyTorch."""
        found = self._of_all_pairs(width)
        return found if self.turned is None else np.where(np.arange(width // 2) < self.turned, found, np.float32(0))

    def _of_all_pairs(self, width: int) -> F32Array:
        with localcontext() as context:
            context.prec = 30
            exponents = [Decimal(float(np.float32(2 * k) / np.float32(width))) for k in range(width // 2)]
            powers = np.array([float(Decimal(self.theta) ** exponent) for exponent in exponents], np.float32)
        if self.slower:
            return np.float32(1) / (np.array(self.slower, np.float32) * powers)
        usual = np.float32(1) / powers
        if self.slow:
            fast = np.float32(1) - np.array(self.slow, np.float32)
            return np.float32(1) / (np.float32(self.factor) * powers) * (np.float32(1) - fast) + usual * fast
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
    the model."""
    values, key = said_in(config)
    return angles_in(values, key, config.number("rope_theta", theta), positions)


def said_in(config: Config, *, beside: bool = False) -> tuple[dict[str, Any], str]:
    """What a configuration says of its angles, and by which key. In files of today they are an object of its own,
    before it only its kind was one. `beside` it some families have the positions of their first training."""
    if config.values.get(_LLAMA3[2]) is not None and not beside:
        raise _refuse(f"{_LLAMA3[2]} counts inside of rope_parameters only: put it there")
    asked = {key: config.values.get(key) for key in ("rope_parameters", "rope_scaling")}
    said = {key: value for key, value in asked.items() if value is not None}
    if len(said) == 2 and asked["rope_parameters"] != asked["rope_scaling"]:
        raise _refuse("rope_scaling is not rope_parameters: make them agree, or leave one out")
    for key, value in said.items():
        if not isinstance(value, dict):
            raise _refuse(f"{key}: expected an object")
        return value, key
    return {}, "rope_theta"


def partial_angles(
    values: dict[str, Any], key: str, usual: tuple[float, float], positions: int, width: int
) -> tuple[Angles, int]:
    """Of a model that turns a part of each head of `width` values, and how many of them. `usual` are theta and the part
    where `values`, which are those of `key`, say none."""
    theta, part = usual
    rest = {name: value for name, value in values.items() if name != _PART}
    return angles_in(rest, key, theta, positions), turned_in(values, part, width)


def turned_in(values: dict[str, Any], part: float, width: int) -> int:
    """How many of a head's values are turned, of `width`, by `part` where the object says no other."""
    part = values.get(_PART, part)
    turned = int(width * part) if isinstance(part, (int, float)) and 0 < part <= 1 else 0
    if turned == 0 or turned % 2:
        message = f"{printable(str(part))} of a head's {width} values are turned: an even number of them is needed"
        raise _refuse(f"{_PART}: {message}")
    return turned


def proportional_angles(values: object, key: str, theta: float, positions: int, width: int) -> Angles:
    """The same of one object for heads of `width` values, where it may say that a part of the pairs is turned as if all
    were: proportional ones."""
    if not isinstance(values, dict) or kind_of(Config.from_json(values)) != PROPORTIONAL:
        return angles_in(values, key, theta, positions)
    part = values.get(_PART, 1.0)
    if type(part) not in (int, float) or not 0 <= part <= 1:
        raise _refuse(f"{_PART} of {key}: expected 0 to 1")
    # Slower by a factor, as linear ones are.
    rest = {name: value for name, value in values.items() if name not in (_PART, "type")}
    angles = angles_in({"factor": 1.0, **rest, "rope_type": "linear"}, key, theta, positions)
    return replace(angles, turned=int(part * width // 2))


def angles_in(values: object, key: str, theta: float, positions: int) -> Angles:
    """The same of one object, which is what `key` has."""
    if not isinstance(values, dict):
        raise _refuse(f"{key}: expected an object")
    settings = Config.from_json(values)
    kind = kind_of(settings)
    if kind not in _KEYS:
        raise _refuse(f"{key} is of type {printable(kind)} (supported: {', '.join(_KEYS)})")
    other = sorted(set(values) - {"rope_type", "type", "rope_theta", *_KEYS[kind]})
    if other:
        raise _refuse(f"{key} of type {kind} has {', '.join(map(printable, other))}, which is not supported")
    theta = theta_in(settings, key, theta)
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


def kind_of(settings: Config) -> str:
    """What an object's angles are; before `rope_type` the key was another one."""
    return settings.text("rope_type", settings.text("type", "default"))


def theta_in(settings: Config, key: str, usual: float) -> float:
    """Of the object that is what `key` has."""
    theta = settings.number("rope_theta", usual)
    if not 1 < theta <= _MAX_THETA:
        raise _refuse(f"rope_theta {theta:g} of {key}: expected 1 to {_MAX_THETA:g}")
    return theta


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
    return tables_of_frequencies(name, angles.frequencies(width), positions, angles.amplitude)


def tables_of_frequencies(
    name: str, frequencies: np.ndarray, positions: int, amplitude: float = 1.0
) -> tuple[Parameter, Parameter]:
    """The same where others than those of `Angles` count."""
    sines, cosines = sine_and_cosine(np.arange(positions)[:, None] * frequencies.astype(np.float64))
    return _table(f"{name}_cosines", cosines * amplitude), _table(f"{name}_sines", sines * amplitude)


def still_tables(name: str, positions: int) -> tuple[Parameter, Parameter]:
    """Cosines and sines [positions, 1] that turn nothing."""
    return _table(f"{name}_cosines", np.ones((positions, 1))), _table(f"{name}_sines", np.zeros((positions, 1)))


def _table(name: str, values: np.ndarray) -> Parameter:
    return Parameter(name, (Computed(name, values.shape, lambda: values.astype(np.float32)),), common=True)


def _refuse(message: str) -> EtchError:
    return parts.refuse("rotary-not-supported", message)
