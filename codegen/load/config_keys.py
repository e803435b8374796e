# SPDX-License-Identifier: Apache-2.0
"""Keys of config.json: which ask for another computation than etch does whatever the family, and which say nothing
about the outputs of an inference. Families have more of them.

As `transformers` 5 knows them (configuration_utils.py), and what versions before it wrote.
"""

from __future__ import annotations

from collections.abc import Set

from .config import Config, is_neutral
from .quantized_config import KEYS as QUANTIZED
from .quantized_config import METHODS, method_of
from .refusal import refusal, shown

_MOST_NAMED = 12

# Keys that change what is computed, and the values with which they do not.
_NEUTRAL: dict[str, tuple[object, ...]] = {
    **{key: (None,) for key in QUANTIZED},
    "sparsity_config": (None,),
    "pruned_heads": (None, {}, []),
    "is_encoder_decoder": (None, False),
    "tie_encoder_decoder": (None, False),
    "cross_attention_hidden_size": (None,),
    "use_bfloat16": (None, False),
    "adapters": (None, {}),
}

# Where a model comes from, how it is stored and run.
_ORIGIN = """
    _attn_implementation _attn_implementation_autoset _commit_hash _name_or_path architectures attn_implementation
    dtype finetuning_task gradient_checkpointing id2label label2id model_type name_or_path num_labels problem_type
    tokenizer_class torch_dtype torchscript transformers_version _num_labels
"""
# What training reads, and from which weights are made or shared before it.
_TRAINING = """
    attention_probs_dropout_prob classifier_dropout hidden_dropout_prob initializer_range tf_legacy_loss
    tie_word_embeddings
"""
# What is returned beside the outputs, and how much is computed at a time.
_RETURNED = """
    chunk_size_feed_forward output_attentions output_hidden_states output_past return_dict use_cache use_return_dict
"""
# Tokens, which the tokenizer's own files say; how texts are generated.
_GENERATION = """
    bos_token_id decoder_start_token_id eos_token_id pad_token_id sep_token_id
    bad_words_ids begin_suppress_tokens diversity_penalty do_sample early_stopping encoder_no_repeat_ngram_size
    exponential_decay_length_penalty forced_bos_token_id forced_eos_token_id length_penalty max_length min_length
    no_repeat_ngram_size num_beam_groups num_beams num_return_sequences output_scores remove_invalid_values
    repetition_penalty return_dict_in_generate suppress_tokens temperature top_k top_p typical_p
"""
# In Google's first files of BERT; no model reads them.
_FIRST_FILES = """
    directionality pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type
"""
HARMLESS = frozenset(
    (*_ORIGIN.split(), *_TRAINING.split(), *_RETURNED.split(), *_GENERATION.split(), *_FIRST_FILES.split())
)


def check_keys(config: Config, *, may_decode: bool) -> None:
    """Refuses a configuration that asks for a computation that no family here has; a generative model may have
    a decoder, and one that is its encoder may still say so."""
    for key, neutral in _NEUTRAL.items():
        if key not in config or (key == "is_encoder_decoder" and may_decode):
            continue
        value = config.values[key]
        if not is_neutral(value, neutral):
            asked = _quantized_by(value) if key in QUANTIZED else f"{shown(value)} is not supported"
            raise refusal("config-not-supported", f"'{key}': {asked}", file=config.file)


def _quantized_by(value: object) -> str:
    method = method_of(value)
    by = f" by {method[:40]}" if method is not None else ""
    take = "take the checkpoint that they were made from"
    make = f"etch convert FOLDER --out DIR makes plain ones of them, or {take}" if method in METHODS else take
    return f"weights that are quantized already{by} are not read; {make}"


def unused_keys(config: Config, harmless: Set[str]) -> tuple[str, ...]:
    """A note on the keys that say something, that nobody has asked for and that are not known to be harmless."""
    said = {key for key, value in config.values.not_asked().items() if value is not None}
    unused = sorted(said - HARMLESS - harmless)
    if not unused:
        return ()
    named = ", ".join(key[:60] for key in unused[:_MOST_NAMED])
    more = f" and {len(unused) - _MOST_NAMED} more" if len(unused) > _MOST_NAMED else ""
    return (f"{config.file}: not used: {named}{more}",)
