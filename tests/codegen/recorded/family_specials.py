# SPDX-License-Identifier: Apache-2.0
"""The special tokens that the recorded models of a family have."""

from __future__ import annotations

from token_ids import (
    ALBERT,
    BART,
    BERT,
    BERT_GENERATION,
    BIG_BIRD,
    CAMEMBERT,
    CANINE,
    CANINE_PAIRS,
    CLIP,
    DEBERTA,
    DEBERTA_BYTES,
    ESM,
    ESMC,
    FAIRSEQ,
    FLAUBERT,
    FNET,
    FUNNEL,
    FUNNEL_SHIFTED,
    GEMMA,
    HERBERT,
    LUKE,
    MPNET,
    NO_SEGMENTS,
    QWEN,
    QWEN3_5,
    REMBERT,
    ROBERTA,
    ROC_BERT,
    SIGLIP,
    SPLINTER,
    T5,
    XLM,
    XLM_ROBERTA,
    XLNET,
    Specials,
)

ROBERTAS = (
    *("longformer", "roberta", "camembert", "xlm-roberta", "roberta-prelayernorm", "xlm-roberta-xl"),
    *("data2vec-text", "ibert", "luke", "xmod"),
)
# The others are as BERT.
SPECIALS: dict[str, Specials] = {
    "distilbert": NO_SEGMENTS,
    "mpnet": MPNET,
    **dict.fromkeys(("longformer", "roberta", "roberta-prelayernorm", "data2vec-text", "ibert"), ROBERTA),
    "luke": LUKE,
    "camembert": CAMEMBERT,
    **dict.fromkeys(("xlm-roberta", "xlm-roberta-xl", "xmod"), XLM_ROBERTA),
    **dict.fromkeys(("modernbert", "modernbert-decoder"), ROBERTA),
    **dict.fromkeys(("eurobert", "ultrabert"), ROBERTA),
    **dict.fromkeys(
        ("gte", "jina_embeddings_v3", "gemma2", "gemma3", "gemma3_text", "gemma4", "gemma4_text"), XLM_ROBERTA
    ),
    "bert/xlm_words": XLM_ROBERTA,
    "bert/jina_code": ROBERTA,  # as jina-embeddings-v2-base-code, -de, -es and -zh have it
    **dict.fromkeys(("tags/modernbert_gemma", "answers/modernbert_gemma"), GEMMA),  # as mmBERT has it
    "t5gemma": GEMMA,
    **dict.fromkeys(("roberta/fairseq", "masks/roberta_fairseq"), FAIRSEQ),
    "bert/herbert": HERBERT,
    **dict.fromkeys(("albert/own_words", "nystromformer"), ALBERT),
    "fnet": FNET,
    "bert-generation": BERT_GENERATION,
    "big_bird": BIG_BIRD,
    "rembert": REMBERT,
    **dict.fromkeys(("roc_bert", "masks/roc_bert"), ROC_BERT),
    "deberta": DEBERTA_BYTES,
    "deberta-v2": DEBERTA,
    **dict.fromkeys(
        (
            *("gpt2", "gpt_neo", "gpt_neox", "gptj", "llama", "mistral", "opt", "phi", "phi3", "qwen2", "qwen3"),
            *("biogpt", "bloom", "falcon", "gpt_bigcode", "lfm2", "mpt", "nemotron", "stablelm", "starcoder2"),
            *("hyperclovax", "internlm3", "iquestcoder", "jais2", "granitemoehybrid", "ministral3"),
            *("apertus", "bitnet", "minicpm3", "mistral3", "youtu"),
            *("idefics3", "lfm2_vl", "llava", "llava_next", "smolvlm"),
            *("olmo_hybrid", "olmoe", "openai-gpt", "qwen2_moe", "qwen3_moe", "qwen3_next", "tags/qwen3_next"),
            *("bamba", "falcon_h1", "mamba2"),
            *("deepseek_v3", "dots1", "ernie4_5_moe", "exaone_moe", "glm4_moe", "glm4_moe_lite", "hy_v3", "lfm2_moe"),
            "solar_open",
            *("flex_olmo", "gpt_oss", "granite_swa", "granitemoe_swa", "granitemoeshared"),
        ),
        QWEN,
    ),
    **dict.fromkeys(("qwen3_5", "qwen3_5_text", "tags/qwen3_5", "qwen3_5_moe", "qwen3_5_moe_text"), QWEN3_5),
    **dict.fromkeys(("t5", "mt5", "umt5"), T5),
    "xlnet": XLNET,
    "xlm": XLM,
    "flaubert": FLAUBERT,
    "splinter": SPLINTER,
    "canine": CANINE,
    "answers/canine": CANINE_PAIRS,
    "funnel": FUNNEL,
    **dict.fromkeys(("funnel/softmax", "funnel/whole", "funnel/decoded"), FUNNEL_SHIFTED),
    **dict.fromkeys(("bart", "bigbird_pegasus", "led", "mvp", "plbart"), BART),
    **dict.fromkeys(("altclip", "metaclip_2"), XLM_ROBERTA),
    "clap": ROBERTA,
    "esm": ESM,
    "esmc": ESMC,
    **dict.fromkeys(("clip", "clip_text_model", "clipseg", "groupvit", "owlv2", "owlvit", "xclip"), CLIP),
    **dict.fromkeys(("siglip", "siglip2", "siglip_text_model", "siglip2_text_model"), SIGLIP),
}


def specials_of(name: str) -> Specials:
    """Of a variant: its own, or those of its family."""
    return SPECIALS.get(name, SPECIALS.get(name.partition("/")[0], BERT))
