# SPDX-License-Identifier: Apache-2.0
"""Token classifiers of every family, as `transformers` defines and saves them, and what its pipeline makes of texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers
from head_model import read_tokenizer, write_cases, write_head_model
from library_models import MPNET_OFFSET
from outputs import write_recorded
from published_settings import DEBERTA_V1, DEBERTA_V3, ESMC_ANGLES, LUKE_SIZES, MOBILE, MODERN_IDS
from variant_shapes import (
    FNET_KEYS,
    GPT2_KEYS,
    QWEN3_5,
    XLM_KEYS,
    XLNET_KEYS,
    Variant,
    bert_like,
    canine,
    distilbert,
    funnel,
    qwen3_5,
    t5,
    t5gemma,
)

ENDING = "ForTokenClassification"
LABELS = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG", "MISC", "S-LOC", "B-", "X-O")
AGGREGATIONS = ("none", "simple", "first", "average", "max")
TEXTS = (
    "the cat sat on the mat, unable to play",
    "Playing cats in Berlin: dogs of Caf\u00e9 zzz",
    "",
    "zzz",
    "what 33 news [SEP] is up-up dogs playing playing",
    "e\u0301 cafe\u0301 \u0130 \u4e2d\u56fd \U0001f389 how\u200bis the oil price",
    "  cats  dogs\t\n unable  ",
    "the " * 40 + "cat",
)
VARIANTS: dict[str, Variant] = {
    "tags/bert": bert_like("Bert", 0, (20, 5, 1, 37, 20)),
    "tags/distilbert": distilbert(0, (21, 3, 2, 19, 24)),
    "tags/electra": bert_like("Electra", 0, (24, 3, 2, 19, 20), embedding_size=14),
    "tags/convbert": bert_like("ConvBert", 0, (24, 6, 2, 19, 20), embedding_size=24, hidden_act="silu"),
    "tags/albert": bert_like("Albert", 0, (24, 3, 3, 37, 20), embedding_size=14),
    "tags/mpnet": bert_like("MPNet", 0, (20, 5, 2, 23, 20 + MPNET_OFFSET)),
    "tags/mobilebert": bert_like("MobileBert", 0, (20, 3, 1, 17, 20), **MOBILE),
    "tags/ernie": bert_like("Ernie", 0, (20, 5, 2, 23, 20)),
    "tags/layoutlm": bert_like("LayoutLM", 0, (20, 5, 1, 23, 20), max_2d_position_embeddings=9),
    "tags/roberta": bert_like("Roberta", 0, (20, 4, 2, 35, 20 + 2), type_vocab_size=1),
    "tags/camembert": bert_like("Camembert", 0, (18, 3, 1, 23, 14 + 2), type_vocab_size=1),
    "tags/roberta-prelayernorm": bert_like("RobertaPreLayerNorm", 0, (20, 4, 1, 23, 20 + 2), type_vocab_size=1),
    "tags/luke": bert_like("Luke", 0, (20, 4, 1, 17, 20 + 2), **LUKE_SIZES, use_entity_aware_attention=False),
    "tags/longformer": bert_like(
        "Longformer", 0, (20, 4, 1, 17, 20 + 2), type_vocab_size=1, attention_window=6, hidden_act="relu"
    ),
    "tags/rembert": bert_like("RemBert", 0, (20, 4, 1, 17, 20), input_embedding_size=12, output_embedding_size=9),
    "tags/modernbert": bert_like("ModernBert", 0, (20, 5, 3, 23, 20), **MODERN_IDS, local_attention=6),
    "tags/modernbert_gemma": bert_like("ModernBert", 0, (12, 2, 1, 19, 20), **MODERN_IDS, local_attention=6),
    "tags/esmc": bert_like("Esmc", 0, (20, 2, 1, 19, 20), hidden_act="gelu", rope_parameters=ESMC_ANGLES),
    "tags/xlm-roberta": bert_like("XLMRoberta", 0, (16, 2, 2, 21, 16 + 2), type_vocab_size=1),
    "tags/deberta": bert_like("Deberta", 0, (24, 3, 2, 23, 20), **DEBERTA_V1),
    "tags/t5": t5("T5", 0, (20, 3, 2, 23, 20), feed_forward_proj="gated-gelu"),
    "tags/t5gemma": t5gemma(
        "ForSequenceClassification", 0, (16, 4, 2, 4, 1, 19, 20), (20, 2, 2, 6, 1, 19, 20), {"sliding_window": 5}
    ),
    "tags/t5gemma_encoder": t5gemma(
        "ForSequenceClassification",
        0,
        (18, 3, 1, 6, 2, 17, 16),
        (20, 2, 2, 6, 2, 19, 20),
        {"sliding_window": 4, "query_pre_attn_scalar": 9},
        is_encoder_decoder=False,
    ),
    "tags/mt5": t5("MT5", 0, (18, 2, 1, 19, 16)),
    "tags/qwen3_5": qwen3_5("ForSequenceClassification", 0, (16, 2, 2, 19, 20)),
    "tags/qwen3_next": bert_like(
        "Qwen3Next",
        0,
        (16, 2, 2, 13, 20),
        **QWEN3_5 | {"layer_types": ["linear_attention", "full_attention"], "num_key_value_heads": 2},
        **{"num_experts": 2, "num_experts_per_tok": 2, "moe_intermediate_size": 8},
        shared_expert_intermediate_size=6,
    ),
    "tags/flaubert": bert_like("Flaubert", 0, (20, 2, 1, 20), XLM_KEYS),
    "tags/funnel": funnel(0, (12, 2, 5, 13), [3, 1, 1], block_repeats=[2, 1, 1], truncate_seq=False),
    "tags/canine": canine(0, (12, 3, 2, 19, 20), upsampling_kernel_size=5),
    "tags/fnet": bert_like("FNet", 0, (13, 1, 19, 20), FNET_KEYS),
    "tags/nystromformer": bert_like("Nystromformer", 0, (12, 3, 2, 19, 20), conv_kernel_size=5),
    "tags/xlnet": bert_like("XLNet", 0, (20, 5, 2, 23), XLNET_KEYS),
    "tags/llama": bert_like("Llama", 0, (24, 3, 1, 19, 20), num_key_value_heads=1, token_classification_bias=False),
    "tags/gpt2": bert_like("GPT2", 0, (20, 2, 1, 23, 20), GPT2_KEYS, pad_token_id=70),
    "tags/deberta-v2": bert_like("DebertaV2", 0, (24, 3, 2, 23, 20), **DEBERTA_V3),
}


def record(folder: Path, name: str, seed: int) -> None:
    """Writes the folder of one variant."""
    names = {"id2label": dict(enumerate(LABELS)), "label2id": {label: i for i, label in enumerate(LABELS)}}
    head = write_head_model(folder, name, VARIANTS[name], ENDING, seed, names)

    def probabilities(output: Any, _: torch.Tensor) -> torch.Tensor:
        return output.logits[0].softmax(-1)

    write_recorded(
        folder,
        head.source,
        head.texts,
        lambda text: head.run(text, probabilities),
        lambda text: head.run(text, probabilities, double=True),
    )
    if read_tokenizer(folder).is_fast:  # else it tells no places
        write_cases(folder, _by_pipeline(folder, head.single))


def _by_pipeline(folder: Path, model: torch.nn.Module) -> list[dict[str, Any]]:
    """Of each text and aggregation: label, score, and characters [start, end)."""
    tokenizer = read_tokenizer(folder)
    tag = transformers.pipeline("token-classification", model=model, tokenizer=tokenizer)
    found = []
    for text in TEXTS:
        for aggregation in AGGREGATIONS:
            entities = [
                [e.get("entity_group", e.get("entity")), float(f"{e['score']:.6g}"), int(e["start"]), int(e["end"])]
                for e in tag(text, aggregation_strategy=aggregation)
            ]
            found.append({"text": text, "aggregation": aggregation, "entities": entities})
    return found
