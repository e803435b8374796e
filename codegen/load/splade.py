# SPDX-License-Identifier: Apache-2.0
"""The files of a SparseEncoder of sentence-transformers: how the logits of a masked language model become one row of
weights. Both forms are read, the one of version 5 (`MLMTransformer`) and the one of version 6 (`Transformer` with
`transformer_task` fill-mask)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..ir.graph import WordPooling
from ..ir.query_weights import QueryWeights
from .files import CheckpointFolder
from .max_tokens import SENTENCE_FILE
from .refusal import refusal, shown
from .sentence_files import (
    SETTINGS_FILE,
    USUAL,
    check_transformer,
    only,
    read_module_settings,
    types_of,
)
from .sentence_prompts import settings_notes

SPARSE_PACKAGES = ("sentence_transformers.sparse_encoder.models", "sentence_transformers.sparse_encoder.modules")
SPARSE_TYPES = types_of(SPARSE_PACKAGES, ("MLMTransformer", "SpladePooling"))
_TASK = "fill-mask"
# Keys of sentence_bert_config.json that choose how the model is run, with the values that mean: as everybody does.
_WEIGHTS = USUAL | {
    "transformer_task": (_TASK,),
    "modality_config": ({"text": {"method": "forward", "method_output_name": "logits"}},),
}
_STRATEGIES: tuple[WordPooling, ...] = ("max", "sum")
_TWICE = {"relu": False, "log1p_relu": True}  # whether the logarithm is taken twice


@dataclass(frozen=True)
class SparsePooling:
    """What follows the logits of all tokens: log(1 + relu), and the largest or the sum of each entry."""

    pooling: WordPooling = "max"
    twice: bool = False
    query: QueryWeights | None = None  # of queries, where these do not go through the model


def read_splade(
    folder: CheckpointFolder, encoder: CheckpointFolder, modules: Sequence[tuple[str, str]], vocabulary: int
) -> tuple[SparsePooling, tuple[str, ...]]:
    """(what follows the logits, notes). `encoder` is the folder of the first of `modules`, (class, path) each, whose
    logits are of `vocabulary` entries."""
    (transformer, _), (_, pooling) = modules
    check_transformer(encoder, _WEIGHTS)
    _check_fill_mask(encoder, legacy=transformer == "MLMTransformer")
    _check_dimensions(folder)
    return _read_pooling(folder, f"{pooling}/config.json", vocabulary), settings_notes(folder, "SparseEncoder")


def _read_pooling(folder: CheckpointFolder, file: str, vocabulary: int) -> SparsePooling:
    """What the SpladePooling module says; `vocabulary` are the entries of the logits."""
    values = read_module_settings(folder, file, "SpladePooling")
    known = ("pooling_strategy", "activation_function", "embedding_dimension", "word_embedding_dimension", "chunk_size")
    only(values, known, file)
    for key in ("embedding_dimension", "word_embedding_dimension"):
        width = values.get(key)
        if width is not None and (type(width) is not int or width != vocabulary):
            message = f"'{key}': expected a width of {vocabulary} (vocab_size), got {shown(width)}"
            raise refusal("sentence-width", message, file=file)
    strategy, function = values.get("pooling_strategy", "max"), values.get("activation_function", "relu")
    if strategy not in _STRATEGIES:
        message = f"pooling {shown(strategy)} is not supported (supported: {', '.join(_STRATEGIES)})"
        raise refusal("sentence-pooling-not-supported", message, file=file)
    if not isinstance(function, str) or function not in _TWICE:
        message = f"'activation_function': {shown(function)} is not supported (supported: {', '.join(_TWICE)})"
        raise refusal("sentence-setting", message, file=file)
    return SparsePooling(strategy, _TWICE[function])


def _check_fill_mask(folder: CheckpointFolder, legacy: bool) -> None:
    """Refuses a Transformer of which nothing says that it gives logits: a `legacy` MLMTransformer does by itself."""
    task = (folder.read_json_if_present(SENTENCE_FILE) or {}).get("transformer_task")
    if task != _TASK and not legacy:
        message = f"SpladePooling takes the logits of a masked language model: 'transformer_task' must be '{_TASK}'"
        raise refusal("sentence-setting", message, file=SENTENCE_FILE)


def _check_dimensions(folder: CheckpointFolder) -> None:
    """Refuses a folder that keeps the largest weights only."""
    most = (folder.read_json_if_present(SETTINGS_FILE) or {}).get("max_active_dims")
    if most is not None:
        message = (
            f"'max_active_dims': {shown(most)} is not supported: remove it, a call writes as many weights as it is "
            "asked for, the largest first"
        )
        raise refusal("sentence-setting", message, file=SETTINGS_FILE)
