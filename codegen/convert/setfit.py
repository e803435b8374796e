# SPDX-License-Identifier: Apache-2.0
"""SetFit's folders (Tunstall et al., 2022, arXiv:2209.11055): sentence-transformers' files, config_setfit.json, and
scikit-learn's classifier of the embeddings in model_head.pkl. Becomes a logistic head beside the encoder.

Probabilities as scikit-learn 1.9 computes them (sklearn/linear_model/_logistic.py, predict_proba). Of two classes
[1 - s, s] with s = sigmoid(d) is the softmax of [-d / 2, d / 2]; with `multi_class` 'multinomial', which versions
before 1.8 had, that of [-d, d].
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import EtchError
from ..files.safetensors_file import Stored, write_safetensors
from ..load.files import CheckpointFolder
from ..load.head_file import FILE, WEIGHTS_FILE, Activation
from ..load.pickles import SETFIT_HEAD
from .joblib_file import Estimator, read_estimator
from .refusal import refusal

_SETTINGS = "config_setfit.json"
_MAX_BYTES = 256 << 20
_SEVERAL = ("OneVsRestClassifier", "MultiOutputClassifier")


@dataclass(frozen=True)
class _Classifier:
    weight: NDArray[np.float64]  # [labels, width]
    bias: NDArray[np.float64]  # [labels]
    classes: tuple[int | str, ...]
    activation: Activation


def write_head(source: CheckpointFolder, to: Path) -> str:
    """Writes head.json and head.safetensors of a folder that has SETFIT_HEAD; returns what it is."""
    head = _classifier(read_estimator(source.read(SETFIT_HEAD, _MAX_BYTES), SETFIT_HEAD))
    settings = source.read_json_if_present(_SETTINGS) or {}
    labels = _labels(head, settings.get("labels"))
    said = {
        "type": "logistic",
        "labels": labels,
        "activation": head.activation,
        "normalize": settings.get("normalize_embeddings") is True,
    }
    (to / FILE).write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    tensors = {"linear.weight": head.weight, "linear.bias": head.bias}
    write_safetensors(
        to / WEIGHTS_FILE, {name: Stored.of(values.astype(np.float32)) for name, values in tensors.items()}
    )
    kind = "one of" if head.activation == "softmax" else "each by itself,"
    return f"head         logistic regression of {head.weight.shape[1]} values, {kind} {len(labels)} labels"


def _classifier(found: Estimator) -> _Classifier:
    if found.kind == "LogisticRegression":
        return _one_of(found)
    if found.kind not in _SEVERAL:
        raise _refuse("head-type-not-supported", f"a head by {found.kind[:60]} (LogisticRegression is read)")
    parts = found.attributes.get("estimators_")
    if not isinstance(parts, list) or {getattr(part, "kind", "") for part in parts} != {"LogisticRegression"}:
        raise _refuse("head-type-not-supported", f"{found.kind} of others than LogisticRegression")
    if found.kind == "OneVsRestClassifier" and not _is_multilabel(found):
        raise _refuse("head-type-not-supported", "one of several labels by OneVsRestClassifier, whose shares are other")
    rows = [_decisions(part) for part in parts]
    if any(len(weight) != 1 or classes != (0, 1) for weight, _, classes in rows):
        raise _refuse("head-type-not-supported", "labels that are not 0 or 1 by themselves")
    if len({weight.shape for weight, _, _ in rows}) != 1:
        raise _refuse("pickle-malformed", f"parts of its {found.kind} are of different widths")
    weight, bias = np.concatenate([row[0] for row in rows]), np.concatenate([row[1] for row in rows])
    return _Classifier(weight, bias, tuple(range(len(rows))), "sigmoid")


def _one_of(found: Estimator) -> _Classifier:
    weight, bias, classes = _decisions(found)
    rule, solver = found.attributes.get("multi_class"), found.attributes.get("solver")
    if len(weight) > 1 and (solver == "liblinear" or rule == "ovr"):
        raise _refuse("head-type-not-supported", "one against the rest of several labels, whose shares are other")
    if len(weight) == 1:
        share = 1.0 if rule == "multinomial" else 0.5
        weight, bias = np.concatenate([-weight, weight]) * share, np.concatenate([-bias, bias]) * share
    return _Classifier(weight, bias, classes, "softmax")


def _is_multilabel(found: Estimator) -> bool:
    binarizer = found.attributes.get("label_binarizer_")
    kind = binarizer.attributes.get("y_type_") if isinstance(binarizer, Estimator) else None
    return isinstance(kind, str) and kind.startswith("multilabel")


def _decisions(found: Estimator) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[int | str, ...]]:
    """(weights [rows, width], biases [rows], classes): one row for two classes, else one for each."""
    weight, classes = found.attributes.get("coef_"), found.attributes.get("classes_")
    bias = found.attributes.get("intercept_")
    if not isinstance(weight, np.ndarray) or weight.ndim != 2 or weight.dtype.kind != "f":
        raise _refuse("pickle-malformed", "its LogisticRegression has no coefficients")
    rows = len(weight)
    if not isinstance(bias, np.ndarray) or bias.shape != (rows,):
        bias = np.zeros(rows)  # of a head that was fitted without
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) != (2 if rows == 1 else rows):
        raise _refuse("pickle-malformed", f"its LogisticRegression has {rows} rows of coefficients, and other classes")
    if classes.dtype.kind not in "iubU":
        raise _refuse("pickle-malformed", "its classes are neither numbers nor texts")
    found_classes: Sequence[Any] = classes.tolist()
    return weight.astype(np.float64), bias.astype(np.float64), tuple(found_classes)


def _labels(head: _Classifier, told: object) -> list[str]:
    """The folder's names of the classes; theirs where it has none."""
    names = told if isinstance(told, list) else None
    labels = []
    for each in head.classes:
        if isinstance(each, str) or names is None:
            labels.append(str(each))
        elif 0 <= each < len(names):
            labels.append(str(names[each]))
        else:
            message = f"it has a class {each}, {_SETTINGS} {len(names)} labels"
            raise _refuse("labels-conflict", message)
    return labels


def _refuse(code: str, message: str) -> EtchError:
    return refusal(code, message, file=SETFIT_HEAD)
