# SPDX-License-Identifier: Apache-2.0
"""Convolutions of a graph: what a row takes from others of its text, channel by channel."""

from __future__ import annotations

from dataclasses import dataclass

from .op import attribute, earlier, packed, read, weights, written
from .parameter import Parameter

MOST_TAPS = 65  # Nyströmformer's


@dataclass(frozen=True)
class CausalConvolution:
    """Depthwise: each channel by itself. A row takes from itself and from the `taps` - 1 before it in its text, zeros
    before the first one: out[t] = the sum over i of weight[:, i] * input[t - (taps - 1) + i], plus the bias. In the
    phase that repeats, the rows before are those of the steps so far."""

    name: str = attribute()
    weight: Parameter = weights()  # [width, taps], the last one that of the row itself
    bias: Parameter | None = weights()
    input: str = earlier()
    out: str = written()


@dataclass(frozen=True)
class CenteredConvolution:
    """Depthwise: each channel by itself. A row takes from itself and from as many rows before it as behind it in its
    text, zeros outside of it: out[t] = the sum over i of weight[:, i] * input[t + i - (taps - 1) / 2], plus the bias.
    Taps are odd in number."""

    name: str = attribute()
    weight: Parameter = weights()  # [width, taps], the earliest row's first
    bias: Parameter | None = weights()
    input: str = packed()
    out: str = written()


@dataclass(frozen=True)
class DynamicConvolution:
    """The same with taps that each row has of its own (Wu et al. 2019, arXiv:1901.10430): `taps` has as many for each
    of `heads` heads, one head's behind the other's, each for all channels of its head."""

    heads: int = attribute()
    taps: str = read()
    input: str = packed()
    out: str = written()
