# SPDX-License-Identifier: Apache-2.0
"""SequenceSummary of `transformers`: a row of the text, a linear of it, and one to the outputs of a task."""

from __future__ import annotations

from ...ir.graph import Head, Pool, Pooling
from ...ir.task import Task
from ...load.config import Config
from ...load.safetensors import TensorFile
from . import parts
from .classifier_head import OUT, POOLED, classifier_head
from .rows import HeadOps

KEYS = frozenset(
    ("summary_activation", "summary_first_dropout", "summary_last_dropout", "summary_type", "summary_use_proj")
)
_SUMMARY = "sequence_summary.summary"
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
    dense = ("summary", _SUMMARY, activation)
    return classifier_head(config, tensors, "hidden", width, source, dense, pooling=pooling, task=task)


def row_summary_head(config: Config, tensors: TensorFile, width: int, source: str, task: Task) -> HeadOps:
    """The same of a family whose configuration has no such keys unless a file adds them: a row as it is, the last one
    where none is named."""
    if config.values.get("summary_use_proj") or config.values.get("summary_activation"):
        message = "summary_use_proj and summary_activation: only a row as it is is supported"
        raise parts.refuse("summary-not-supported", message)
    pooling = _pooling(config, "last")
    return classifier_head(config, tensors, "hidden", width, source, pooling=pooling, task=task)


def labels_summary_head(config: Config, tensors: TensorFile, width: int) -> HeadOps:
    """Of a family whose classifiers have no linear behind the summary: it has as many outputs as there are labels."""
    pooling = _pooling(config, "first")
    _check_of_labels(config)
    if config.values.get("summary_activation"):
        raise parts.refuse("summary-not-supported", "summary_activation: of a classifier only logits are supported")
    return classifier_head(config, tensors, "hidden", width, _SUMMARY, pooling=pooling)


def labels_choice_head(config: Config, tensors: TensorFile, width: int, source: str, task: Task) -> HeadOps:
    """The same of a class that chooses, with one more linear, called `source`."""
    labels, pooling = len(config.labels()), _pooling(config, "first")
    _check_of_labels(config)
    activation = config.values.get("summary_activation") or "none"
    if activation not in ("none", "tanh"):
        activation = parts.activation_named(str(activation), "summary_activation")
    body = (
        Pool(pooling, "hidden", "row"),
        parts.linear(tensors, "summary", [_SUMMARY], (labels, width), "row", POOLED, activation),
        parts.linear(tensors, "classifier", [source], (task.outputs, labels), POOLED, OUT, exact=True),
    )
    return body, {"row": width, POOLED: labels, OUT: task.outputs}, Head(task, OUT)


def _check_of_labels(config: Config) -> None:
    if not config.flag("summary_use_proj", True) or not config.flag("summary_proj_to_labels", True):
        message = "only summaries by a linear to the labels (summary_use_proj, summary_proj_to_labels) are supported"
        raise parts.refuse("summary-not-supported", message)


def _pooling(config: Config, usual: str) -> Pooling:
    kind = config.text("summary_type", usual)
    if kind not in _SUMMARIES:
        raise parts.refuse("pooling-not-supported", f"summary_type '{kind}' (supported: {', '.join(_SUMMARIES)})")
    return _SUMMARIES[kind]
