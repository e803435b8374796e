# SPDX-License-Identifier: Apache-2.0
"""SequenceSummary of `transformers`: a row of the text, a linear of it, and one to the outputs of a task."""

from __future__ import annotations

from ...ir.graph import Pooling
from ...ir.task import Task
from ...load.config import Config
from ...load.safetensors import TensorFile
from . import parts
from .classifier_head import classifier_head
from .rows import HeadOps

KEYS = frozenset(
    ("summary_activation", "summary_first_dropout", "summary_last_dropout", "summary_type", "summary_use_proj")
)
_SUMMARIES: dict[str, Pooling] = {"first": "first", "last": "last", "mean": "mean"}


def summary_head(
    config: Config,
    tensors: TensorFile,
    width: int,
    source: str,
    usual: tuple[str, str],
    task: Task | None = None,
) -> HeadOps:
    """From `hidden` to the outputs of a linear that the file calls `source`; `usual` are the row and the activation of
    a configuration that says none."""
    usual_kind, usual_activation = usual
    pooling = _pooling(config, usual_kind)
    if not config.flag("summary_use_proj", True) or config.flag("summary_proj_to_labels", False):
        raise parts.refuse(
            "summary-not-supported",
            "only summaries by a linear of the encoder's width (summary_use_proj) are supported",
        )
    activation = config.text("summary_activation", usual_activation)
    if activation != "tanh":
        activation = parts.activation_named(activation, "summary_activation")
    dense = ("summary", "sequence_summary.summary", activation)
    return classifier_head(config, tensors, "hidden", width, source, dense, pooling=pooling, task=task)


def row_summary_head(config: Config, tensors: TensorFile, width: int, source: str, task: Task) -> HeadOps:
    """The same of a family whose configuration has no such keys unless a file adds them: a row as it is, the last one
    where none is named."""
    if config.values.get("summary_use_proj") or config.values.get("summary_activation"):
        message = "summary_use_proj and summary_activation: only a row as it is is supported"
        raise parts.refuse("summary-not-supported", message)
    pooling = _pooling(config, "last")
    return classifier_head(config, tensors, "hidden", width, source, pooling=pooling, task=task)


def _pooling(config: Config, usual: str) -> Pooling:
    kind = config.text("summary_type", usual)
    if kind not in _SUMMARIES:
        raise parts.refuse("pooling-not-supported", f"summary_type '{kind}' (supported: {', '.join(_SUMMARIES)})")
    return _SUMMARIES[kind]
