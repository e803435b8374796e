# SPDX-License-Identifier: Apache-2.0
"""The transformer of the textbooks (../plain), with the layers, the texts and the training of the other one: three
tables that are not tied, ReLU, sinusoids."""

from __future__ import annotations

from pathlib import Path

import torch
from folder import read_translator, write_translator
from form import Form
from layout import POSITIONS, write_texts
from pieces import END_ID
from transformers import GenerationConfig, GenerationMixin, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqLMOutput
from translator import Transformer, TranslatorShape

PIECES = 3_000  # each has three rows
_PAD = PIECES - 1
_SHAPE = TranslatorShape(
    vocab_size=PIECES,
    target_vocab_size=PIECES,
    hidden_size=192,
    num_encoder_layers=3,
    num_decoder_layers=2,
    num_heads=4,
    intermediate_size=512,
    max_positions=POSITIONS,
)


class _Encoder(torch.nn.Module):
    """Of a Transformer, with the names that `generate` of `transformers` has."""

    main_input_name = "input_ids"

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, **_: object) -> BaseModelOutput:
        """Rows of texts."""
        return BaseModelOutput(last_hidden_state=self.model.encode(input_ids, attention_mask.bool()))


class _Writer(PreTrainedModel, GenerationMixin):
    """A Transformer that writes by `generate` of `transformers`, beams too; it keeps no keys of the tokens so far."""

    config_class = PretrainedConfig
    main_input_name = "input_ids"

    def __init__(self, model: Transformer, generation: GenerationConfig) -> None:
        super().__init__(PretrainedConfig(is_encoder_decoder=True))
        self.encoder = _Encoder(model)
        self.generation_config = generation

    def get_encoder(self, *_: object, **__: object) -> _Encoder:
        """Runs once."""
        return self.encoder

    def prepare_inputs_for_generation(
        self, decoder_input_ids: torch.Tensor, *, encoder_outputs: BaseModelOutput, **rest: torch.Tensor
    ) -> dict[str, object]:
        """What `forward` takes."""
        mask = rest["attention_mask"]
        return {"begun": decoder_input_ids, "rows": encoder_outputs.last_hidden_state, "attention_mask": mask}

    def forward(
        self, begun: torch.Tensor, rows: torch.Tensor, attention_mask: torch.Tensor, **_: object
    ) -> Seq2SeqLMOutput:
        """Logits of what follows each token."""
        return Seq2SeqLMOutput(logits=self.encoder.model.decode(begun, rows, attention_mask.bool()))


def _read(folder: Path) -> Transformer:
    return read_translator(folder)[0]


def _logits(model: Transformer, sources: torch.Tensor, begun: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    return model(sources, sources != _PAD, begun)[counts]


def _write(folder: Path, model: Transformer, pieces: Path) -> None:
    write_translator(folder, model, _PAD, END_ID)
    write_texts(folder, pieces, _PAD)


def _writer(folder: Path) -> _Writer:
    generation = GenerationConfig.from_pretrained(folder)
    generation.use_cache = False
    return _Writer(_read(folder), generation).eval()


TEXTBOOK = Form(PIECES, lambda: Transformer(_SHAPE, 0.1), _read, _logits, _write, _writer)
