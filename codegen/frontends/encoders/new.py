# SPDX-License-Identifier: Apache-2.0
"""GTE as it was published, with code of its own (gte-multilingual, gte-en-v1.5, stella_en_400M_v5): the classes of
`gte` by other names, as NewModel."""

from __future__ import annotations

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ..bases import gte_bert
from ..bases.architecture import check_own_code

MODEL_TYPE = "new"
HARMLESS_KEYS = gte_bert.HARMLESS_KEYS
_FAMILY = gte_bert.Family(gte_bert.NEW, positions=("rope",))
read_limits = _FAMILY.read_limits


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    check_own_code(checkpoint.config, gte_bert.NEW.name)
    return _FAMILY.build_graph(checkpoint, max_tokens)
