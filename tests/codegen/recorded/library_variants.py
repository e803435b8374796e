# SPDX-License-Identifier: Apache-2.0
"""Classifiers and regressors of whole texts, as `transformers` defines and saves them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
import transformers
from decoder_variants import DECODERS
from family_specials import specials_of
from library_models import MPNET_OFFSET, build, loading_of, max_tokens
from numpy.typing import NDArray
from outputs import Tokens, write_recorded
from published_settings import (
    DEBERTA_V1,
    DEBERTA_V3,
    ESM_1B,
    ESM_2,
    EURO_IDS,
    LUKE_SIZES,
    MOBILE,
    MODERN_IDS,
    ROC_BERT,
    XMOD,
)
from token_ids import some_tokens
from unrounded import unrounded
from variant_shapes import (
    FNET_KEYS,
    MULTI_LABEL,
    REGRESSION,
    XLM_KEYS,
    XLNET_KEYS,
    Variant,
    bert_like,
    canine,
    distilbert,
    funnel,
)
from vocabularies import write_tokenizer

VARIANTS: dict[str, Variant] = {
    "distilbert/softmax": distilbert(3, (20, 5, 2, 37, 20)),
    "distilbert/multi_label": distilbert(
        4, (24, 3, 1, 29, 16), sinusoidal_pos_embds=True, activation="relu", problem_type=MULTI_LABEL
    ),
    "distilbert/regression": distilbert(1, (21, 3, 2, 19, 12), problem_type=REGRESSION),
    "electra/projected": bert_like("Electra", 3, (24, 3, 2, 19, 20), embedding_size=14),
    "electra/one_width": bert_like(
        "Electra", 4, (22, 2, 1, 29, 16), embedding_size=22, hidden_act="relu", problem_type=MULTI_LABEL
    ),
    "electra/wide_embedding": bert_like(
        "Electra", 1, (20, 4, 1, 33, 14), embedding_size=26, hidden_act="gelu_new", problem_type=REGRESSION
    ),
    "convbert/softmax": bert_like("ConvBert", 3, (24, 6, 3, 19, 20), embedding_size=14),
    "convbert/groups": bert_like(
        "ConvBert",
        4,
        (24, 4, 2, 18, 28),
        embedding_size=24,
        num_groups=3,
        conv_kernel_size=5,
        hidden_act="relu",
        problem_type=MULTI_LABEL,
    ),
    "convbert/one_head": bert_like(
        "ConvBert", 1, (20, 2, 1, 17, 12), embedding_size=26, head_ratio=3, conv_kernel_size=3, problem_type=REGRESSION
    ),
    "albert/one_group": bert_like("Albert", 3, (24, 3, 3, 37, 20), embedding_size=14),
    "albert/two_groups": bert_like(
        "Albert", 2, (20, 4, 3, 29, 16), embedding_size=20, num_hidden_groups=2, hidden_act="relu"
    ),
    "albert/inner_groups": bert_like(
        "Albert",
        4,
        (12, 3, 2, 23, 14),
        embedding_size=9,
        num_hidden_groups=2,
        inner_group_num=2,
        hidden_act="gelu",
        problem_type=MULTI_LABEL,
    ),
    "albert/inner_twice": bert_like(
        "Albert", 1, (18, 2, 2, 23, 12), embedding_size=12, inner_group_num=2, problem_type=REGRESSION
    ),
    "albert/own_words": bert_like("Albert", 2, (18, 3, 2, 23, 16), embedding_size=10),
    "mpnet/softmax": bert_like("MPNet", 3, (20, 5, 2, 23, 20 + MPNET_OFFSET)),
    "mpnet/long": bert_like("MPNet", 2, (20, 2, 1, 29, 150 + MPNET_OFFSET), hidden_act="relu"),
    "mpnet/regression": bert_like(
        "MPNet", 1, (24, 3, 1, 19, 12 + MPNET_OFFSET), problem_type=REGRESSION, relative_attention_num_buckets=40
    ),
    "roberta/softmax": bert_like("Roberta", 3, (20, 4, 2, 35, 20 + 2), type_vocab_size=1),
    "roberta/multi_label": bert_like(
        "Roberta", 4, (24, 3, 1, 29, 16 + 5), pad_token_id=4, hidden_act="relu", problem_type=MULTI_LABEL
    ),
    "roberta/regression": bert_like("Roberta", 1, (21, 3, 2, 19, 12 + 2), type_vocab_size=1, problem_type=REGRESSION),
    "roberta/fairseq": bert_like("Roberta", 3, (18, 3, 2, 23, 18 + 2), type_vocab_size=1),
    "ibert/labels": bert_like("IBert", 4, (12, 3, 2, 13, 20 + 2), type_vocab_size=1, problem_type=MULTI_LABEL),
    "longformer/softmax": bert_like(
        "Longformer", 3, (20, 4, 3, 23, 40 + 2), type_vocab_size=1, attention_window=[4, 8, 4]
    ),
    "camembert/softmax": bert_like("Camembert", 2, (18, 3, 1, 23, 14 + 2), type_vocab_size=1),
    "xlm-roberta/multi_label": bert_like(
        "XLMRoberta", 4, (16, 2, 2, 21, 12 + 2), type_vocab_size=1, problem_type=MULTI_LABEL
    ),
    "megatron-bert/softmax": bert_like("MegatronBert", 3, (20, 5, 2, 23, 20), hidden_act="gelu_new"),
    "roberta-prelayernorm/softmax": bert_like("RobertaPreLayerNorm", 3, (20, 4, 2, 23, 20 + 2), type_vocab_size=1),
    "xlm-roberta-xl/labels": bert_like("XLMRobertaXL", 4, (18, 3, 2, 23, 14 + 2), problem_type=MULTI_LABEL),
    "xmod/languages": bert_like("Xmod", 3, (20, 4, 2, 23, 20 + 2), **XMOD),
    "xmod/plain": bert_like(
        "Xmod",
        4,
        (18, 3, 1, 19, 14 + 2),
        **XMOD | {"ln_before_adapter": False, "adapter_layer_norm": True, "adapter_reduction_factor": 4},
        hidden_act="relu",
        problem_type=MULTI_LABEL,
    ),
    "luke/softmax": bert_like("Luke", 3, (20, 4, 2, 23, 20 + 2), **LUKE_SIZES),
    "data2vec-text/value": bert_like(
        "Data2VecText", 1, (20, 2, 1, 19, 14 + 2), type_vocab_size=1, problem_type=REGRESSION
    ),
    "rembert/softmax": bert_like("RemBert", 3, (20, 4, 2, 23, 20), input_embedding_size=12, output_embedding_size=9),
    "big_bird/full": bert_like("BigBird", 3, (20, 4, 2, 23, 20), attention_type="original_full"),
    "big_bird/short": bert_like(
        "BigBird",
        4,
        (18, 3, 1, 19, 60),
        block_size=2,
        num_random_blocks=1,
        use_bias=False,
        rescale_embeddings=True,
        hidden_act="relu",
        problem_type=MULTI_LABEL,
    ),
    "roformer/softmax": bert_like("RoFormer", 3, (24, 3, 2, 23, 20), hidden_act="relu"),
    "modernbert/softmax": bert_like("ModernBert", 3, (20, 5, 4, 23, 20), **MODERN_IDS, local_attention=6),
    "modernbert/pooled": bert_like(
        "ModernBert",
        4,
        (24, 3, 3, 29, 16),
        **MODERN_IDS,
        local_attention=5,
        classifier_pooling="mean",
        classifier_activation="relu",
        hidden_activation="silu",
        layer_types=["sliding_attention", "full_attention", "full_attention"],
        rope_parameters={"full_attention": {"rope_theta": 900.0}, "sliding_attention": {"rope_theta": 70.0}},
        problem_type=MULTI_LABEL,
        **dict.fromkeys(("norm_bias", "attention_bias", "mlp_bias", "classifier_bias"), True),
    ),
    "modernbert/one_layer": bert_like("ModernBert", 1, (12, 2, 1, 17, 14), **MODERN_IDS, problem_type=REGRESSION),
    "modernbert-decoder/labels": bert_like(
        "ModernBertDecoder",
        4,
        (20, 5, 3, 23, 20),
        **MODERN_IDS,
        local_attention=6,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
        problem_type=MULTI_LABEL,
        **dict.fromkeys(("norm_bias", "attention_bias", "mlp_bias", "classifier_bias"), True),
    ),
    "eurobert/late": bert_like("EuroBert", 3, (24, 4, 2, 23, 20), **EURO_IDS),
    "eurobert/mean": bert_like(
        "EuroBert",
        4,
        (24, 4, 1, 19, 16),
        **EURO_IDS,
        num_key_value_heads=2,
        classifier_pooling="mean",
        attention_bias=True,
        mlp_bias=True,
        problem_type=MULTI_LABEL,
    ),
    "eurobert/bos": bert_like("EuroBert", 1, (20, 5, 1, 17, 14), **EURO_IDS, classifier_pooling="bos"),
    "ultrabert/cls": bert_like(
        "Ultrabert",
        3,
        (20, 5, 3, 23, 20),
        **EURO_IDS,
        sliding_window=3,
        rope_parameters={"full_attention": {"rope_theta": 900.0}, "sliding_attention": {"rope_theta": 70.0}},
    ),
    "ultrabert/mean": bert_like(
        "Ultrabert",
        4,
        (24, 4, 2, 19, 16),
        **EURO_IDS | {"num_key_value_heads": 2, "head_dim": 8, "attention_bias": True, "mlp_bias": True},
        sliding_window=2,
        layer_types=["full_attention", "sliding_attention"],
        rope_parameters={
            "full_attention": {"rope_type": "linear", "rope_theta": 300.0, "factor": 2.5},
            "sliding_attention": {"rope_type": "default"},
        },
        classifier_pooling="mean",
        problem_type=MULTI_LABEL,
    ),
    "nomic_bert/softmax": bert_like("NomicBert", 3, (24, 4, 2, 23, 20)),
    "nomic_bert/regression": bert_like(
        "NomicBert", 1, (20, 5, 1, 29, 16), hidden_act="gelu", layer_norm_eps=1e-5, problem_type=REGRESSION
    ),
    "gte/softmax": bert_like("Gte", 3, (20, 5, 2, 27, 18)),
    "gte/multi_label": bert_like(
        "Gte",
        4,
        (16, 2, 1, 21, 14),
        type_vocab_size=0,
        hidden_act="silu",
        rope_parameters={"rope_type": "linear", "rope_theta": 500.0, "factor": 2.0},
        problem_type=MULTI_LABEL,
    ),
    "jina_embeddings_v3/two": bert_like("JinaEmbeddingsV3", 2, (24, 3, 2, 19, 16)),
    "deberta/base": bert_like("Deberta", 3, (24, 3, 2, 23, 20), **DEBERTA_V1),
    "deberta/near": bert_like(
        "Deberta",
        4,
        (20, 5, 1, 21, 18),
        **DEBERTA_V1 | {"pos_att_type": ["p2c"], "max_relative_positions": 7, "position_biased_input": True},
        embedding_size=14,
        pooler_hidden_act="tanh",
        problem_type=MULTI_LABEL,
    ),
    "deberta/keys": bert_like(
        "Deberta", 1, (18, 3, 1, 17, 14), **DEBERTA_V1 | {"pos_att_type": ["c2p"]}, problem_type=REGRESSION
    ),
    "deberta/absolute": bert_like(
        "Deberta", 2, (16, 2, 1, 19, 14), pos_att_type=["c2p"], type_vocab_size=2, hidden_act="relu"
    ),
    **DECODERS,
    "deberta-v2/v3": bert_like("DebertaV2", 3, (24, 3, 2, 23, 20), **DEBERTA_V3),
    "deberta-v2/own": bert_like(
        "DebertaV2",
        4,
        (20, 2, 1, 19, 16),
        **DEBERTA_V3 | {"share_att_key": False, "norm_rel_ebd": "none", "position_buckets": -1, "type_vocab_size": 2},
        max_relative_positions=9,
        pooler_hidden_act="tanh",
        problem_type=MULTI_LABEL,
    ),
    "deberta-v2/keys": bert_like(
        "DebertaV2",
        2,
        (20, 5, 1, 21, 18),
        **DEBERTA_V3 | {"pos_att_type": "c2p", "position_biased_input": True},
        embedding_size=14,
        hidden_act="relu",
    ),
    "deberta-v2/queries": bert_like(
        "DebertaV2",
        1,
        (18, 3, 1, 17, 14),
        **DEBERTA_V3 | {"pos_att_type": ["p2c"], "share_att_key": False},
        max_relative_positions=8,
        problem_type=REGRESSION,
    ),
    "deberta-v2/long": bert_like("DebertaV2", 2, (16, 2, 1, 19, 150), **DEBERTA_V3 | {"position_buckets": 32}),
    "deberta-v2/absolute": bert_like("DebertaV2", 2, (16, 2, 1, 19, 14)),
    "mobilebert/softmax": bert_like("MobileBert", 3, (20, 3, 2, 17, 20), **MOBILE),
    "mobilebert/plain": bert_like(
        "MobileBert",
        4,
        (18, 3, 2, 23, 16),
        normalization_type="layer_norm",
        use_bottleneck=False,
        trigram_input=False,
        embedding_size=11,
        num_feedforward_networks=1,
        hidden_act="gelu",
        problem_type=MULTI_LABEL,
    ),
    "mobilebert/inside": bert_like(
        "MobileBert",
        1,
        (16, 2, 1, 19, 14),
        normalization_type="layer_norm",
        use_bottleneck_attention=True,
        trigram_input=False,
        embedding_size=16,
        intra_bottleneck_size=10,
        num_feedforward_networks=2,
        layer_norm_eps=1e-3,
        problem_type=REGRESSION,
    ),
    "bert/softmax": bert_like("Bert", 3, (20, 5, 1, 37, 20)),
    "bert/herbert": bert_like("Bert", 3, (18, 3, 1, 23, 18)),
    "bert/xlm_words": bert_like("Bert", 2, (24, 3, 1, 31, 18)),
    "squeezebert/softmax": bert_like("SqueezeBert", 3, (24, 3, 2, 28, 20), embedding_size=24, layer_norm_eps=1e-3),
    "esm/proteins": bert_like("Esm", 3, (24, 3, 2, 23, 20), **ESM_2),
    "esm/absolute": bert_like("Esm", 4, (20, 4, 1, 19, 16 + 2), **ESM_1B, problem_type=MULTI_LABEL),
    "esmc/proteins": bert_like("Esmc", 3, (24, 3, 2, 23, 20)),
    "xlnet/softmax": bert_like("XLNet", 3, (20, 5, 2, 23), XLNET_KEYS),
    "xlnet/clamped": bert_like(
        "XLNet",
        4,
        (18, 3, 1, 19),
        XLNET_KEYS,
        clamp_len=4,
        ff_activation="relu",
        summary_type="mean",
        summary_activation="gelu",
        problem_type=MULTI_LABEL,
    ),
    "flaubert/softmax": bert_like("Flaubert", 3, (20, 5, 2, 20), XLM_KEYS),
    "flaubert/norms_first": bert_like(
        *("Flaubert", 4, (18, 3, 2, 16), XLM_KEYS),
        pre_norm=True,
        gelu_activation=False,
        summary_type="mean",
        problem_type=MULTI_LABEL,
    ),
    "xlm/softmax": bert_like("XLM", 3, (20, 5, 2, 20), XLM_KEYS, n_langs=2, lang2id={"de": 0, "en": 1}),
    "xlm/language": bert_like(
        *("XLM", 1, (18, 3, 1, 14), XLM_KEYS),
        n_langs=3,
        lang2id={"de": 0, "en": 1, "fr": 2},
        default_language="fr",
        causal=True,
        summary_type="last",
        problem_type=REGRESSION,
    ),
    "funnel/softmax": funnel(3, (20, 3, 5, 23), [2, 1, 2], attention_type="relative_shift"),
    "funnel/whole": funnel(
        1, (18, 2, 6, 19), [1, 1], attention_type="relative_shift", separate_cls=False, problem_type=REGRESSION
    ),
    "funnel/repeats": funnel(
        4,
        (16, 2, 7, 21),
        [1, 2, 1],
        block_repeats=[2, 2, 1],
        pooling_type="max",
        pool_q_only=False,
        truncate_seq=False,
        hidden_act="relu",
        problem_type=MULTI_LABEL,
    ),
    "canine/softmax": canine(3, (18, 3, 2, 13, 30)),
    "canine/groups": canine(
        *(4, (18, 3, 1, 19, 26)),
        num_hash_functions=9,
        downsampling_rate=3,
        local_transformer_stride=40,
        hidden_act="relu",
        problem_type=MULTI_LABEL,
    ),
    "fnet/softmax": bert_like("FNet", 3, (21, 2, 19, 24), FNET_KEYS),
    "fnet/even": bert_like(
        "FNet", 4, (18, 1, 23, 20), FNET_KEYS, hidden_act="relu", layer_norm_eps=1e-3, problem_type=MULTI_LABEL
    ),
    "nystromformer/softmax": bert_like("Nystromformer", 3, (20, 5, 2, 23, 20), conv_kernel_size=7),
    "nystromformer/plain": bert_like(
        *("Nystromformer", 4, (18, 3, 1, 19, 26)),
        num_landmarks=8,
        segment_means_seq_len=8,
        conv_kernel_size=65,
        hidden_act="relu",
        problem_type=MULTI_LABEL,
    ),
    "layoutlm/softmax": bert_like("LayoutLM", 3, (20, 5, 2, 23, 20), max_2d_position_embeddings=12),
    "roc_bert/softmax": bert_like("RoCBert", 3, (20, 5, 2, 23, 20), **ROC_BERT),
    "roc_bert/sounds": bert_like(
        "RoCBert", 4, (18, 3, 1, 19, 14), **ROC_BERT, enable_shape=False, hidden_act="relu", problem_type=MULTI_LABEL
    ),
    "ernie/softmax": bert_like("Ernie", 3, (20, 5, 2, 23, 20)),
    "ernie/tasks": bert_like(
        "Ernie", 4, (24, 3, 1, 29, 16), use_task_id=True, type_vocab_size=4, hidden_act="relu", problem_type=MULTI_LABEL
    ),
}


def record(folder: Path, name: str, seed: int) -> None:
    """Writes the folder of one variant."""
    variant = VARIANTS[name]
    specials = specials_of(name)
    labels = [f"label {i}" for i in range(variant.labels)]
    names = {"id2label": dict(enumerate(labels)), "label2id": {label: i for i, label in enumerate(labels)}}
    model = build(variant.model, specials, variant.config | names, seed)
    model.half().save_pretrained(folder)
    limit = max_tokens(model.config)
    write_tokenizer(folder, specials, limit)
    loading = loading_of(model.config)
    single, double = (
        type(model).from_pretrained(folder, dtype=dtype, local_files_only=True, **loading).to(dtype).eval()
        for dtype in (torch.float32, torch.float64)
    )

    def run(model: torch.nn.Module, text: Tokens) -> NDArray[np.floating]:
        inputs = {"input_ids": torch.tensor([text.ids])}
        if specials.segments:
            inputs["token_type_ids"] = torch.tensor([text.segments])
        with torch.inference_mode():
            return model(**inputs).logits[0].numpy()

    def exact(text: Tokens) -> NDArray[np.floating]:
        with unrounded(double):
            return run(double, text)

    source = f"{variant.model} of transformers {transformers.__version__}"
    texts = some_tokens(seed, limit, specials)
    write_recorded(folder, source, texts, lambda text: run(single, text), exact)
