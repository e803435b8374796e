# SPDX-License-Identifier: Apache-2.0
"""Random shapes and settings of generative models, and of how they write, as `transformers` names them."""

from __future__ import annotations

import copy
import random
from typing import Any

import decoder_settings as decoders
import writer_variants as recorded
from drawn_attention import led_windows, sparse_attention
from drawn_halves import DECODERS
from drawn_pairs import draw_pair
from drawn_t5gemma import draw_t5gemma
from encoder_settings import T5_RARE, T5_SHAPE
from like_llama_settings import LIKE_LLAMA, phi3_angles
from mamba_settings import mamba2_heads
from moses_variants import FSMT

Settings = dict[str, Any]

# By model type: the name before `Config`.
NAMES = {
    "bart": "Bart",
    "bigbird_pegasus": "BigBirdPegasus",
    "blenderbot": "Blenderbot",
    "biogpt": "BioGpt",
    "blenderbot-small": "BlenderbotSmall",
    "bloom": "Bloom",
    "codegen": "CodeGen",
    "encoder-decoder": "EncoderDecoder",
    "falcon": "Falcon",
    "fsmt": "FSMT",
    "gpt2": "GPT2",
    "gpt_bigcode": "GPTBigCode",
    "gpt_neo": "GPTNeo",
    "gpt_neox": "GPTNeoX",
    "gptj": "GPTJ",
    "granite": "Granite",
    "led": "LED",
    "llama": "Llama",
    "m2m_100": "M2M100",
    "marian": "Marian",
    "mbart": "MBart",
    "mistral": "Mistral",
    "mpt": "Mpt",
    "mt5": "MT5",
    "mvp": "Mvp",
    "olmo2": "Olmo2",
    "openai-gpt": "OpenAIGPT",
    "opt": "OPT",
    "pegasus": "Pegasus",
    "phi": "Phi",
    "phi3": "Phi3",
    "plbart": "PLBart",
    "qwen2": "Qwen2",
    "qwen3": "Qwen3",
    "gemma3_text": "Gemma3",
    "smollm3": "SmolLM3",
    "stablelm": "StableLm",
    "starcoder2": "Starcoder2",
    "t5": "T5",
    "t5gemma": "T5Gemma",
    "umt5": "UMT5",
    "xglm": "XGLM",
    **{family: name for family, (name, _) in LIKE_LLAMA.items()},
    **{family: f"{LIKE_LLAMA[family][0]}Whole" for family in DECODERS},
}
_OWN_KEYS = ("deepseek_v3", "glm4_moe_lite", "minicpm3", "youtu")  # of each head
_LLAMAS = (
    *("gemma3_text", "granite", "llama", "mistral", "olmo2", "phi3", "qwen2", "qwen3", "smollm3", "stablelm"),
    "starcoder2",
    *LIKE_LLAMA,
)
WITHOUT_ENCODER = (
    *("biogpt", "openai-gpt"),
    *("bloom", "codegen", "falcon", "gpt2", "gpt_bigcode", "gpt_neo", "gpt_neox", "gptj", "mpt", "opt", "phi", "xglm"),
    *_LLAMAS,
)
_BASES = {
    **dict.fromkeys(("bart", "blenderbot-small", "mvp", "plbart"), recorded.BART),
    **dict.fromkeys(("codegen", "gpt2", "gpt_bigcode", "gptj"), recorded.GPT2),
    "blenderbot": recorded.BART | {"encoder_no_repeat_ngram_size": 0},
    "fsmt": FSMT
    | {"max_length": 20, "bos_token_id": 0, "pad_token_id": 1}
    | dict.fromkeys(("decoder_start_token_id", "eos_token_id", "forced_eos_token_id"), 2),
    "gpt_neo": recorded.GPT_NEO,
    "led": recorded.LED,
    "biogpt": recorded.BIOGPT,
    "bloom": recorded.BLOOM,
    "falcon": recorded.FALCON,
    "xglm": recorded.XGLM,
    "mpt": recorded.MPT,
    "m2m_100": recorded.M2M,
    "marian": recorded.OPUS,
    "mbart": recorded.MBART,
    "mt5": recorded.T5,
    "openai-gpt": recorded.OPENAI_GPT,
    "opt": recorded.OPT,
    **dict.fromkeys(("bigbird_pegasus", "pegasus"), recorded.PEGASUS),
    **dict.fromkeys(("gpt_neox", "phi"), recorded.NEOX),
    **dict.fromkeys(_LLAMAS, recorded.LLAMA),
    **dict.fromkeys(("phi3", "smollm3", *LIKE_LLAMA), recorded.PHI3),
    "t5": recorded.T5,
    "umt5": recorded.T5,
}
_BARTS = (
    *("bart", "bigbird_pegasus", "blenderbot", "blenderbot-small", "led", "mbart", "marian", "m2m_100", "mvp"),
    *("fsmt", "pegasus", "plbart"),
)
_ACTIVATIONS = ("gelu", "relu", "gelu_new", "silu", "swish", "quick_gelu", "tanh")
_ANGLES: tuple[Settings, ...] = (
    {"rope_type": "default", "rope_theta": 5e5},
    {"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0},
    recorded.LLAMA3,
    {"rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": 0.5},
)
# By key of generation_config.json; those that etch refuses unless they say nothing are asked for less often.
_READ: dict[str, tuple[Any, ...]] = {
    "num_beams": (1, 1, 2, 3, 4, 8, 9),
    "length_penalty": (1.0, 0.6, 2.0, 0.0, -1.0, 6.0),
    "early_stopping": (True, False, "never", None),
    "min_length": (0, 3, 6),
    "min_new_tokens": (0, 2, 5),
    "max_length": (5, 9, 12),
    "max_new_tokens": (4, 9, 12),
    "renormalize_logits": (True,),
    "decoder_start_token_id": (0, 1, 2, 3, 5),
    "bos_token_id": (0, 1, 3),
    "eos_token_id": (2, [2], [2, 3], [30, 2, 9], [5, 3, 8, 2], 3),
    "pad_token_id": (0, 1, 44),
    "forced_bos_token_id": (1, 5, 7),
    "forced_eos_token_id": (2, [2], 3, [2, 3]),
    "suppress_tokens": ([3, 4], [], [5]),
    "bad_words_ids": ([[3]], [[3, 4], [5]], [[6, 7, 8]], [[2]]),
    "repetition_penalty": (1.0, 1.5, 0.8, 3.0),
    "no_repeat_ngram_size": (0, 1, 2, 3),
    "begin_suppress_tokens": ([5, 6], [2], []),
}
_OTHERS: dict[str, tuple[Any, ...]] = {
    "encoder_no_repeat_ngram_size": (0, 2),
    "encoder_repetition_penalty": (1.0, 1.3),
    "num_beam_groups": (1, 2),
    "diversity_penalty": (0.0, 0.5),
    "penalty_alpha": (0.0, 0.6),
    "guidance_scale": (1.0, 1.5),
    "exponential_decay_length_penalty": ([3, 1.2],),
    "num_return_sequences": (1, 2),
    "temperature": (0.5, 1.0),
    "top_k": (5, 50),
    "typical_p": (1.0, 0.5),
    "min_p": (0.1,),
    "epsilon_cutoff": (0.01,),
    "dola_layers": ("low",),
    "token_healing": (False,),
    "unknown_key": (2,),
}


_POSITIONS = {"led": ("max_encoder_position_embeddings", "max_decoder_position_embeddings")}


def draw_writer(source: random.Random, family: str) -> Settings:
    """Settings of a model."""
    if family == "encoder-decoder":
        return draw_pair(source)
    if family == "t5gemma":
        return draw_t5gemma(source, recorded.VOCABULARY, 24)
    settings = dict(_BASES[family])
    often = _shape(source, family)
    for key, (chance, values) in often.items():
        if source.random() < chance:
            settings[key] = source.choice(values)
    decoders.fit_kinds(settings)
    if family == "bigbird_pegasus":
        settings |= sparse_attention(source)
    if family == "led":
        settings |= led_windows(source, settings["encoder_layers"])
    return settings


def _shape(source: random.Random, family: str) -> dict[str, tuple[float, tuple[Any, ...]]]:
    """By key: how often it is there, and with which values."""
    heads, of_head, layers = source.choice((1, 2, 4)), source.choice((4, 6, 8)), (1, 2, 3)
    inner = tuple(range(9, 40, 3))
    if family in _BARTS:
        width = heads * of_head + (heads == 1 and family in ("fsmt", "m2m_100", "pegasus"))  # odd ones, too
        shared = tuple(n for n in (1, 2, 4) if width % n == 0)
        both = {}
        for of in ("encoder", "decoder"):
            both |= {f"{of}_layers": (1.0, layers), f"{of}_attention_heads": (1.0, shared)}
            both |= {f"{of}_ffn_dim": (1.0, inner)}
        return both | {
            "d_model": (1.0, (width,)),
            **{key: (1.0, tuple(range(24, 50, 5))) for key in _POSITIONS.get(family, ("max_position_embeddings",))},
            "activation_function": (0.3, _ACTIVATIONS),
            "scale_embedding": (0.4, (True, False)),
            "decoder_start_token_id": (0.2, (0, 1, 2, 5)),
            "forced_eos_token_id": (0.2, (None,)),
            "forced_bos_token_id": (0.1, (1, 7, 9)),
            "tie_word_embeddings": (0.15, (True, False)),
            **({"use_prompt": (0.2, (True, False))} if family == "mvp" else {}),
            **({"src_vocab_size": (0.4, (FSMT["tgt_vocab_size"],))} if family == "fsmt" else {}),
        }
    if family in ("t5", "mt5", "umt5"):
        return {key: (1.0, values) for key, values in T5_SHAPE.items()} | T5_RARE
    if family == "mpt":
        heads = source.choice((1, 2, 3, 4, 5, 6))
        return {
            "n_heads": (1.0, (heads,)),
            "d_model": (1.0, (heads * of_head,)),
            "n_layers": (1.0, layers),
            "max_seq_len": (1.0, tuple(range(41, 60, 5))),
            **decoders.MPT_RARE,
        }
    if family == "xglm":
        width = heads * of_head + (heads == 1)  # odd ones, too
        return {
            "attention_heads": (1.0, (heads,)),
            "d_model": (1.0, (width,)),
            "num_layers": (1.0, layers),
            "max_position_embeddings": (1.0, tuple(range(41, 60, 5))),
            **decoders.XGLM_RARE,
        }
    if family == "bloom":
        heads = source.choice((1, 2, 3, 4, 5, 6))
        return {
            "n_head": (1.0, (heads,)),
            "hidden_size": (1.0, (heads * of_head,)),
            "n_layer": (1.0, layers),
            "seq_length": (0.5, tuple(range(41, 60, 5))),
            "tie_word_embeddings": (0.2, (False,)),
            **decoders.BLOOM_RARE,
        }
    if family == "falcon":
        return {
            "num_attention_heads": (1.0, (heads,)),
            "hidden_size": (1.0, (heads * of_head,)),
            "num_hidden_layers": (1.0, layers),
            "max_position_embeddings": (1.0, tuple(range(41, 60, 5))),
            "tie_word_embeddings": (0.2, (False,)),
            "rope_parameters": (0.5, _ANGLES),
            **decoders.FALCON_RARE,
        }
    if family == "gpt_neo":
        count = source.choice(layers)
        return {
            "num_heads": (1.0, (heads,)),
            "hidden_size": (1.0, (heads * of_head,)),
            "num_layers": (1.0, (count,)),
            "attention_types": (1.0, decoders.gpt_neo_layers(count)),
            "max_position_embeddings": (1.0, tuple(range(41, 60, 5))),
            "tie_word_embeddings": (0.2, (False,)),
            **decoders.GPT_NEO_RARE,
        }
    if family in ("codegen", "gpt_bigcode", "gptj", "openai-gpt"):
        own = {"openai-gpt": decoders.OPENAI_GPT_RARE}
        own |= {"codegen": decoders.CODEGEN_RARE, "gpt_bigcode": decoders.BIGCODE_RARE, "gptj": decoders.GPTJ_RARE}
        return {
            "n_head": (1.0, (heads,)),
            "n_embd": (1.0, (heads * of_head,)),
            "n_layer": (1.0, layers),
            "n_positions": (1.0, tuple(range(41, 60, 5))),
            "tie_word_embeddings": (0.2, (True,)),
            **own[family],
        }
    if family == "gpt2":
        return {
            "n_head": (1.0, (heads,)),
            "n_embd": (1.0, (heads * of_head,)),
            "n_layer": (1.0, layers),
            "n_positions": (1.0, tuple(range(41, 60, 5))),
            "n_inner": (0.3, inner),
            "activation_function": (0.3, _ACTIVATIONS),
            "layer_norm_epsilon": (0.3, (1e-3, 0.1)),
        }
    if family in ("biogpt", "opt"):
        return {
            "num_attention_heads": (1.0, (heads,)),
            "hidden_size": (1.0, (heads * of_head,)),
            "num_hidden_layers": (1.0, layers),
            "max_position_embeddings": (1.0, tuple(range(41, 60, 5))),
            **(decoders.OPT_RARE if family == "opt" else decoders.BIOGPT_RARE),
        }
    if family in ("gpt_neox", "phi"):
        own = {"use_parallel_residual": (0.4, (True, False)), "attention_bias": (0.3, (True, False))}
        return {
            "num_attention_heads": (1.0, (heads,)),
            "hidden_size": (1.0, (heads * of_head,)),
            "num_hidden_layers": (1.0, layers),
            "intermediate_size": (1.0, inner),
            "max_position_embeddings": (1.0, tuple(range(41, 60, 5))),
            "tie_word_embeddings": (0.2, (True,)),
            "hidden_act": (0.3, _ACTIVATIONS),
            "layer_norm_eps": (0.3, (1e-3, 0.1)),
            "rope_parameters": (0.8, (*_ANGLES, {"rope_type": "default", "partial_rotary_factor": 1.0})),
            **(decoders.PHI_RARE if family == "phi" else own),
        }
    shared = [n for n in (1, 2, 4) if heads % n == 0]
    keys = source.choice(shared if family not in _OWN_KEYS or source.random() < 0.05 else [heads])
    return {
        "hidden_size": (1.0, (heads * of_head,)),
        "num_attention_heads": (1.0, (heads,)),
        "num_key_value_heads": (1.0, (keys,)),
        "num_hidden_layers": (1.0, layers),
        "intermediate_size": (1.0, inner),
        "max_position_embeddings": (1.0, tuple(range(41, 60, 5))),
        "head_dim": (0.3, (4, 6, 10)),
        "tie_word_embeddings": (0.4, (True,)),
        "rms_norm_eps": (0.3, (1e-5, 0.1)),
        "hidden_act": (0.3, _ACTIVATIONS),
        "rope_parameters": (0.5, _ANGLES),
        **(
            {"attention_bias": (0.2, (True,)), "mlp_bias": (0.2, (True,))}
            if family in ("granite", "llama", "olmo2", "qwen3", "smollm3")
            else {}
        ),
        **(decoders.GRANITE_FACTORS if family == "granite" else {}),
        **(decoders.SMOLLM3_LAYERS if family == "smollm3" else {}),
        **({"sliding_window": (1.0, (None, 41, 12, 60))} if family in ("mistral", "phi3", "starcoder2") else {}),
        **(decoders.STABLELM_RARE if family == "stablelm" else {}),
        **({"use_bias": (0.4, (False,)), "norm_epsilon": (0.3, (1e-3, 0.1))} if family == "starcoder2" else {}),
        **(phi3_angles(of_head) if family == "phi3" else {}),
        **(decoders.QWEN_WINDOWS if family.startswith("qwen") else {}),
        **LIKE_LLAMA.get(family, ("", {}))[1],
        **(mamba2_heads(heads, of_head, source.choice((1, 2, 3))) if family == "mamba2" else {}),
    }


def draw_generation(source: random.Random, settings: Settings) -> Settings:
    """generation_config.json of a model with these settings."""
    ids = ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id", "forced_eos_token_id")
    found = {key: settings[key] for key in ids if settings.get(key) is not None}
    found[source.choice(("max_length", "max_new_tokens"))] = source.choice((5, 9, 13))
    for _ in range(source.choice((0, 1, 1, 2, 2, 3, 4))):
        values = _READ if source.random() < 0.85 else _OTHERS
        key = source.choice(sorted(values))
        found[key] = copy.deepcopy(source.choice(values[key]))
    if source.random() < 0.15:
        del found[source.choice(sorted(found))]
    return found
