# SPDX-License-Identifier: Apache-2.0
"""The classes that encoders and rows of decoders are drawn of, as `transformers` names them."""

from __future__ import annotations

import decoder_settings as decoders

# By model type, and what more distinguishes it from a writer's: the name before `Model` and `ForMaskedLM`.
NAMES = {
    "albert": "Albert",
    "bart/rows": "Bart",
    "bert": "Bert",
    "big_bird": "BigBird",
    "camembert": "Camembert",
    "clip_text_model": "CLIPText",
    "siglip_text_model": "Siglip",
    "data2vec-text": "Data2VecText",
    "deberta": "Deberta",
    "deberta-v2": "DebertaV2",
    "distilbert": "DistilBert",
    "dpr": "DPR",
    "electra": "Electra",
    "ernie": "Ernie",
    "esm": "Esm",
    "esmc": "Esmc",
    "eurobert": "EuroBert",
    "gte": "Gte",
    "jina_embeddings_v3": "JinaEmbeddingsV3",
    "led/rows": "LED",
    "longformer": "Longformer",
    "luke": "Luke",
    "megatron-bert": "MegatronBert",
    "mobilebert": "MobileBert",
    "modernbert": "ModernBert",
    "mpnet": "MPNet",
    "mt5/encoder": "MT5",
    "mt5/rows": "MT5",
    "nomic_bert": "NomicBert",
    "rembert": "RemBert",
    "roberta": "Roberta",
    "roberta-prelayernorm": "RobertaPreLayerNorm",
    "roformer": "RoFormer",
    "squeezebert": "SqueezeBert",
    "t5/encoder": "T5",
    "t5/rows": "T5",
    "ultrabert": "Ultrabert",
    "umt5/encoder": "UMT5",
    "umt5/rows": "UMT5",
    "llama/rows": "Llama",
    "mistral/rows": "Mistral",
    "granite/rows": "Granite",
    "olmo2/rows": "Olmo2",
    "smollm3/rows": "SmolLM3",
    "stablelm/rows": "StableLm",
    "starcoder2/rows": "Starcoder2",
    "gpt2/rows": "GPT2",
    "gpt_neo/rows": "GPTNeo",
    "gpt_neox/rows": "GPTNeoX",
    "bloom/rows": "Bloom",
    "falcon/rows": "Falcon",
    "gptj/rows": "GPTJ",
    "mpt/rows": "Mpt",
    "gpt_bigcode/rows": "GPTBigCode",
    "opt/rows": "OPT",
    "phi/rows": "Phi",
    "phi3/rows": "Phi3",
    "qwen2/rows": "Qwen2",
    "qwen3/rows": "Qwen3",
    "gemma3_text/rows": "Gemma3Text",
    "xlm-roberta": "XLMRoberta",
    "xlm-roberta-xl": "XLMRobertaXL",
    "xmod": "Xmod",
    **{f"{family}/rows": name for family, (name, _) in decoders.LIKE_LLAMA.items()},
}
# The endings of a family's classes where these are not those of most.
LLAMAS = tuple(
    f"{name}/rows"
    for name in ("granite", "llama", "mistral", "olmo2", "phi3", "qwen2", "qwen3", "smollm3", *decoders.LIKE_LLAMA)
)
DECODERS = (
    *LLAMAS,
    "gemma3_text/rows",
    "bloom/rows",
    "falcon/rows",
    "gpt2/rows",
    "gpt_neo/rows",
    "gpt_neox/rows",
    "gptj/rows",
    "mpt/rows",
    "gpt_bigcode/rows",
    "opt/rows",
    "phi/rows",
    "stablelm/rows",
    "starcoder2/rows",
)
ENDINGS = {
    "longformer": (
        *("ForMaskedLM", "ForTokenClassification", "Model"),
        *("ForMaskedLM", "ForTokenClassification", "Model", "ForQuestionAnswering"),
    ),
    **dict.fromkeys(("mt5/encoder", "t5/encoder", "umt5/encoder"), ("EncoderModel", "ForTokenClassification")),
    **dict.fromkeys(
        ("bart/rows", "mt5/rows", "t5/rows", "umt5/rows"), ("ForSequenceClassification", "ForQuestionAnswering")
    ),
    **dict.fromkeys(DECODERS, ("ForSequenceClassification", "Model")),
    **{f"{name}/rows": ("Model",) for name in ("cohere", "cohere2", "ernie4_5", "granite", "lfm2", "vaultgemma")},
    "led/rows": ("ForQuestionAnswering",),
    "clip_text_model": ("ModelWithProjection", "ModelWithProjection", "Model"),
    "dpr": ("QuestionEncoder", "ContextEncoder"),
    "siglip_text_model": ("TextModel",),
}
# What stands before the names of the encoder's tensors in a file with a head.
PREFIXES = {
    **{
        family: f"{family}."
        for family in ("albert", "bert", "distilbert", "electra", "ernie", "gte", "mobilebert", "mpnet")
    },
    **dict.fromkeys(("camembert", "jina_embeddings_v3", "roberta"), "roberta."),
    **dict.fromkeys(("xlm-roberta", "xlm-roberta-xl", "xmod"), "roberta."),
    "data2vec-text": "data2vec_text.",
    **dict.fromkeys(("big_bird", "megatron-bert"), "bert."),
    "rembert": "rembert.",
    "esm": "esm.",
    "esmc": "esmc.",
    "led/rows": "led.",
    "longformer": "longformer.",
    "luke": "luke.",
    "squeezebert": "transformer.",
    "roformer": "roformer.",
    "roberta-prelayernorm": "roberta_prelayernorm.",
    **dict.fromkeys(("eurobert", "modernbert", *DECODERS), "model."),
    "ultrabert": "ultrabert.",
    **dict.fromkeys(
        ("bloom/rows", "falcon/rows", "mpt/rows", "gpt2/rows", "gpt_bigcode/rows", "gpt_neo/rows", "gptj/rows"),
        "transformer.",
    ),
    "gpt_neox/rows": "gpt_neox.",
    **dict.fromkeys(("deberta", "deberta-v2"), "deberta."),
    **dict.fromkeys(("mt5/encoder", "mt5/rows", "t5/encoder", "t5/rows", "umt5/encoder", "umt5/rows"), "transformer."),
    "nomic_bert": "nomic_bert.",
    **dict.fromkeys(("clip_text_model", "siglip_text_model"), "text_model."),
    "dpr": "question_encoder.",
}
