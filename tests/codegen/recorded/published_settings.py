# SPDX-License-Identifier: Apache-2.0
"""Settings that published models of a family have, but for the sizes."""

# As in deberta-base.
DEBERTA_V1 = {
    "relative_attention": True,
    "position_biased_input": False,
    "pos_att_type": "c2p|p2c",
    "max_relative_positions": -1,
    "type_vocab_size": 0,
}
# DeBERTa-v3's, but for the sizes.
DEBERTA_V3 = {
    "relative_attention": True,
    "position_biased_input": False,
    "pos_att_type": ["p2c", "c2p"],
    "share_att_key": True,
    "norm_rel_ebd": "layer_norm",
    "position_buckets": 6,
    "type_vocab_size": 0,
}
# As in mobilebert-uncased, but for the sizes.
MOBILE = {
    "embedding_size": 10,
    "intra_bottleneck_size": 12,
    "num_feedforward_networks": 3,
    "classifier_activation": False,
}
# Of Gemma 3, but for the other sizes: norms in heads of a width and a scale of their own.
GEMMA = {"num_key_value_heads": 1, "head_dim": 6, "query_pre_attn_scalar": 7, "pad_token_id": 1}
# As in ESM-2, and in ESM-1b.
ESM_2 = {
    "position_embedding_type": "rotary",
    "token_dropout": True,
    "emb_layer_norm_before": False,
    "mask_token_id": 32,
    "pad_token_id": 1,
    "layer_norm_eps": 1e-5,
}
ESM_1B = ESM_2 | {"position_embedding_type": "absolute", "emb_layer_norm_before": True}
# Of ESM C no published model has others than usual.
ESMC_ANGLES = {"rope_type": "linear", "rope_theta": 300.0, "factor": 2.5}
# Of OPT's first models, with words narrower than the rows and without a last norm.
OPT = {"word_embed_proj_dim": 12, "_remove_final_layer_norm": True}
EURO_IDS = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
MODERN_IDS = {"pad_token_id": 1, "bos_token_id": 0, "cls_token_id": 0, "eos_token_id": 2, "sep_token_id": 2}
# Of X-MOD, whose second language is that of the texts here.
# RoCBert's, small: as many entries as vocabularies.write_roc_bert numbers.
ROC_BERT = {
    **{"shape_vocab_size": 11, "shape_embed_dim": 6, "pronunciation_vocab_size": 7, "pronunciation_embed_dim": 5},
}
XMOD = {"languages": ["en_XX", "de_DE", "sw_KE"], "default_language": "de_DE", "layer_norm_eps": 1e-5}
# Of LUKE, but for the number of its entities.
LUKE_SIZES = {"entity_vocab_size": 7, "entity_emb_size": 6, "type_vocab_size": 1, "layer_norm_eps": 1e-5}
