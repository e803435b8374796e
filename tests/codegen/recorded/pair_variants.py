# SPDX-License-Identifier: Apache-2.0
"""Classes for two texts, as `transformers` defines and saves them: next sentence, multiple choice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from head_model import write_head_model
from library_models import MPNET_OFFSET
from outputs import write_recorded
from published_settings import DEBERTA_V3, MOBILE, MODERN_IDS
from variant_shapes import FNET_KEYS, XLM_KEYS, XLNET_KEYS, Variant, bert_like, canine, distilbert, funnel

NEXT_SENTENCE = "ForNextSentencePrediction"
MULTIPLE_CHOICE = "ForMultipleChoice"
VARIANTS: dict[str, tuple[str, Variant]] = {
    "next/bert": (NEXT_SENTENCE, bert_like("Bert", 2, (20, 5, 1, 37, 20))),
    "next/ernie": (NEXT_SENTENCE, bert_like("Ernie", 2, (20, 5, 2, 23, 20), hidden_act="relu")),
    "next/mobilebert": (NEXT_SENTENCE, bert_like("MobileBert", 2, (20, 3, 1, 17, 20), **MOBILE)),
    "next/megatron-bert": (NEXT_SENTENCE, bert_like("MegatronBert", 2, (20, 5, 1, 23, 20))),
    "choices/bert": (MULTIPLE_CHOICE, bert_like("Bert", 0, (20, 5, 1, 37, 20))),
    "choices/distilbert": (MULTIPLE_CHOICE, distilbert(0, (21, 3, 2, 19, 24))),
    "choices/electra": (MULTIPLE_CHOICE, bert_like("Electra", 0, (24, 3, 2, 19, 20), embedding_size=14)),
    "choices/electra_mean": (
        MULTIPLE_CHOICE,
        bert_like("Electra", 0, (20, 4, 1, 19, 16), embedding_size=20, summary_type="mean", summary_activation="tanh"),
    ),
    "choices/convbert": (MULTIPLE_CHOICE, bert_like("ConvBert", 0, (24, 6, 2, 19, 20), embedding_size=14)),
    "choices/albert": (MULTIPLE_CHOICE, bert_like("Albert", 0, (24, 3, 3, 37, 20), embedding_size=14)),
    "choices/mpnet": (MULTIPLE_CHOICE, bert_like("MPNet", 0, (20, 5, 2, 23, 20 + MPNET_OFFSET))),
    "choices/mobilebert": (
        MULTIPLE_CHOICE,
        bert_like("MobileBert", 0, (20, 3, 1, 17, 20), **MOBILE | {"classifier_activation": True}),
    ),
    "choices/ernie": (MULTIPLE_CHOICE, bert_like("Ernie", 0, (20, 5, 2, 23, 20))),
    "choices/roberta": (MULTIPLE_CHOICE, bert_like("Roberta", 0, (20, 4, 2, 35, 20 + 2), type_vocab_size=1)),
    "choices/camembert": (MULTIPLE_CHOICE, bert_like("Camembert", 0, (18, 3, 1, 23, 14 + 2), type_vocab_size=1)),
    "choices/xlm-roberta": (MULTIPLE_CHOICE, bert_like("XLMRoberta", 0, (16, 2, 2, 21, 16 + 2), type_vocab_size=1)),
    "choices/data2vec-text": (
        MULTIPLE_CHOICE,
        bert_like("Data2VecText", 0, (20, 2, 1, 19, 16 + 2), type_vocab_size=1),
    ),
    "choices/big_bird": (MULTIPLE_CHOICE, bert_like("BigBird", 0, (20, 2, 1, 19, 20), attention_type="original_full")),
    "choices/longformer": (
        MULTIPLE_CHOICE,
        bert_like("Longformer", 0, (18, 3, 2, 19, 24 + 2), type_vocab_size=1, attention_window=4),
    ),
    "choices/roformer": (MULTIPLE_CHOICE, bert_like("RoFormer", 0, (20, 2, 1, 19, 20))),
    "choices/deberta-v2": (MULTIPLE_CHOICE, bert_like("DebertaV2", 0, (24, 3, 2, 23, 20), **DEBERTA_V3)),
    "choices/xlm": (MULTIPLE_CHOICE, bert_like("XLM", 0, (20, 2, 1, 20), XLM_KEYS, summary_activation="tanh")),
    "choices/flaubert": (MULTIPLE_CHOICE, bert_like("Flaubert", 3, (20, 2, 1, 20), XLM_KEYS, summary_type="last")),
    "choices/canine": (MULTIPLE_CHOICE, canine(0, (18, 2, 2, 19, 30))),
    "choices/fnet": (MULTIPLE_CHOICE, bert_like("FNet", 0, (14, 2, 19, 20), FNET_KEYS)),
    "next/fnet": (NEXT_SENTENCE, bert_like("FNet", 2, (15, 1, 19, 20), FNET_KEYS, type_vocab_size=2)),
    "choices/nystromformer": (MULTIPLE_CHOICE, bert_like("Nystromformer", 0, (18, 2, 2, 19, 20), conv_kernel_size=3)),
    "choices/funnel": (MULTIPLE_CHOICE, funnel(0, (20, 3, 5, 23), [1, 1, 1])),
    "choices/xlnet": (MULTIPLE_CHOICE, bert_like("XLNet", 0, (20, 5, 1, 23), XLNET_KEYS)),
    "choices/modernbert": (
        MULTIPLE_CHOICE,
        bert_like("ModernBert", 0, (20, 5, 3, 23, 20), **MODERN_IDS, local_attention=6, classifier_pooling="mean"),
    ),
}


def record(folder: Path, name: str, seed: int) -> None:
    """Writes the folder of one variant."""
    ending, variant = VARIANTS[name]
    head = write_head_model(folder, name, variant, ending, seed)

    def logits(output: Any, _: torch.Tensor) -> torch.Tensor:
        return output.logits[0]

    if ending == MULTIPLE_CHOICE:  # which takes [texts, choices, tokens]
        for model in (head.single, head.double):
            model.register_forward_pre_hook(_one_choice, with_kwargs=True)

    write_recorded(
        folder,
        head.source,
        head.texts,
        lambda text: head.run(text, logits),
        lambda text: head.run(text, logits, double=True),
    )


def _one_choice(_: torch.nn.Module, args: tuple[Any, ...], inputs: dict[str, torch.Tensor]) -> tuple[Any, Any]:
    inputs = inputs | {"attention_mask": torch.ones_like(inputs["input_ids"])}  # which ModernBERT's class needs
    return args, {name: ids[:, None] for name, ids in inputs.items()}
