# SPDX-License-Identifier: Apache-2.0
"""Classifiers by PyTorch's nn.GRU on an encoder of `transformers`, in etch's own form of a folder."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from library_models import attention_of, build, max_tokens
from numpy.typing import NDArray
from outputs import Tokens, write_recorded
from random_weights import randomize
from safetensors.torch import save_file
from token_ids import BERT, NO_SEGMENTS, ROBERTA, Specials, some_tokens
from torch import nn
from unrounded import unrounded
from variant_shapes import bert_like, distilbert
from vocabularies import write_tokenizer


@dataclass(frozen=True)
class Variant:
    """A class of encoder with its configuration, and what nn.GRU is made with."""

    encoder: str
    specials: Specials
    config: dict[str, Any]
    labels: int
    hidden: int
    layers: int = 1
    bidirectional: bool = False
    bias: bool = True


VARIANTS: dict[str, Variant] = {
    "gru/one_layer": Variant("BertModel", BERT, bert_like("Bert", 0, (20, 5, 1, 21, 16)).config, 3, 13),
    "gru/three_layers": Variant(
        *("DistilBertModel", NO_SEGMENTS, distilbert(0, (21, 3, 2, 19, 18)).config),
        *(1, 17, 3, True),
    ),
    "gru/no_bias": Variant(
        *("RobertaModel", ROBERTA, bert_like("Roberta", 0, (20, 5, 1, 21, 26), type_vocab_size=1).config),
        *(2, 9, 2, True, False),
    ),
}


class Classifier(nn.Module):
    """The last states of both directions, and a linear."""

    def __init__(self, width: int, of: Variant) -> None:
        super().__init__()
        self.gru = nn.GRU(
            *(width, of.hidden, of.layers, of.bias),
            batch_first=True,
            dropout=0.25 if of.layers > 1 else 0.0,
            bidirectional=of.bidirectional,
        )
        self.linear = nn.Linear(of.hidden * (1 + of.bidirectional), of.labels, bias=of.bias)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Logits of one text's rows [1, tokens, width]."""
        _, last = self.gru(rows)
        states = (last[-2], last[-1]) if self.gru.bidirectional else (last[-1],)
        return self.linear(torch.cat(states, dim=-1))


def record(folder: Path, name: str, seed: int) -> None:
    """Writes the folder of one variant."""
    variant = VARIANTS[name]
    encoder = build(variant.encoder, variant.specials, variant.config, seed)
    limit = max_tokens(encoder.config)
    encoder.half().save_pretrained(folder / "encoder")
    write_tokenizer(folder / "encoder", variant.specials, limit)
    head = Classifier(encoder.config.hidden_size, variant)
    randomize(head, seed + 1)
    _spread(head.gru, seed + 2)
    save_file({key: value.half() for key, value in head.state_dict().items()}, folder / "head.safetensors")
    settings = {
        "type": "gru",
        "labels": [f"label {i}" for i in range(variant.labels)],
        "activation": "sigmoid" if variant.labels == 1 else "softmax",
        "hidden_size": variant.hidden,
        "num_layers": variant.layers,
        "bidirectional": variant.bidirectional,
        "bias": variant.bias,
        "dropout": head.gru.dropout,
    }
    (folder / "head.json").write_text(f"{json.dumps(settings, indent=1)}\n", encoding="utf-8")

    def run(text: Tokens, dtype: torch.dtype) -> NDArray[np.floating]:
        attention = attention_of(encoder.config)
        model = type(encoder).from_pretrained(
            folder / "encoder", dtype=dtype, attn_implementation=attention, local_files_only=True
        )
        inputs = {"input_ids": torch.tensor([text.ids])}
        if variant.specials.segments:
            inputs["token_type_ids"] = torch.tensor([text.segments])
        with unrounded(model) if dtype is torch.float64 else nullcontext(), torch.inference_mode():
            return head.to(dtype).eval()(model.eval()(**inputs).last_hidden_state)[0].numpy()

    source = f"nn.GRU of torch {version('torch')} on {variant.encoder} of transformers {transformers.__version__}"
    texts = some_tokens(seed, limit, variant.specials)
    write_recorded(folder, source, texts, lambda t: run(t, torch.float32), lambda t: run(t, torch.float64))


def _spread(gru: nn.GRU, seed: int) -> None:
    """Weights that `randomize` leaves as large as those of an embedding: by the number of inputs, exact in float16."""
    random = np.random.default_rng(seed)
    with torch.no_grad():
        for key, weights in sorted(gru.named_parameters()):
            size = 0.3 if key.startswith("bias") else 1.2 / np.sqrt(weights.shape[-1])
            values = size * random.standard_normal(weights.shape)
            weights.copy_(torch.from_numpy(values.astype(np.float16)))
