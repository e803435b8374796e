# SPDX-License-Identifier: Apache-2.0
"""What a model answers with. Graph and program carry one of these; the public face of the generated code follows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SINGLE_LABEL = "single_label"
MULTI_LABEL = "multi_label"


@dataclass(frozen=True)
class Classification:
    """Softmax: exactly one label holds. Sigmoid: each label holds or not, by itself; also where there is one only."""

    labels: tuple[str, ...]
    activation: Literal["softmax", "sigmoid"]

    @property
    def name(self) -> str:
        """As in etch::Task and etch.json."""
        return SINGLE_LABEL if self.activation == "softmax" else MULTI_LABEL

    @property
    def outputs(self) -> int:
        """Floats that the model computes for a text."""
        return len(self.labels)

    @property
    def result_bytes(self) -> int:
        """Of the arrays in Result: probabilities and logits."""
        return 8 * self.outputs


@dataclass(frozen=True)
class Regression:
    """The last linear's values as they are."""

    values: tuple[str, ...]  # their names

    name = "regression"

    @property
    def outputs(self) -> int:
        return len(self.values)

    @property
    def result_bytes(self) -> int:
        return 4 * self.outputs


@dataclass(frozen=True)
class Embedding:
    """One vector for the text."""

    width: int

    name = "embedding"

    @property
    def outputs(self) -> int:
        return self.width

    @property
    def result_bytes(self) -> int:
        return 4 * self.outputs


Task = Classification | Regression | Embedding

# What the functions and the program of a task are called.
VERBS = {SINGLE_LABEL: "classify", MULTI_LABEL: "classify", Regression.name: "regress", Embedding.name: "embed"}
