# SPDX-License-Identifier: Apache-2.0
"""LUKE (Yamada et al., 2020, arXiv:2010.01057) without entities: its words alone. Names as in `transformers`.

So it is RoBERTa with BERT's classifier; what reads or makes entities in a file is not used. Classes that answer about
entities are none of those that a family has here. `[MASK]` and other entities that a text spells out are words of it;
for `transformers` they are tokens without an embedding, with which a model fails.
"""

from __future__ import annotations

from dataclasses import replace

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ..bases.roberta_like import Family

MODEL_TYPE = "luke"
# The table of words is another one than the last linear, whatever the configuration says.
_FAMILY = Family("Luke", "LukeTokenizer", "luke.", pooled=True, tied=None)
HARMLESS_KEYS = frozenset(
    ("entity_emb_size", "entity_vocab_size", "use_entity_aware_attention", "cls_entity_prediction")
)
_OF_ENTITIES = (
    "entity_embeddings.*",
    *(f"encoder.layer.*.attention.self.{name}_query.*" for name in ("w2e", "e2w", "e2e")),
)

read_limits = _FAMILY.read_limits


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    tensors = checkpoint.tensors
    prefix = tensors.below(_FAMILY.prefix)
    unused = tensors.ignore(*(f"{prefix}{name}" for name in _OF_ENTITIES), "entity_predictions.*")
    graph = _FAMILY.build_graph(checkpoint, max_tokens)
    notes: tuple[str, ...] = ("texts have no entities",)
    if unused:
        notes += (f"not used: {len(unused)} tensors of entities",)
    return replace(graph, notes=graph.notes + notes)
