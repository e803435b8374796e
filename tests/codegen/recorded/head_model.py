# SPDX-License-Identifier: Apache-2.0
"""A model of `transformers` with a head for tokens: what the recorders of tags, masks and answers do alike."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from family_specials import SPECIALS
from library_models import build, loading_of, max_tokens
from numpy.typing import NDArray
from outputs import Tokens
from token_ids import BERT, some_tokens
from unrounded import unrounded
from variant_shapes import Variant
from vocabularies import write_tokenizer

# Which refuse what has not three separators.
LONGFORMERS_OF_PAIRS = ("LongformerForQuestionAnswering", "LongformerForMultipleChoice")
# What XLM and FlauBERT call their classes.
OTHER_NAMES = {
    f"{family}For{task}": f"{family}{name}"
    for family in ("XLM", "Flaubert")
    for task, name in (("MaskedLM", "WithLMHeadModel"), ("QuestionAnswering", "ForQuestionAnsweringSimple"))
}
Outputs = Callable[[Any, torch.Tensor], torch.Tensor]  # of what the model gives for token ids [1, tokens], and of them


@dataclass(frozen=True)
class HeadModel:
    """A saved model with its weights in float32 and float64, and token ids to ask it with."""

    source: str
    texts: list[Tokens]
    single: torch.nn.Module
    double: torch.nn.Module
    segments: bool

    def run(self, text: Tokens, outputs: Outputs, *, double: bool = False) -> NDArray[np.floating]:
        """`outputs` of one text."""
        inputs = {"input_ids": torch.tensor([text.ids])}
        if self.segments:
            inputs["token_type_ids"] = torch.tensor([text.segments])
        model = self.double if double else self.single
        with unrounded(model) if double else nullcontext(), torch.inference_mode():
            return outputs(model(**inputs), inputs["input_ids"]).numpy()


def write_head_model(
    folder: Path, name: str, variant: Variant, ending: str, seed: int, settings: dict[str, Any] | None = None
) -> HeadModel:
    """Builds the class of `variant` whose name has this ending, and saves it with its tokenizer."""
    model_class = variant.model.removesuffix("ForSequenceClassification") + ending
    model_class = OTHER_NAMES.get(model_class, model_class)
    specials = SPECIALS.get(name, SPECIALS.get(name.partition("/")[2].partition("_")[0], BERT))
    model = build(model_class, specials, variant.config | (settings or {}), seed)
    model.half().save_pretrained(folder)
    limit = max_tokens(model.config)
    write_tokenizer(folder, specials, limit)
    single, double = (
        type(model)
        .from_pretrained(folder, dtype=dtype, local_files_only=True, **loading_of(model.config))
        .to(dtype)
        .eval()
        for dtype in (torch.float32, torch.float64)
    )
    source = f"{model_class} of transformers {transformers.__version__}"
    texts = some_tokens(seed, limit, specials)
    if model_class in LONGFORMERS_OF_PAIRS:
        texts = [text for text in texts if text.ids.count(specials.separate) == 3]
    return HeadModel(source, texts, single, double, bool(specials.segments))


def read_tokenizer(folder: Path) -> Any:
    """Of DeBERTa as its tokenizer.json says: the class of this `transformers` would make another of it."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    if not isinstance(tokenizer, transformers.DebertaV2Tokenizer):
        return tokenizer
    names = {key: str(value) for key, value in tokenizer.special_tokens_map.items()}
    return transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"), model_max_length=tokenizer.model_max_length, **names
    )


def write_cases(folder: Path, cases: list[dict[str, Any]], file: str = "pipeline.json") -> None:
    """What the library's pipeline said, a line each."""
    lines = ",\n".join(map(json.dumps, cases))
    (folder / file).write_text(f"[\n{lines}\n]\n", encoding="utf-8")
