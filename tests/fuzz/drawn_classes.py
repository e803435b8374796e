# SPDX-License-Identifier: Apache-2.0
"""The classes that encoders and rows of decoders are drawn of, as `transformers` names them."""

from __future__ import annotations

from like_llama_settings import LIKE_LLAMA, OF_LLAMA

# By model type, and what more distinguishes it from a writer's: the name before `Model` and `ForMaskedLM`.
NAMES = {
    "albert": "Albert",
    "align": "Align",
    "altclip": "AltCLIP",
    "bart/rows": "Bart",
    "bigbird_pegasus/rows": "BigBirdPegasus",
    "bert": "Bert",
    "bert-generation": "BertGeneration",
    "big_bird": "BigBird",
    "camembert": "Camembert",
    "chinese_clip": "ChineseCLIP",
    "clap": "Clap",
    "canine": "Canine",
    "clip_text_model": "CLIPText",
    "convbert": "ConvBert",
    "clipseg": "CLIPSeg",
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
    "funnel": "Funnel",
    "groupvit": "GroupViT",
    "gte": "Gte",
    "ibert": "IBert",
    "jina_embeddings_v3": "JinaEmbeddingsV3",
    "layoutlm": "LayoutLM",
    "led/rows": "LED",
    "longformer": "Longformer",
    "luke": "Luke",
    "megatron-bert": "MegatronBert",
    "metaclip_2": "MetaClip2",
    "mobilebert": "MobileBert",
    "modernbert": "ModernBert",
    "mpnet": "MPNet",
    "mt5/encoder": "MT5",
    "mt5/rows": "MT5",
    "mvp/rows": "Mvp",
    "nomic_bert": "NomicBert",
    "fnet": "FNet",
    "nystromformer": "Nystromformer",
    "owlv2": "Owlv2",
    "owlvit": "OwlViT",
    "plbart/rows": "PLBart",
    "rembert": "RemBert",
    "roberta": "Roberta",
    "roberta-prelayernorm": "RobertaPreLayerNorm",
    "roc_bert": "RoCBert",
    "roformer": "RoFormer",
    "splinter": "Splinter",
    "squeezebert": "SqueezeBert",
    "t5/encoder": "T5",
    "t5/rows": "T5",
    "t5gemma/rows": "T5Gemma",
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
    "biogpt/rows": "BioGpt",
    "bloom/rows": "Bloom",
    "falcon/rows": "Falcon",
    "gptj/rows": "GPTJ",
    "mpt/rows": "Mpt",
    "gpt_bigcode/rows": "GPTBigCode",
    "openai-gpt/rows": "OpenAIGPT",
    "opt/rows": "OPT",
    "phi/rows": "Phi",
    "phi3/rows": "Phi3",
    "qwen2/rows": "Qwen2",
    "qwen3/rows": "Qwen3",
    "gemma3_text/rows": "Gemma3Text",
    "xclip": "XCLIP",
    "xlm-roberta": "XLMRoberta",
    "xlm-roberta-xl": "XLMRobertaXL",
    "flaubert": "Flaubert",
    "xlm": "XLM",
    "xlnet": "XLNet",
    "xmod": "Xmod",
    **{f"{family}/rows": name for family, (name, _) in LIKE_LLAMA.items()},
    **{f"{family}/rows": "Llama" for family in OF_LLAMA},
    **{
        f"{family}_text/rows": f"{name}Text" for family, name in (("qwen3_5", "Qwen3_5"), ("qwen3_5_moe", "Qwen3_5Moe"))
    },
}
CLIPS = ("clipseg", "groupvit", "metaclip_2", "owlv2", "owlvit", "xclip")
# The endings of a family's classes where these are not those of most.
LLAMAS = tuple(
    f"{name}/rows"
    for name in ("granite", "llama", "mistral", "olmo2", "phi3", "qwen2", "qwen3", "smollm3", *LIKE_LLAMA)
)
DECODERS = (
    *LLAMAS,
    "gemma3_text/rows",
    "biogpt/rows",
    "bloom/rows",
    "falcon/rows",
    "gpt2/rows",
    "gpt_neo/rows",
    "gpt_neox/rows",
    "gptj/rows",
    "mpt/rows",
    "gpt_bigcode/rows",
    "openai-gpt/rows",
    "opt/rows",
    "phi/rows",
    "stablelm/rows",
    "starcoder2/rows",
)
# Those that have token classifiers.
TAGGERS = tuple(
    f"{name}/rows"
    for name in (
        *("arcee", "biogpt", "bloom", "exaone4", "falcon", "gemma", "gemma2", "glm", "glm4", "gpt2", "gpt_bigcode"),
        *("gpt_neo", "gpt_neox", "gpt_oss", "helium", "internlm3", "iquestcoder", "llama", "ministral"),
        *("ministral3", "mistral", "mixtral", "mpt", "nemotron", "persimmon", "phi", "phi3", "qwen2", "qwen2_moe"),
        *("qwen3", "qwen3_5", "qwen3_moe", "qwen3_next", "seed_oss", "smollm3", "stablelm", "starcoder2"),
    )
)
ENDINGS = {
    "longformer": (
        *("ForMaskedLM", "ForTokenClassification", "Model"),
        *("ForMaskedLM", "ForTokenClassification", "Model", "ForQuestionAnswering"),
    ),
    **dict.fromkeys(("mt5/encoder", "t5/encoder", "umt5/encoder"), ("EncoderModel", "ForTokenClassification")),
    **dict.fromkeys(
        ("bart/rows", "bigbird_pegasus/rows", "mt5/rows", "mvp/rows", "t5/rows", "umt5/rows"),
        ("ForSequenceClassification", "ForQuestionAnswering"),
    ),
    **dict.fromkeys(DECODERS, ("ForSequenceClassification", "Model")),
    **{f"{name}/rows": ("Model",) for name in ("cohere", "cohere2", "ernie4_5", "granite", "lfm2", "vaultgemma")},
    **{f"{name}/rows": ("Model",) for name in ("cwm", "granitemoehybrid", "hyperclovax", "jais2", "lfm3", "nanochat")},
    **dict.fromkeys(("apertus/rows", "bitnet/rows", "granitemoe/rows", "olmoe/rows", "youtu/rows"), ("Model",)),
    **{
        f"{name}/rows": ("Model",)
        for name in (
            *("bamba", "falcon_h1", "mamba2"),
            *("deepseek_v3", "dots1", "ernie4_5_moe", "exaone_moe", "glm4_moe", "glm4_moe_lite", "hy_v3", "lfm2_moe"),
            "solar_open",
            *("flex_olmo", "gemma4", "gemma4_text", "granite_swa", "granitemoe_swa", "granitemoeshared", "idefics3"),
            *(
                "lfm2_vl",
                "llava",
                "llava_next",
                "mistral3",
                "olmo_hybrid",
                "qwen3_5_moe",
                "qwen3_5_moe_text",
                "smolvlm",
            ),
        )
    },
    **dict.fromkeys(TAGGERS, ("ForSequenceClassification", "ForTokenClassification", "Model")),
    "apertus/rows": ("ForTokenClassification", "Model"),
    "t5gemma/rows": ("ForSequenceClassification", "ForTokenClassification", "EncoderModel"),
    "led/rows": ("ForQuestionAnswering",),
    "plbart/rows": ("ForSequenceClassification",),
    "clip_text_model": ("ModelWithProjection", "ModelWithProjection", "Model"),
    **dict.fromkeys(
        ("flaubert", "xlm"),
        (
            *("ForSequenceClassification", "ForTokenClassification", "ForMultipleChoice", "Model"),
            *("WithLMHeadModel", "WithLMHeadModel", "ForQuestionAnsweringSimple", "ForQuestionAnswering"),
        ),
    ),
    "splinter": ("ForQuestionAnswering", "ForQuestionAnswering", "Model"),
    "canine": (
        *("ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering", "ForMultipleChoice", "Model"),
    ),
    "funnel": (
        *("ForSequenceClassification", "ForTokenClassification", "ForMaskedLM", "ForQuestionAnswering"),
        *("ForMultipleChoice", "Model", "BaseModel", "ForPreTraining"),
    ),
    "xlnet": (
        *("ForSequenceClassification", "ForTokenClassification", "ForMultipleChoice", "Model"),
        *("LMHeadModel", "ForQuestionAnsweringSimple"),
    ),
    "dpr": ("QuestionEncoder", "ContextEncoder"),
    "bert-generation": ("Encoder",),
    **dict.fromkeys(("align", "altclip", "chinese_clip", "clap", *CLIPS), ("Model",)),
    "siglip_text_model": ("TextModel",),
}
# What stands before the names of the encoder's tensors in a file with a head.
PREFIXES = {
    **{
        family: f"{family}."
        for family in ("albert", "bert", "convbert", "distilbert", "electra", "ernie", "gte", "mobilebert", "mpnet")
    },
    **dict.fromkeys(("camembert", "jina_embeddings_v3", "roberta"), "roberta."),
    **dict.fromkeys(("xlm-roberta", "xlm-roberta-xl", "xmod"), "roberta."),
    "data2vec-text": "data2vec_text.",
    **dict.fromkeys(("big_bird", "megatron-bert"), "bert."),
    "bert-generation": "",
    "rembert": "rembert.",
    "roc_bert": "roc_bert.",
    "esm": "esm.",
    "esmc": "esmc.",
    "canine": "canine.",
    "splinter": "splinter.",
    "funnel": "funnel.",
    "fnet": "fnet.",
    "nystromformer": "nystromformer.",
    "led/rows": "led.",
    "ibert": "ibert.",
    "layoutlm": "layoutlm.",
    "longformer": "longformer.",
    "luke": "luke.",
    **dict.fromkeys(("flaubert", "squeezebert", "xlm", "xlnet"), "transformer."),
    "roformer": "roformer.",
    "roberta-prelayernorm": "roberta_prelayernorm.",
    **dict.fromkeys(("eurobert", "modernbert", *DECODERS), "model."),
    "ultrabert": "ultrabert.",
    **dict.fromkeys(
        ("bloom/rows", "falcon/rows", "mpt/rows", "gpt2/rows", "gpt_bigcode/rows", "gpt_neo/rows", "gptj/rows"),
        "transformer.",
    ),
    "biogpt/rows": "biogpt.",
    **dict.fromkeys(("qwen3_5", "qwen3_5/rows", "qwen3_5_moe", "qwen3_5_moe/rows"), "model.language_model."),
    **{
        f"{name}{end}": "language_model.model."
        for name in ("gemma3", "llava", "llava_next", "mistral3")
        for end in ("", "/rows")
    },
    **{f"{name}{end}": "model.text_model." for name in ("idefics3", "smolvlm") for end in ("", "/rows")},
    **dict.fromkeys(("gemma4", "gemma4/rows", "lfm2_vl", "lfm2_vl/rows"), "model.language_model."),
    "gpt_neox/rows": "gpt_neox.",
    "openai-gpt/rows": "transformer.",
    **dict.fromkeys(("deberta", "deberta-v2"), "deberta."),
    **dict.fromkeys(("mt5/encoder", "mt5/rows", "t5/encoder", "t5/rows", "umt5/encoder", "umt5/rows"), "transformer."),
    "nomic_bert": "nomic_bert.",
    **dict.fromkeys(
        ("align", "altclip", "chinese_clip", "clap", "clip_text_model", "siglip_text_model", *CLIPS), "text_model."
    ),
    "dpr": "question_encoder.",
}
