# SPDX-License-Identifier: Apache-2.0
"""Embedding models and cross-encoders, as `sentence-transformers` defines and saves them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import sentence_transformers
import torch
from family_specials import specials_of
from library_models import MPNET_OFFSET, attention_of, build, max_tokens
from numpy.typing import NDArray
from outputs import Tokens, write_recorded
from published_settings import DEBERTA_V1, DEBERTA_V3, ESM_1B, GEMMA, MOBILE, MODERN_IDS
from random_weights import randomize
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.sentence_transformer.modules import Dropout, LayerNorm, Pooling
from token_ids import BERT, Specials, some_tokens
from torch import nn
from transformers import PreTrainedModel
from unrounded import unrounded
from variant_shapes import FNET_KEYS, QWEN3_5, XLM_KEYS, XLNET_KEYS, canine, funnel, t5, t5gemma
from vocabularies import write_tokenizer

BERT_SIZES = {
    "hidden_size": 20,
    "num_attention_heads": 5,
    "num_hidden_layers": 1,
    "intermediate_size": 21,
    "max_position_embeddings": 16,
}

MAMBA = {"mamba_n_heads": 4, "mamba_d_head": 10, "mamba_n_groups": 2, "mamba_d_state": 6, "mamba_chunk_size": 3}


@dataclass(frozen=True)
class Encoder:
    """A bare encoder, its pooling, and the modules behind it."""

    model: str
    width: int
    pooling: str | tuple[str, ...]
    config: dict[str, Any]
    modules: tuple[Callable[[], nn.Module], ...] = ()
    pooler: bool = True


ENCODERS: dict[str, Encoder] = {
    "distilbert/mean": Encoder(
        "DistilBertModel",
        22,
        "mean",
        {"dim": 22, "n_heads": 2, "n_layers": 1, "hidden_dim": 31, "max_position_embeddings": 14},
        (Normalize,),
    ),
    "electra/cls": Encoder("ElectraModel", 20, "cls", BERT_SIZES | {"embedding_size": 11}),
    "albert/max": Encoder("AlbertModel", 20, "max", BERT_SIZES | {"embedding_size": 11, "num_hidden_layers": 2}),
    "mpnet/mean": Encoder(
        "MPNetModel", 20, "mean", BERT_SIZES | {"max_position_embeddings": 16 + MPNET_OFFSET}, (Normalize,)
    ),
    "roberta/mean": Encoder(
        "RobertaModel", 20, "mean", BERT_SIZES | {"max_position_embeddings": 16 + 2, "type_vocab_size": 1}, (Normalize,)
    ),
    "xlm-roberta/mean": Encoder(
        "XLMRobertaModel", 20, "mean", BERT_SIZES | {"max_position_embeddings": 16 + 2, "type_vocab_size": 1}
    ),
    "megatron-bert/cls": Encoder("MegatronBertModel", 20, "cls", BERT_SIZES),
    "rembert/mean": Encoder(
        "RemBertModel", 20, "mean", BERT_SIZES | {"input_embedding_size": 24, "output_embedding_size": 9}, (Normalize,)
    ),
    "deberta/mean": Encoder("DebertaModel", 20, "mean", BERT_SIZES | DEBERTA_V1, (Normalize,)),
    "qwen3/last": Encoder(
        "Qwen3Model", 20, "lasttoken", BERT_SIZES | {"num_key_value_heads": 1, "head_dim": 6}, (Normalize,)
    ),
    "qwen3_5_text/last": Encoder(
        "Qwen3_5TextModel",
        20,
        "lasttoken",
        BERT_SIZES
        | QWEN3_5
        | {"num_hidden_layers": 2, "layer_types": ["linear_attention", "full_attention"]}
        | {"num_attention_heads": 2},
        (Normalize,),
    ),
    "olmo_hybrid/last": Encoder(
        "OlmoHybridModel",
        20,
        "lasttoken",
        BERT_SIZES
        | {"num_hidden_layers": 2, "num_attention_heads": 2, "rope_parameters": {"rope_theta": None}}
        | {"linear_value_head_dim": 6, "pad_token_id": 0, "eos_token_id": 0},
        (Normalize,),
    ),
    "apertus/last": Encoder("ApertusModel", 20, "lasttoken", BERT_SIZES | {"num_key_value_heads": 1}, (Normalize,)),
    "granitemoehybrid/last": Encoder(
        "GraniteMoeHybridModel",
        20,
        "lasttoken",
        BERT_SIZES
        | {"layer_types": ["attention"], "num_local_experts": 0, "num_key_value_heads": 1, "mamba_n_heads": 4}
        | {"position_embedding_type": "rope", "shared_intermediate_size": 26, "attention_multiplier": 0.4},
        (Normalize,),
    ),
    "granitemoehybrid/mamba": Encoder(
        "GraniteMoeHybridModel",
        20,
        "lasttoken",
        BERT_SIZES
        | MAMBA
        | {"num_hidden_layers": 2, "layer_types": ["mamba", "attention"], "num_local_experts": 0}
        | {"shared_intermediate_size": 26, "attention_multiplier": 0.4, "mamba_chunk_size": 7},
    ),
    "bamba/last": Encoder(
        "BambaModel",
        20,
        "lasttoken",
        BERT_SIZES
        | MAMBA
        | {"num_hidden_layers": 2, "attn_layer_indices": [0], "num_key_value_heads": 1, "num_attention_heads": 2}
        | {"rope_parameters": {"rope_theta": 90.0, "partial_rotary_factor": 0.4, "rope_type": "default"}},
        (Normalize,),
    ),
    "falcon_h1/last": Encoder(
        "FalconH1Model",
        20,
        "lasttoken",
        BERT_SIZES
        | MAMBA
        | {"num_attention_heads": 2, "mamba_rms_norm": True, "mamba_d_ssm": 24, "mamba_d_head": 6}
        | {"ssm_multipliers": [0.5, 1.5, 0.7, 1.2, 0.9], "num_key_value_heads": None, "key_multiplier": 0.3},
        (Normalize,),
    ),
    "mamba2/mean": Encoder(
        "Mamba2Model",
        20,
        "mean",
        {"hidden_size": 20, "num_hidden_layers": 2, "num_heads": 4, "head_dim": 10, "n_groups": 2, "state_size": 5}
        | {"time_step_limit": [0.3, 0.9], "chunk_size": 3, "use_bias": True},
        (Normalize,),
    ),
    "lfm2/last": Encoder(
        "Lfm2Model",
        20,
        "lasttoken",
        BERT_SIZES
        | {"num_hidden_layers": 3, "layer_types": ["conv", "conv", "full_attention"], "num_key_value_heads": 1}
        | {"block_multiple_of": 6, "norm_eps": 1e-3, "conv_bias": True, "conv_L_cache": 5},
        (Normalize,),
    ),
    "gemma3_text/mean": Encoder(
        "Gemma3TextModel",
        20,
        "mean",
        BERT_SIZES
        | GEMMA
        | {
            "num_hidden_layers": 3,
            "sliding_window": 5,
            "sliding_window_pattern": 3,
            "use_bidirectional_attention": True,
        },
        (
            lambda: Dense(20, 31, bias=False, activation_function=nn.Identity()),
            lambda: Dense(31, 20, bias=False, activation_function=nn.Identity()),
            Normalize,
        ),
    ),
    "deberta-v2/mean": Encoder("DebertaV2Model", 20, "mean", BERT_SIZES | DEBERTA_V3, (Normalize,)),
    "xlnet/mean": Encoder(
        "XLNetModel", 20, "mean", dict(zip(XLNET_KEYS.split(), (20, 5, 1, 21), strict=True)), (Normalize,)
    ),
    "flaubert/mean": Encoder(
        "FlaubertModel", 20, "mean", dict(zip(XLM_KEYS.split(), (20, 5, 1, 24), strict=True)), (Normalize,)
    ),
    "funnel/first": Encoder(
        "FunnelBaseModel", 20, "cls", funnel(0, (20, 3, 5, 21), [1, 2]).config, (Normalize,), pooler=False
    ),
    "fnet/mean": Encoder(
        "FNetModel", 22, "mean", dict(zip(FNET_KEYS.split(), (22, 2, 19, 20), strict=True)), (Normalize,), pooler=False
    ),
    "nystromformer/mean": Encoder(
        "NystromformerModel", 20, "mean", BERT_SIZES | {"conv_kernel_size": 5}, (Normalize,), pooler=False
    ),
    "splinter/mean": Encoder("SplinterModel", 20, "mean", BERT_SIZES, (Normalize,), pooler=False),
    "canine/mean": Encoder("CanineModel", 18, "mean", canine(0, (18, 3, 2, 19, 28)).config, (Normalize,), pooler=False),
    "funnel/decoded": Encoder(
        "FunnelModel",
        16,
        "mean",
        funnel(0, (16, 2, 7, 19), [1, 1, 1], attention_type="relative_shift", num_decoder_layers=0).config,
        (Normalize,),
        pooler=False,
    ),
    "modernbert/mean": Encoder(
        "ModernBertModel", 20, "mean", BERT_SIZES | MODERN_IDS | {"num_hidden_layers": 2, "local_attention": 4}
    ),
    "t5/mean": Encoder(
        "T5EncoderModel",
        18,
        "mean",
        t5("T5", 0, (18, 3, 2, 23, 20)).config,
        (lambda: Dense(18, 13, bias=False, activation_function=nn.Identity()), Normalize),
    ),
    "t5/gated": Encoder(
        "T5EncoderModel",
        16,
        "mean",
        t5("T5", 0, (16, 2, 2, 19, 24), feed_forward_proj="gated-gelu").config,
        (lambda: Dense(16, 21, bias=False, activation_function=nn.Identity()), Normalize),
    ),
    "mt5/mean": Encoder(
        "MT5EncoderModel", 20, "mean", t5("MT5", 0, (20, 4, 1, 17, 16)).config, (lambda: Dense(20, 11),)
    ),
    "t5gemma/mean": Encoder(
        "T5GemmaEncoderModel",
        20,
        "mean",
        t5gemma(
            "EncoderModel",
            0,
            (20, 4, 2, 6, 2, 23, 20),
            (16, 2, 1, 8, 2, 19, 20),
            {"sliding_window": 4, "query_pre_attn_scalar": 5, "layer_types": ["full_attention", "sliding_attention"]},
            is_encoder_decoder=False,
        ).config,
        (lambda: Dense(20, 13), Normalize),
    ),
    "mobilebert/mean": Encoder("MobileBertModel", 20, "mean", BERT_SIZES | MOBILE | {"intra_bottleneck_size": 15}),
    "convbert/mean": Encoder(
        "ConvBertModel", 20, "mean", BERT_SIZES | {"num_attention_heads": 4, "embedding_size": 20}, pooler=False
    ),
    "ernie/mean": Encoder("ErnieModel", 20, "mean", BERT_SIZES | {"use_task_id": True, "task_type_vocab_size": 2}),
    "longformer/mean": Encoder(
        "LongformerModel",
        20,
        "mean",
        BERT_SIZES
        | {"max_position_embeddings": 20 + 2, "type_vocab_size": 1, "num_hidden_layers": 2, "attention_window": [8, 4]},
    ),
    "esm/mean": Encoder(
        "EsmModel", 20, "mean", BERT_SIZES | ESM_1B | {"max_position_embeddings": 16 + 2, "token_dropout": False}
    ),
    "bert-generation/mean": Encoder(
        "BertGenerationEncoder", 20, "mean", BERT_SIZES | {"num_hidden_layers": 2}, (Normalize,), pooler=False
    ),
    "bert/no_pooler": Encoder("BertModel", 20, "mean_sqrt_len_tokens", BERT_SIZES, pooler=False),
    "bert/weighted": Encoder("BertModel", 20, "weightedmean", BERT_SIZES, pooler=False),
    "bert/poolings": Encoder(
        "BertModel", 20, ("cls", "weightedmean", "max"), BERT_SIZES, (lambda: Dense(60, 23), Normalize), pooler=False
    ),
    "bert/row_norms": Encoder(
        "BertModel",
        20,
        "cls",
        BERT_SIZES,
        (lambda: LayerNorm(20), Dropout, lambda: Dense(20, 17), lambda: LayerNorm(17), Normalize),
        pooler=False,
    ),
    "bert/dense_tanh": Encoder("BertModel", 20, "mean", BERT_SIZES, (lambda: Dense(20, 13), Normalize), pooler=False),
    "bert/dense_identity": Encoder(
        "BertModel", 20, "cls", BERT_SIZES, (lambda: Dense(20, 27, bias=False, activation_function=nn.Identity()),)
    ),
}
# The number of labels; the function that the library chooses for it is saved with the model.
CROSS_ENCODERS: dict[str, int] = {"bert/cross_encoder": 1, "bert/cross_encoder_3": 3}
VARIANTS = (*ENCODERS, *CROSS_ENCODERS)


def record(folder: Path, name: str, seed: int) -> None:
    """Writes the folder of one variant."""
    if name in ENCODERS:
        record_encoder(folder, name, seed)
    else:
        record_cross_encoder(folder, CROSS_ENCODERS[name], seed)


def record_encoder(folder: Path, name: str, seed: int) -> None:
    """SentenceTransformer's folder."""
    variant = ENCODERS[name]
    specials = specials_of(name)
    encoder = build(variant.model, specials, variant.config, seed)
    if not variant.pooler:
        encoder.pooler = None
    limit = max_tokens(encoder.config)
    modules = [make() for make in variant.modules]
    for module in modules:
        randomize(module, seed + 1)
    with TemporaryDirectory() as place:
        source = Path(place)
        write_encoder(source, encoder, specials, limit)
        whole = SentenceTransformer(
            modules=[Transformer(place), Pooling(variant.width, variant.pooling), *modules], device="cpu"
        )
        whole.half().save_pretrained(str(folder), create_model_card=False)
    encoder.save_pretrained(folder)  # without the pooler that the library adds
    if specials.vocabulary == "deberta":
        write_tokenizer(folder, specials, limit)  # the library saves its own form of it

    def run(dtype: torch.dtype) -> Callable[[Tokens], NDArray[np.floating]]:
        model = SentenceTransformer(
            str(folder),
            device="cpu",
            local_files_only=True,
            model_kwargs={"dtype": dtype, "attn_implementation": attention_of(encoder.config)},
        )
        model = model.to(dtype).eval()

        def embed(text: Tokens) -> NDArray[np.floating]:
            with torch.inference_mode(), nullcontext() if dtype is torch.float32 else unrounded(model):
                return model(inputs_of(text, specials))["sentence_embedding"][0].numpy()

        return embed

    source_of = f"{variant.model} in SentenceTransformer of sentence-transformers {sentence_transformers.__version__}"
    texts = some_tokens(seed, limit, specials)
    write_recorded(folder, source_of, texts, run(torch.float32), run(torch.float64))


