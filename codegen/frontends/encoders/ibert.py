# SPDX-License-Identifier: Apache-2.0
"""I-BERT (Kim et al., 2021, arXiv:2101.01321) where it computes in floats: a RoBERTa whose file has more tensors, of
its integers. With `quant_mode` it computes in integers of its own, which is refused. Names as in `transformers`."""

from __future__ import annotations

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ..bases.roberta_like import Family
from ..shared import parts

MODEL_TYPE = "ibert"
HARMLESS_KEYS = frozenset(("force_dequant",))  # which says what of the integers is left out
_INTEGERS = (
    *("*.weight_integer", "*.bias_integer", "*.fc_scaling_factor", "*.weight_scaling_factor"),
    *("*.act_scaling_factor", "*.x_min", "*.x_max", "*.LayerNorm.shift"),
)
_FAMILY = Family("IBert", prefix="ibert.")

read_limits = _FAMILY.read_limits


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
    config = checkpoint.config
    if config.flag("quant_mode", False):
        message = "quant_mode is true: I-BERT's own integers are not supported; set it to false for the float model"
        raise parts.refuse("config-not-supported", message)
    activation = config.text("hidden_act", "gelu")
    if activation != "gelu":
        raise parts.refuse("activation-not-supported", f"hidden_act '{activation}' is not I-BERT's, 'gelu'")
    checkpoint.tensors.ignore(*_INTEGERS)
    return _FAMILY.build_graph(checkpoint, max_tokens)
