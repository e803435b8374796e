# SPDX-License-Identifier: Apache-2.0
"""The texts' half of AltCLIP (Chen et al., 2022, arXiv:2211.06679), an XLM-RoBERTa: `AltCLIPModel.get_text_features` of
`transformers`. What the class does to all rows is done here to the first one."""

from __future__ import annotations

from ...ir.graph import Head, Pool
from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ...tasks.embedding import Embedding
from ..bases import text_half
from ..bases.bert_texts import HARMLESS_KEYS as HARMLESS_OF_TEXTS
from ..bases.bert_texts import ROBERTA_BASE, BertTexts
from ..shared import parts
from ..shared.rows import HeadOps
from ..shared.sentence_head import OUT

MODEL_TYPE = "altclip"
HARMLESS_KEYS = text_half.HARMLESS_KEYS
_OF_TEXTS = ROBERTA_BASE | {
    **{"vocab_size": 250_002, "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16},
    **{"intermediate_size": 4096, "layer_norm_eps": 1e-5, "project_dim": 768},
}
_ROW, _TEACHERS = "row", "teachers_row"


def _embed(checkpoint: Checkpoint, texts: Config, width: int) -> HeadOps:
    tensors, outputs = checkpoint.tensors, text_half.projection_width(checkpoint.config, 768)
    inner = texts.positive_int("project_dim", maximum=parts.MAX_WIDTH)
    transformation, norm = (f"{text_half.TEXT_MODEL}{name}" for name in ("transformation", "pre_LN"))
    shape = outputs, inner
    body = (
        Pool("first", "hidden", _ROW),
        parts.layer_norm(tensors, "final_norm", [norm], width, parts.epsilon_of(texts), _ROW),
        parts.linear(tensors, "transformation", [transformation], (inner, width), _ROW, _TEACHERS),
        parts.linear(tensors, "projection", [text_half.PROJECTION], shape, _TEACHERS, OUT, bias=False),
    )
    return body, {_ROW: width, _TEACHERS: inner, OUT: outputs}, Head(Embedding(outputs), OUT)


FAMILY = BertTexts(
    "AltCLIPModel",
    _OF_TEXTS,
    _embed,
    keys=text_half.OLD_OR_NEW,
    is_roberta=True,
    tokenizer_class="XLMRobertaTokenizer",
    prefix=f"{text_half.TEXT_MODEL}roberta.",
    harmless=HARMLESS_OF_TEXTS | {"pooler_fn", "project_dim"},
)