def record_cross_encoder(folder: Path, labels: int, seed: int) -> None:
    """CrossEncoder's folder; the outputs are the model's logits."""
    encoder = build("BertForSequenceClassification", BERT, BERT_SIZES | {"num_labels": labels}, seed)
    limit = max_tokens(encoder.config)
    with TemporaryDirectory() as place:
        write_encoder(Path(place), encoder, BERT, limit)
        CrossEncoder(place, device="cpu", num_labels=labels).half().save_pretrained(
            str(folder), create_model_card=False
        )

    def run(dtype: torch.dtype) -> Callable[[Tokens], NDArray[np.floating]]:
        kwargs = {"dtype": dtype, "attn_implementation": "eager"}
        model = CrossEncoder(str(folder), device="cpu", local_files_only=True, model_kwargs=kwargs).model.eval()

        def logits(text: Tokens) -> NDArray[np.floating]:
            with torch.inference_mode():
                return model(**inputs_of(text, BERT)).logits[0].numpy()

        return logits

    source = f"CrossEncoder of sentence-transformers {sentence_transformers.__version__}"
    texts = some_tokens(seed, limit, BERT)
    write_recorded(folder, source, texts, run(torch.float32), run(torch.float64))


def write_encoder(folder: Path, encoder: PreTrainedModel, specials: Specials, limit: int) -> None:
    """Configuration, weights and tokenizer of the bare encoder."""
    encoder.half().save_pretrained(folder)
    write_tokenizer(folder, specials, limit)


def inputs_of(text: Tokens, specials: Specials) -> dict[str, torch.Tensor]:
    """What the model is called with."""
    inputs = {"input_ids": torch.tensor([text.ids]), "attention_mask": torch.ones(1, len(text.ids), dtype=torch.int64)}
    return inputs | ({"token_type_ids": torch.tensor([text.segments])} if specials.segments else {})
