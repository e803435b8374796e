# SPDX-License-Identifier: Apache-2.0
"""Models that answer questions, of every family, as `transformers` defines and saves them. What the pipeline makes of
texts is added by `record_answers.py`, which needs an older `transformers`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from head_model import write_head_model
from library_models import MPNET_OFFSET
from outputs import write_recorded
from published_settings import DEBERTA_V1, DEBERTA_V3, MOBILE, MODERN_IDS
from token_ids import FIRST_WORD
from variant_shapes import FNET_KEYS, XLM_KEYS, Variant, bart, bert_like, canine, distilbert, funnel, t5

ENDING = "ForQuestionAnswering"
VARIANTS: dict[str, Variant] = {
    "answers/bert": bert_like("Bert", 0, (20, 5, 1, 37, 40)),
    "answers/distilbert": distilbert(0, (21, 3, 2, 19, 24)),
    "answers/electra": bert_like("Electra", 0, (24, 3, 2, 19, 20), embedding_size=14),
    "answers/convbert": bert_like("ConvBert", 0, (24, 6, 2, 19, 32), embedding_size=14),
    "answers/funnel": funnel(0, (18, 2, 5, 19), [1, 2], pool_q_only=False, num_decoder_layers=2),
    "answers/canine": canine(0, (18, 2, 1, 19, 40), downsampling_rate=2, upsampling_kernel_size=3),
    "answers/fnet": bert_like("FNet", 0, (18, 1, 19, 40), FNET_KEYS),
    "answers/nystromformer": bert_like("Nystromformer", 0, (18, 2, 1, 19, 40), conv_kernel_size=9),
    "answers/splinter": bert_like("Splinter", 0, (20, 4, 2, 23, 32), question_token_id=FIRST_WORD),
    "answers/albert": bert_like("Albert", 0, (24, 3, 3, 37, 20), embedding_size=14),
    "answers/mpnet": bert_like("MPNet", 0, (20, 5, 2, 23, 20 + MPNET_OFFSET)),
    "answers/mobilebert": bert_like(
        "MobileBert", 0, (12, 3, 1, 17, 20), **MOBILE, key_query_shared_bottleneck=False, type_vocab_size=3
    ),
    "answers/ernie": bert_like("Ernie", 0, (20, 5, 2, 23, 20)),
    "answers/roberta": bert_like("Roberta", 0, (20, 4, 2, 35, 32 + 2), type_vocab_size=1),
    "answers/camembert": bert_like("Camembert", 0, (18, 3, 1, 23, 20 + 2), type_vocab_size=1),
    "answers/longformer": bert_like(
        "Longformer", 0, (18, 3, 2, 19, 32 + 2), type_vocab_size=1, attention_window=4, hidden_act="relu"
    ),
    "answers/modernbert": bert_like("ModernBert", 0, (20, 5, 3, 23, 20), **MODERN_IDS, local_attention=6),
    "answers/modernbert_gemma": bert_like("ModernBert", 0, (12, 2, 1, 19, 32), **MODERN_IDS, local_attention=6),
    "answers/xlm-roberta": bert_like("XLMRoberta", 0, (16, 2, 2, 21, 32 + 2), type_vocab_size=1),
    "answers/flaubert": bert_like("Flaubert", 0, (20, 2, 1, 32), XLM_KEYS),
    "answers/deberta": bert_like("Deberta", 0, (24, 3, 2, 23, 32), **DEBERTA_V1),
    "answers/deberta-v2": bert_like("DebertaV2", 0, (24, 3, 2, 23, 32), **DEBERTA_V3),
    "answers/bart": bart(0, (18, 3, 1, 19, 32)),
    "answers/led": bart(
        0,
        (18, 3, 1, 19, 32),
        "LED",
        "max_encoder_position_embeddings",
        max_decoder_position_embeddings=32,
        attention_window=4,
    ),
    "answers/t5": t5("T5", 0, (18, 3, 1, 19, 32), decoder_start_token_id=0),
}


def record(folder: Path, name: str, seed: int) -> None:
    """Writes the folder of one variant."""
    head = write_head_model(folder, name, VARIANTS[name], ENDING, seed)

    def ends(output: Any, _: torch.Tensor) -> torch.Tensor:
        """[tokens, 2]."""
        return torch.stack((output.start_logits[0], output.end_logits[0]), -1)

    write_recorded(
        folder,
        head.source,
        head.texts,
        lambda text: head.run(text, ends),
        lambda text: head.run(text, ends, double=True),
    )
