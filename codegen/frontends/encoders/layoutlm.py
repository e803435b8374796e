# SPDX-License-Identifier: Apache-2.0
"""LayoutLM (Xu et al., 2020, arXiv:1912.13318) of texts without boxes, as `transformers` computes it where a caller
gives none: all boxes are 0. It is BERT, and every token has the entries of such a box beside its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...ir.graph import Graph, Parameter, Term
from ...load.checkpoint import Checkpoint
from ..bases.bert_like import Family, Tables
from ..shared import parts
from ..shared.computed import Computed
from ..shared.encoder_layer import LayerShape

MODEL_TYPE = "layoutlm"
_SIDES = "xxyyhw"  # left, right, upper, lower, height, width: by the table of each
_NOTE = "boxes of tokens: none, all are 0, as where transformers is given no bbox"


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    graph = Family("LayoutLM", "layoutlm.", terms=_boxes).build_graph(checkpoint, max_tokens)
    return replace(graph, notes=(*graph.notes, _NOTE))


def _boxes(checkpoint: Checkpoint, prefix: str, shape: LayerShape, tables: Tables) -> tuple[Term, ...]:
    return (Term(_box_0(checkpoint, prefix, shape.hidden, tables.segments), "segments"),)


def _box_0(checkpoint: Checkpoint, prefix: str, width: int, segments: int) -> Parameter:
    """[segments, width]: the sum of a box's entries, whatever the segment."""
    entries = checkpoint.config.positive_int("max_2d_position_embeddings", 1024, maximum=parts.MAX_WIDTH)
    name = f"{prefix}embeddings.{{}}_position_embeddings.weight"
    learned = {side: checkpoint.tensors.take(name.format(side), (entries, width)) for side in dict.fromkeys(_SIDES)}

    def by_segment() -> NDArray[np.float64]:
        of_box = sum(learned[side].values[:1].astype(np.float64) for side in _SIDES)
        return np.repeat(np.asarray(of_box), segments, axis=0)

    array = Computed(name.format("box"), (segments, width), by_segment, learned["x"].file)
    return Parameter("box_embeddings", (array,))
