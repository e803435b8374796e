# SPDX-License-Identifier: Apache-2.0
"""EuroBERT (Boizard et al., 2025, arXiv:2503.05500): Llama's layers without a mask. Names as in `transformers`."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.graph import Pooling
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.llama_encoder import Family
from ..shared import parts
from ..shared.classifier_head import classifier_head
from ..shared.layer_kinds import Seen
from ..shared.llama_stack import Rotation, Stack
from ..shared.masks import EVERYTHING
from ..shared.prediction_head import Prediction
from ..shared.rotary import angles_of
from ..shared.rows import HeadOps

MODEL_TYPE = "eurobert"
HARMLESS_KEYS = frozenset({"attention_dropout", "classifier_pooling", "mask_token_id", "pretraining_tp"})
_THETA, _EPSILON = 10_000.0, 1e-5  # where the configuration does not say them
_POOLING: dict[str, Pooling] = {"bos": "first", "mean": "mean"}
_LATE = "late"  # the mean of all rows' logits, which the last linear makes of the mean of its inputs
_DENSE, _CLASSIFIED = "classifier_dense", "classified"


def _seen_by(config: Config, positions: int, tokens: int) -> Callable[[int], Seen]:
    return Rotation(angles_of(config, _THETA, positions), tokens, masks=EVERYTHING).seen


def _classifier(config: Config, tensors: TensorFile, stack: Stack) -> HeadOps:
    """A linear and its activation, of one row or, where the mean is of the logits, of every row."""
    pooling, width = config.text("classifier_pooling", _LATE), stack.width
    if pooling == _LATE:
        dense = parts.linear(tensors, _DENSE, ["dense"], (width, width), stack.rows, _CLASSIFIED, "gelu")
        ops, widths, head = classifier_head(config, tensors, _CLASSIFIED, width, "classifier", pooling="mean")
        return (dense, *ops), widths | {_CLASSIFIED: width}, head
    if pooling not in _POOLING:
        supported = ", ".join((*_POOLING, _LATE))
        raise parts.refuse("pooling-not-supported", f"classifier_pooling '{pooling}' (supported: {supported})")
    of_row = (_DENSE, "dense", "gelu")
    return classifier_head(config, tensors, stack.rows, width, "classifier", of_row, pooling=_POOLING[pooling])


def _prediction(config: Config, tensors: TensorFile, stack: Stack) -> Prediction:
    return Prediction.of_rows("lm_head", stack.width, bias=config.flag("mlp_bias", False))


FAMILY = Family("EuroBert", ("model.",), _EPSILON, _seen_by, _classifier, _prediction)
