# SPDX-License-Identifier: Apache-2.0
"""Encoders of Llama's layers, which see tokens on both sides: EuroBERT, UltraBERT."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ..shared import parts
from ..shared.layer_kinds import Seen
from ..shared.llama_stack import WORDS, Biases, Form, Stack, llama_stack
from ..shared.prediction_head import Prediction
from ..shared.rotary import limits_of
from ..shared.rows import HeadOps
from .architecture import check_architecture
from .heads import Encoder, FamilyHeads, graph_with_head


@dataclass(frozen=True)
class Family:
    """What it has of its own."""

    name: str  # of its classes
    prefixes: tuple[str, ...]  # of the encoder in a file with a head; of those that are there the first counts
    epsilon: float  # where the configuration does not say it
    seen_by: Callable[[Config, int, int], Callable[[int], Seen]]  # by positions and tokens, for `llama_stack`
    classifier: Callable[[Config, TensorFile, Stack], HeadOps]
    prediction: Callable[[Config, TensorFile, Stack], Prediction]

    def read_limits(self, config: Config) -> Limits:
        """Without a class, `transformers` takes tokenizer.json as it is."""
        return limits_of(config, "TokenizersBackend")

    def build_graph(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """The graph of a checkpoint; takes every tensor of the file that the model uses exactly once."""
        config, tensors = checkpoint.config, checkpoint.tensors
        check_architecture(checkpoint, self.name)
        limits = self.read_limits(config)
        parts.check_max_tokens(max_tokens, limits.positions)
        prefix = next((prefix for prefix in self.prefixes if f"{prefix}{WORDS}" in tensors), self.prefixes[0])
        prefix = tensors.below(prefix)
        seen_by = self.seen_by(config, limits.positions, max_tokens)
        form = Form(Biases.said_in(config), epsilon=self.epsilon)
        stack = llama_stack(config, tensors, prefix, limits.vocabulary, seen_by, form)
        encoder = Encoder(stack.body, stack.widths, limits.vocabulary, value=stack.rows)
        heads = FamilyHeads(lambda: self.classifier(config, tensors, stack), self.prediction(config, tensors, stack))
        return graph_with_head(checkpoint, max_tokens, self.name, encoder, heads)
