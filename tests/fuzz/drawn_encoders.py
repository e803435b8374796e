# SPDX-License-Identifier: Apache-2.0
"""Random shapes of encoders, and settings of their families."""

from __future__ import annotations

import random

import decoder_settings as decoders
from drawn_attention import led_windows, sparse_attention
from drawn_canine import draw_canine
from drawn_classes import LLAMAS, TAGGERS
from drawn_funnel import draw_funnel
from drawn_t5gemma import draw_t5gemma_rows
from encoder_settings import ACTIVATIONS, ALWAYS, BART_RARE, RARE, T5_RARE, T5_ROWS_RARE, T5_SHAPE, Rare, Settings
from family_specials import ROBERTAS
from like_llama_settings import phi3_angles
from mamba_settings import mamba2_heads

_OFFSETS = dict.fromkeys(("altclip", "clap", "esm", "mpnet", *ROBERTAS), 2)  # positions before a text's first one
_BY_LETTERS = ("n_embd", "n_head", "n_layer", "n_inner")
# Of width, heads, layers and inner width the names, where these are not those of most.
_FOUR_TIMES = ""  # of families whose inner width is four times the other
_NO_HEADS = ""
_SIZES = {
    **dict.fromkeys(("gpt2/rows", "gpt_bigcode/rows", "gptj/rows", "openai-gpt/rows"), _BY_LETTERS),
    "distilbert": ("dim", "n_heads", "n_layers", "hidden_dim"),
    "fnet": ("hidden_size", _NO_HEADS, "num_hidden_layers", "intermediate_size"),
    "bloom/rows": ("hidden_size", "n_head", "n_layer", "n_inner"),
    "mpt/rows": ("d_model", "n_heads", "n_layers", "n_inner"),
    "gpt_neo/rows": ("hidden_size", "num_heads", "num_layers", "intermediate_size"),
    "xlnet": ("d_model", "n_head", "n_layer", "d_inner"),
    **dict.fromkeys(("flaubert", "xlm"), ("emb_dim", "n_heads", "n_layers", _FOUR_TIMES)),
}


def draw_encoder(source: random.Random, family: str) -> tuple[Settings, int]:
    """Settings, and the tokens of the longest text."""
    if family.endswith(("t5/encoder", "t5/rows")):
        return _draw_t5(source, T5_RARE | (T5_ROWS_RARE if family.endswith("rows") else {}))
    if family == "t5gemma/rows":
        return draw_t5gemma_rows(source)
    if family in ("bart/rows", "bigbird_pegasus/rows", "led/rows", "mvp/rows", "plbart/rows"):
        settings, tokens = _draw_bart(source, family == "led/rows")
        own = sparse_attention(source) if family.startswith("bigbird") else {}
        return settings | own, tokens
    if family == "funnel":
        return draw_funnel(source)
    if family == "canine":
        return draw_canine(source)
    heads, tokens = source.choice((1, 2, 3, 4)), source.randrange(14, 40)
    width = heads * source.choice((4, 6, 8))
    layers, inner = source.choice((1, 1, 2, 3, 4)), source.randrange(9, 40)
    positions = tokens + _OFFSETS.get(family, 0)
    names = _SIZES.get(family, ("hidden_size", "num_attention_heads", "num_hidden_layers", "intermediate_size"))
    by_letters = names == _BY_LETTERS
    settings = dict(zip(names, (width, heads, layers, inner), strict=True))
    settings.pop(_FOUR_TIMES, None)
    key = "n_positions" if by_letters else "max_seq_len" if family == "mpt/rows" else "max_position_embeddings"
    if family != "xlnet":  # which has no end
        settings[key] = positions
    rare = RARE.get(family, {}) | _common(family, width, layers)
    if family == "phi3/rows":
        rare |= phi3_angles(width // heads)
    if family == "mamba2/rows":
        rare |= mamba2_heads(heads, width // heads, source.choice((1, 2, 3)))
    for key, (chance, values) in rare.items():
        if source.random() < chance:
            settings[key] = source.choice(values)
    for key, value in ALWAYS.get(family, {}).items():
        settings.setdefault(key, value)
    decoders.fit_kinds(settings)
    return settings, tokens


def _draw_t5(source: random.Random, rare: Rare) -> tuple[Settings, int]:
    """As `draw_encoder`, of T5, whose heads have a width of their own and whose texts have no end."""
    tokens = source.randrange(14, 40)
    settings = {key: source.choice(values) for key, values in T5_SHAPE.items()}
    for key, (chance, values) in rare.items():
        if source.random() < chance:
            settings[key] = source.choice(values)
    return settings | {"n_positions": tokens}, tokens


def _draw_bart(source: random.Random, is_led: bool) -> tuple[Settings, int]:
    """As `draw_encoder`, of BART, whose decoder reads the text as well."""
    width, tokens = source.choice((1, 2, 3, 4)) * source.choice((4, 6, 8)), source.randrange(14, 40)
    heads = [count for count in (1, 2, 3, 4) if width % count == 0]
    settings: Settings = {"d_model": width, "max_position_embeddings": tokens}
    for of in ("encoder", "decoder"):
        settings |= {f"{of}_attention_heads": source.choice(heads), f"{of}_layers": source.choice((1, 2, 3))}
        settings[f"{of}_ffn_dim"] = source.randrange(9, 40)
    for key, (chance, values) in BART_RARE.items():
        if source.random() < chance:
            settings[key] = source.choice(values)
    if is_led:
        del settings["max_position_embeddings"]
        settings |= {"max_encoder_position_embeddings": 48, "max_decoder_position_embeddings": tokens}
        settings |= led_windows(source, settings["encoder_layers"])
    return settings, tokens


def _common(family: str, width: int, layers: int) -> Rare:
    """Those that depend on the shape."""
    activation = {
        "distilbert": "activation",
        **dict.fromkeys(("modernbert", "gemma3/rows", "gemma3_text/rows"), "hidden_activation"),
        "xlnet": "ff_activation",
    }.get(family, "hidden_act")
    rms = ("eurobert", "ultrabert", *LLAMAS, "gemma3_text/rows")
    epsilon = {"modernbert": "norm_eps", **dict.fromkeys(rms, "rms_norm_eps")}.get(family, "layer_norm_eps")
    found: Rare = {
        activation: (0.3, ACTIVATIONS),
        epsilon: (0.3, (1e-5, 1e-12, 1e-3, 0.1)),
        "tie_word_embeddings": (0.15, (True, False)),
    }
    if family == "gpt_neo/rows":
        found["attention_types"] = (1.0, decoders.gpt_neo_layers(layers))
    if family in TAGGERS:
        found["token_classification_bias"] = (0.1, (False,))
    if family == "ibert":  # which has no other
        found["hidden_act"] = (0.3, ("gelu", "gelu", "gelu", "relu"))
    if family == "mobilebert":
        found["intra_bottleneck_size"] = (0.95, (12, 24, 10, width))
    if family == "squeezebert":
        found["embedding_size"] = (0.99, (width,))
    if family in ("albert", "convbert", "electra", "mobilebert"):
        found["embedding_size"] = (1.0, (width, *range(5, 40, 3)))
    if family == "albert":
        found["num_hidden_groups"] = (0.3, tuple(n for n in (1, 2, 3) if n <= layers))
    if family in ("modernbert", "ultrabert", "gemma3_text/rows"):
        kinds = ("full_attention", "sliding_attention")
        found["layer_types"] = (0.3, tuple([kinds[(i + first) % 2] for i in range(layers)] for first in (0, 1)))
    return found
