# SPDX-License-Identifier: Apache-2.0
"""What T5, mT5 and UMT5 have in common: a folder is that of a writer, of its encoder alone, or of a class whose decoder
reads the text itself, which its class says; sentence-transformers reads the encoder of a writer, too."""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.graph import Graph
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...load.generation_config import GenerationSettings
from ...load.limits import Limits
from ...load.safetensors import TensorFile
from ..shared import parts
from ..shared.t5_stack import Form
from ..shared.t5_writer import writer_graph
from ..shared.target_rules import build_behind_encoder
from .rows_of_both import classes_of
from .t5_encoder import encoder_graph
from .t5_rows import rows_graph

_POSITIONS = "n_positions"
# Of a text and of a target where no file says it: distances have no end, T5 was trained with these.
_USUAL_TOKENS = 512
# Training's; prompts and settings of single tasks, which `--task` asks for; the decoder's, which an encoder lacks.
_HARMLESS = """
    dropout_rate initializer_factor is_decoder num_decoder_layers scale_decoder_outputs task_specific_params
"""
HARMLESS_KEYS = frozenset(_HARMLESS.split())


@dataclass(frozen=True)
class Family:
    """What it has of its own."""

    name: str  # of its classes
    form: Form
    tokenizer_class: str = "T5Tokenizer"

    def read_limits(self, config: Config) -> Limits:
        """There are no positions: what the folder says, or T5's own, is a default, and texts may be longer."""
        width, vocabulary = config.positive_int("d_model"), config.positive_int("vocab_size")
        positions = config.positive_int(_POSITIONS, _USUAL_TOKENS, maximum=parts.MAX_WIDTH)
        key = _POSITIONS if _POSITIONS in config else f"without {_POSITIONS}, T5's own"
        return Limits(
            width,
            vocabulary,
            positions,
            key,
            self.tokenizer_class,
            writes_texts=self._writes_texts(config),
            family_writes=True,
            endless=True,
        )

    def build_graph(self, checkpoint: Checkpoint, max_tokens: int) -> Graph:
        """Of a writer as `build_behind_encoder`; where nothing has a position, the token that a target begins with
        takes none."""
        if not self._writes_texts(checkpoint.config):
            of_both = set(classes_of(self.name)).intersection(checkpoint.config.architectures)
            if of_both and checkpoint.sentence is None:
                return rows_graph(checkpoint, max_tokens, self.name, self.form)
            return encoder_graph(checkpoint, max_tokens, self.name, self.form, self._writer)
        if checkpoint.sentence is not None:
            message = f"{self._writer} writes texts, an embedding is asked for: set architectures in config.json to "
            raise parts.refuse("architecture-conflict", f"{message}{self.name}EncoderModel")
        positions = self.read_limits(checkpoint.config).positions + 1
        return build_behind_encoder(checkpoint, self._writer, self.graph_of, max_tokens, positions)

    def graph_of(
        self,
        config: Config,
        tensors: TensorFile,
        max_source: int,
        max_target: int,
        generation: GenerationSettings | None = None,
    ) -> Graph:
        """As `writer_graph`."""
        return writer_graph(config, tensors, (max_source, max_target), generation, self.form)

    @property
    def _writer(self) -> str:
        return f"{self.name}ForConditionalGeneration"

    def _writes_texts(self, config: Config) -> bool:
        return not config.embeds and (not config.architectures or self._writer in config.architectures)
