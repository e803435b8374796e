# SPDX-License-Identifier: Apache-2.0
"""Classifiers of entailment, as `transformers` defines and saves them, and its zero-shot pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers
from head_model import write_cases, write_head_model
from outputs import write_recorded
from published_settings import DEBERTA_V3
from variant_shapes import Variant, bart, bert_like, distilbert, t5

TEXTS = (
    "the cat sat on the mat",
    "Caf\u00e9 zzz is up-up, dogs playing [SEP] news",
    "the price of oil is up and the cats are unable to play " * 4,
)
LABELS = ("cats", "news of oil, dogs", "up")
HYPOTHESIS = "what is {}?"
LABELS_OF_CLASSIFIERS: dict[str, tuple[str, ...]] = {
    "zero/bert": ("contradiction", "entailment", "neutral"),
    "zero/roberta": ("CONTRADICTION", "NEUTRAL", "ENTAILMENT"),
    "zero/distilbert": ("Entailment", "not_entailment"),
    "zero/deberta-v2": ("entailment", "neutral", "contradiction"),
    "zero/bart": ("contradiction", "neutral", "entailment"),
    "zero/mt5": ("entailment", "neutral", "contradiction"),
}
VARIANTS: dict[str, Variant] = {
    "zero/bert": bert_like("Bert", 3, (20, 5, 1, 37, 32)),
    "zero/roberta": bert_like("Roberta", 3, (20, 4, 1, 35, 60 + 2), type_vocab_size=1),
    "zero/distilbert": distilbert(2, (21, 3, 2, 19, 32)),
    "zero/deberta-v2": bert_like("DebertaV2", 3, (24, 3, 1, 23, 60), **DEBERTA_V3),
    "zero/bart": bart(3, (20, 4, 1, 17, 60), decoder_layers=2),
    "zero/mt5": t5("MT5", 3, (20, 4, 1, 17, 60), num_decoder_layers=2),
}


def record(folder: Path, name: str, seed: int) -> None:
    """Writes the folder of one variant."""
    labels = LABELS_OF_CLASSIFIERS[name]
    names = {"id2label": dict(enumerate(labels)), "label2id": {label: i for i, label in enumerate(labels)}}
    head = write_head_model(folder, name, VARIANTS[name], "ForSequenceClassification", seed, names)

    def logits(output: Any, _: torch.Tensor) -> torch.Tensor:
        return output.logits[0]

    write_recorded(
        folder,
        head.source,
        head.texts,
        lambda text: head.run(text, logits),
        lambda text: head.run(text, logits, double=True),
    )
    write_cases(folder, _by_pipeline(folder, head.single))


def _by_pipeline(folder: Path, model: torch.nn.Module) -> list[dict[str, Any]]:
    """Of each text and way to ask: labels and scores."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    if folder.name in ("distilbert", "roberta"):
        tokenizer.model_input_names = ["input_ids", "attention_mask"]
    classify = transformers.pipeline("zero-shot-classification", model=model, tokenizer=tokenizer)
    found = []
    for text in TEXTS:
        for labels in (LABELS, LABELS[1:2]):
            for settings in ({}, {"multi_label": True}, {"hypothesis_template": HYPOTHESIS}):
                answer = classify(text, list(labels), **settings)
                scores = [float(f"{score:.6g}") for score in answer["scores"]]
                found.append({"text": text, "asked": labels, **settings, "labels": answer["labels"], "scores": scores})
    return found
