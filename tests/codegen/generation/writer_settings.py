# SPDX-License-Identifier: Apache-2.0
"""How tiny generative models write: the generation_config.json of those variants that have one."""

from __future__ import annotations

from typing import Any

from tokenizers_of_texts import SPECIAL
from writer_shapes import MAX_TARGET, OPUS, VOCABULARY

SETTINGS: dict[str, dict[str, Any]] = {
    "marian/settings": {
        "bad_words_ids": [[VOCABULARY - 1], [24], [8]],
        "suppress_tokens": [38],
        "renormalize_logits": True,
        "num_beams": 4,
        "length_penalty": 0.7,
        "early_stopping": True,
        "max_length": 1 + 12,
        **{key: OPUS[key] for key in ("decoder_start_token_id", "eos_token_id", "forced_eos_token_id", "pad_token_id")},
        "typical_p": 0.9,
        "do_sample": False,
    },
    **{name: {"max_new_tokens": MAX_TARGET, **special} for name, special in SPECIAL.items()},
}
SETTINGS["mbart/texts"] |= {"max_new_tokens": 1 + MAX_TARGET, "num_beams": 3, "length_penalty": 2.0, "min_length": 5}
SETTINGS["m2m_100/texts"] |= {"max_new_tokens": 1 + MAX_TARGET, "num_beams": 2, "length_penalty": 0.8}
SETTINGS["m2m_100/texts"] |= {"no_repeat_ngram_size": 1, "suppress_tokens": [1]}
SETTINGS["m2m_100/languages"] |= {"max_new_tokens": 1 + MAX_TARGET, "num_beams": 3, "early_stopping": True}
SETTINGS["m2m_100/languages"] |= {"no_repeat_ngram_size": 1}
SETTINGS["pegasus/texts"] |= {"num_beams": 4, "length_penalty": 0.6, "no_repeat_ngram_size": 2}
SETTINGS["blenderbot/texts"] |= {"num_beams": 4, "length_penalty": 0.65, "no_repeat_ngram_size": 3, "min_length": 5}
SETTINGS["blenderbot-small/texts"] |= SETTINGS["blenderbot/texts"]
SETTINGS["plbart/texts"] |= {"num_beams": 3, "length_penalty": 0.8, "no_repeat_ngram_size": 2, "min_new_tokens": 7}
SETTINGS["bart/texts"] |= {"max_new_tokens": 1 + MAX_TARGET, "num_beams": 4, "length_penalty": 2.0}
SETTINGS["bart/texts"] |= {"early_stopping": True, "no_repeat_ngram_size": 2}
SETTINGS["led/texts"] |= {"num_beams": 2, "length_penalty": 0.8, "no_repeat_ngram_size": 3}
SETTINGS["mbart/texts"] |= {"no_repeat_ngram_size": 3, "repetition_penalty": 1.25}
for _own in SETTINGS.values():
    _own.pop("vocab_size", None)
