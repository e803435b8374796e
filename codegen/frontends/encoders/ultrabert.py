# SPDX-License-Identifier: Apache-2.0
"""UltraBERT: EuroBERT with windows in some layers, angles by kind of layer, and heads of its own. Names as in
`transformers`, which saves the encoder and the last linear of what predicts words by those of older files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.graph import Pooling
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.llama_encoder import Family
from ..shared import parts
from ..shared.classifier_head import classifier_head
from ..shared.layer_kinds import (
    FULL,
    SLIDING,
    Seen,
    angles_by_kind,
    every_so_manyth,
    layer_kinds,
    seen_by_kind,
    tables_by_kind,
    windows_by_kind,
)
from ..shared.llama_stack import MAX_POSITIONS, Stack
from ..shared.masks import masks_both_ways
from ..shared.prediction_head import Prediction
from ..shared.rows import HeadOps

MODEL_TYPE = "ultrabert"
HARMLESS_KEYS = frozenset({"attention_dropout", "classifier_pooling", "prediction_head_size"})
# Where the configuration does not say them: the first theta is of an object that has none.
_THETA, _THETAS = 10_000.0, {FULL: 2_560_000.0, SLIDING: 10_000.0}
_EPSILON, _WINDOW, _EVERY, _PREDICTION = 1e-6, 128, 3, 768
_POOLING: dict[str, Pooling] = {"cls": "first", "mean": "mean"}
_OLDER_WINDOWS, _OLDER_THETAS = "attention_windows", "rope_theta"  # of older files, a list with a number for each layer


def _seen_by(config: Config, positions: int, tokens: int) -> Callable[[int], Seen]:
    kinds, window = _kinds_and_window(config)
    thetas = {kind: (None, theta) for kind, theta in _thetas(config, kinds).items()}
    angles = angles_by_kind(config, thetas, positions)
    masks = masks_both_ways(windows_by_kind(kinds, window))
    return lambda width: seen_by_kind(kinds, tables_by_kind(angles, kinds, tokens, width), masks)


def _kinds_and_window(config: Config) -> tuple[tuple[str, ...], int]:
    """What each layer is, and how many tokens to each side those that slide see. Of an older file's windows the library
    takes the first for all of them."""
    kinds = layer_kinds(config, every_so_manyth(config, _EVERY))
    window = config.natural_int("sliding_window", _WINDOW, maximum=MAX_POSITIONS)
    if _OLDER_WINDOWS not in config:
        return kinds, window
    windows = config.values[_OLDER_WINDOWS]
    known = isinstance(windows, list) and all(size is None or type(size) is int for size in windows)
    if not known or len(windows) != len(kinds) or not all(0 <= (size or 0) <= MAX_POSITIONS for size in windows):
        raise parts.refuse("config-value", f"{_OLDER_WINDOWS}: expected a number for each of {len(kinds)} layers")
    sizes = {size for size in windows if size}
    older = tuple(SLIDING if size else FULL for size in windows)
    if len(sizes) > 1:
        raise parts.refuse("config-not-supported", f"{_OLDER_WINDOWS}: windows of several sizes")
    if config.values.get("layer_types") is not None and kinds != older:
        raise parts.refuse("config-value", f"layer_types are not what {_OLDER_WINDOWS} say: leave one out")
    if "sliding_window" in config and not sizes <= {window}:
        raise parts.refuse("config-value", f"sliding_window is not that of {_OLDER_WINDOWS}: leave one out")
    return older, next(iter(sizes), window)


def _thetas(config: Config, kinds: Sequence[str]) -> dict[str, float]:
    """Of each kind, where rope_parameters does not say it. Of an older file's the library takes each kind's last."""
    if config.values.get("rope_scaling") is not None:
        raise parts.refuse("rotary-not-supported", "rope_scaling is not supported: put it into rope_parameters")
    older = config.values.get(_OLDER_THETAS)
    if config.values.get("rope_parameters") is not None:
        if older is not None:
            raise parts.refuse("rotary-not-supported", f"{_OLDER_THETAS} beside rope_parameters: leave one out")
        return dict.fromkeys(_THETAS, _THETA)
    if older is None:
        return _THETAS
    known = isinstance(older, list) and all(type(theta) in (int, float) for theta in older)
    if not known or len(older) != len(kinds):
        message = f"{_OLDER_THETAS}: expected a number for each of {len(kinds)} layers"
        raise parts.refuse("rotary-not-supported", message)
    pairs = set(zip(kinds, older, strict=True))
    if len(pairs) > len(set(kinds)):
        raise parts.refuse("rotary-not-supported", f"{_OLDER_THETAS}: several for layers of one kind")
    return _THETAS | dict(pairs)


def _classifier(config: Config, tensors: TensorFile, stack: Stack) -> HeadOps:
    pooling = config.text("classifier_pooling", "cls")
    if pooling not in _POOLING:
        supported = ", ".join(_POOLING)
        raise parts.refuse("pooling-not-supported", f"classifier_pooling '{pooling}' (supported: {supported})")
    return classifier_head(config, tensors, stack.rows, stack.width, "classifier", pooling=_POOLING[pooling])


def _prediction(config: Config, tensors: TensorFile, stack: Stack) -> Prediction:
    width = config.positive_int("prediction_head_size", _PREDICTION, maximum=parts.MAX_WIDTH)
    return Prediction(
        dense="head.linear2",
        before=("head.linear1", width),
        norm=None,
        bias="",
        decoder="cls" if "cls.weight" in tensors else "head.decoder",
        activation=parts.ACTIVATIONS["gelu_pytorch_tanh"],
        epsilon=0.0,
        width=stack.width,
        dense_bias=False,
        decoder_bias=False,
        tied=False,
    )


FAMILY = Family("Ultrabert", ("ultrabert.", "model."), _EPSILON, _seen_by, _classifier, _prediction)
