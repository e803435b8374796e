# SPDX-License-Identifier: Apache-2.0
"""Writers of Llama's shape: what their layers are where a configuration does not say it, or says it in an older form.
lower/test_generation.py has what they write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_generation import graph_of, recorded

from codegen.ir import graph as g
from codegen.oracle.interpret import Interpreter

FACTORS = ("dim_model_base", "scale_depth", "scale_emb", "v_head_dim")
UNSAID = {
    "apertus/own": ("attention_bias", "hidden_act", "rms_norm_eps", "rope_parameters", "tie_word_embeddings"),
    "bitnet/own": ("hidden_act", "rope_parameters"),
    "cwm/own": ("hidden_act", "mlp_bias", "rms_norm_eps", "rope_parameters", "tie_word_embeddings"),
    "ernie4_5/own": ("hidden_act", "rms_norm_eps", "rope_parameters", "tie_word_embeddings"),
    "exaone4/own": ("hidden_act", "rms_norm_eps", "rope_parameters", "tie_word_embeddings"),
    "gemma/own": ("hidden_act", "rms_norm_eps", "rope_parameters", "tie_word_embeddings"),
    "glm/own": ("attention_bias", "hidden_act", "rms_norm_eps", "rope_parameters", "tie_word_embeddings"),
    "granitemoehybrid/still": (
        *("hidden_act", "rms_norm_eps", "rope_parameters", "tie_word_embeddings"),
        *("embedding_multiplier", "logits_scaling", "residual_multiplier", "position_embedding_type"),
    ),
    "helium/own": ("hidden_act", "rms_norm_eps", "rope_parameters", "tie_word_embeddings"),
    "hunyuan_v1_dense/own": ("hidden_act", "rms_norm_eps", "tie_word_embeddings"),
    "hyperclovax/own": ("hidden_act", "rms_norm_eps", "rope_parameters", "use_post_norm"),
    "internlm3/own": ("hidden_act", "rms_norm_eps", "rope_parameters", "tie_word_embeddings"),
    "iquestcoder/own": ("attention_bias", "hidden_act", "rms_norm_eps", "rope_parameters", "tie_word_embeddings"),
    "jais2/own": ("attention_bias", "hidden_act", "mlp_bias", "rope_parameters", "tie_word_embeddings"),
    "minicpm3/long": ("attention_bias", "hidden_act", "mlp_bias", "rms_norm_eps", *FACTORS),
    "youtu/own": ("hidden_act", "rms_norm_eps", "rope_parameters", "rope_interleave", "tie_word_embeddings"),
    "nanochat/own": ("hidden_act", "rope_parameters", "tie_word_embeddings"),
    "ministral/own": ("hidden_act", "rms_norm_eps", "rope_parameters", "tie_word_embeddings", "layer_types"),
    "olmo/own": ("hidden_act", "rope_parameters", "tie_word_embeddings"),
    "olmo3/own": ("hidden_act", "rms_norm_eps", "tie_word_embeddings"),
    "seed_oss/own": ("attention_bias", "hidden_act", "rms_norm_eps", "rope_parameters", "tie_word_embeddings"),
}


@pytest.mark.parametrize("variant", UNSAID)
def test_what_no_key_says(variant: str) -> None:
    """As the library has it, which wrote these keys down."""
    ids = recorded(variant)["outputs"][2]["ids"]
    own, unsaid = (
        Interpreter(graph_of(variant, without)).logits(ids, [0] * len(ids), []) for without in ((), UNSAID[variant])
    )
    assert np.array_equal(own, unsaid)


def logits(variant: str, without: tuple[str, ...] = (), **changes: Any) -> np.ndarray:
    ids = recorded(variant)["outputs"][2]["ids"]
    return Interpreter(graph_of(variant, without, **changes)).logits(ids, [0] * len(ids), [])


def test_keys_that_have_two_names() -> None:
    """Of Granite 4's layers, and of InternLM 3's biases."""
    granite, kinds = "granitemoehybrid/own", ["attention"] * 2
    own = logits(granite)
    assert np.array_equal(logits(granite, ("layer_types",), layers_block_type=kinds), own)
    assert np.array_equal(logits(granite, layers_block_type=kinds, layer_types=kinds), own)
    internlm = "internlm3/own"
    older = logits(internlm, ("attention_bias", "mlp_bias"), qkv_bias=True, bias=True)
    assert np.array_equal(older, logits(internlm))


def test_where_no_positions_are_known() -> None:
    """But with `rope` a Granite 4 has none."""
    granite = "granitemoehybrid/own"
    without = logits(granite, position_embedding_type=None)
    assert np.array_equal(without, logits(granite, position_embedding_type="nope"))
    assert not np.array_equal(without, logits(granite))


def test_scores_of_hyperclovax() -> None:
    """Where no key says what they are multiplied by, it is what Llama has."""
    variant = "hyperclovax/own"
    usual = logits(variant, ("attention_multiplier",))
    assert np.array_equal(usual, logits(variant, attention_multiplier=None))
    assert np.allclose(usual, logits(variant, attention_multiplier=10**-0.5), rtol=1e-12)
    assert not np.array_equal(usual, logits(variant))


def test_angles_of_the_ministrals() -> None:
    """Without an object, yarn's of the first training's 16,384 positions; behind these queries are multiplied, so that
    they are what texts may have."""
    variant = "ministral3/own"
    said = {"rope_type": "yarn", "rope_theta": 1e6, "factor": 16.0, "original_max_position_embeddings": 16_384}
    said |= {"beta_fast": 32.0, "beta_slow": 1.0, "attention_factor": 1.0, "llama_4_scaling_beta": 0.1}
    assert np.array_equal(logits(variant, ("rope_parameters",)), logits(variant, rope_parameters=said))
    plain = {"rope_theta": 70.0, "original_max_position_embeddings": 40}
    with_beta, without = ({**plain, "llama_4_scaling_beta": beta} for beta in (0.1, 0))
    assert np.array_equal(logits(variant, rope_parameters=with_beta), logits(variant, rope_parameters=without))
    logits(variant, rope_parameters=without | {"original_max_position_embeddings": 39})


def turned_by(variant: str, without: tuple[str, ...] = (), **changes: Any) -> list[str]:
    """Of each layer the table that turns its queries."""
    made = [op for op, _ in g.ops_of(graph_of(variant, without, **changes))]
    op = next(op for op in made if isinstance(op, g.Rotary))
    layers = next(len(op.weight.arrays) for op in made if isinstance(op, g.Linear))
    tables = op.table.values if isinstance(op.table, g.ByLayer) else (op.table,) * layers
    return [op.cosines[table].name.removesuffix("_cosines") for table in tables]


def test_what_layers_are_where_nothing_names_them() -> None:
    """Every fourth sees everything, or as often as a key says, which OLMo 3 has not."""
    kinds, every = ("layer_types",), {"sliding_window_pattern": 2}
    assert turned_by("exaone4/own") == turned_by("exaone4/own", kinds, **every) == ["rotary", "still"]
    for pattern in ("LLLG", 2, None):
        assert turned_by("exaone4/own", sliding_window_pattern=pattern) == turned_by("exaone4/own")
    assert turned_by("exaone4/own", kinds) == ["rotary", "rotary"]
    everything = {"layer_types": ["full_attention"] * 2}
    assert turned_by("exaone4/own", sliding_window=None, **everything) == ["rotary", "rotary"]
    assert turned_by("olmo3/own") == ["local", "global"]
    assert turned_by("olmo3/own", kinds, **every) == ["local", "local"]


def test_angles_of_an_older_olmo3() -> None:
    """Its theta is that of the layers that see everything, as the library reads it."""
    variant = "olmo3/own"
    ids = recorded(variant)["outputs"][2]["ids"]

    def logits(**changes: Any) -> np.ndarray:
        return Interpreter(graph_of(variant, **changes)).logits(ids, [0] * len(ids), [])

    linear = {"rope_type": "linear", "factor": 2.5}
    named = {"full_attention": {"rope_theta": 900.0} | linear, "sliding_attention": {"rope_theta": 5e5}}
    older = logits(rope_parameters=None, rope_theta=900.0, rope_scaling=linear)
    assert np.array_equal(older, logits(rope_parameters=named))
    assert not np.array_equal(older, logits())


def test_what_the_first_gemmas_call_gelu() -> None:
    """The approximation by tanh, which no key means as well; of other models gelu is gelu."""

    def activations(variant: str, **changes: Any) -> set[str]:
        linears = (op for op, _ in g.ops_of(graph_of(variant, **changes)) if isinstance(op, g.Linear))
        return {op.activation for op in linears} - {"none"}

    assert activations("gemma/own") == activations("gemma/own", hidden_act="gelu") == {"gelu_tanh"}
    assert activations("llama/tied", hidden_act="gelu") == {"gelu"}


def test_layers_without_positions() -> None:
    """Every so manyth one where no list names them, of four the last."""

    def turned(**changes: Any) -> list[bool]:
        return [table == "rotary" for table in turned_by("smollm3/own", **changes)]

    assert turned() == turned(no_rope_layers=None, no_rope_layer_interval=2) == [True, False, True]
    assert turned(no_rope_layers=None) == [True] * 3
    assert turned(no_rope_layers=[0, 0, 0, 1]) == [False] * 3
