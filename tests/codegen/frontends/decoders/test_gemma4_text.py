# SPDX-License-Identifier: Apache-2.0
"""Gemma 4's texts: what its layers are, what they have in common, and what is refused. lower/test_generation.py has
what it writes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from test_generation import HERE, graph_of, recorded

from codegen.emulate.generation import Generation
from codegen.errors import EtchError
from codegen.frontends import limits_of
from codegen.frontends.shared import periods
from codegen.ir import program as p
from codegen.ir import walks
from codegen.ir.check_program import check_program
from codegen.load.config import Config
from codegen.lower import lower
from codegen.oracle.interpret import Interpreter
from codegen.quantize import RECIPES

OWN, PLAIN, WHOLE = "gemma4_text/own", "gemma4_text/plain", "gemma4/whole"
IDS = recorded(OWN)["outputs"][3]["ids"]
# Of google/gemma-4-E2B-it.
E2B: dict[str, Any] = {
    **{"architectures": ["Gemma4ForConditionalGeneration"], "model_type": "gemma4", "eos_token_id": [1, 106]},
    **{"image_token_id": 258_880, "audio_token_id": 258_881, "tie_word_embeddings": True},
    "text_config": {
        **{"model_type": "gemma4_text", "hidden_size": 1536, "intermediate_size": 6144, "num_hidden_layers": 35},
        **{"num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256, "global_head_dim": 512},
        **{"hidden_size_per_layer_input": 256, "vocab_size_per_layer_input": 262_144, "vocab_size": 262_144},
        **{"num_kv_shared_layers": 20, "use_double_wide_mlp": True, "sliding_window": 512, "enable_moe_block": False},
        **{"max_position_embeddings": 131_072, "final_logit_softcapping": 30.0, "attention_k_eq_v": False},
    },
    "vision_config": {"model_type": "gemma4_vision"},
    "audio_config": {"model_type": "gemma4_audio"},
}


def logits(variant: str = OWN, without: tuple[str, ...] = (), **changes: Any) -> np.ndarray:
    return Interpreter(graph_of(variant, without, **changes)).logits(IDS, [0] * len(IDS), [])


def test_limits_of_a_published_folder() -> None:
    limits = limits_of(Config.from_json(E2B))
    assert (limits.width, limits.vocabulary, limits.positions) == (1536, 262_144, 131_072)
    assert limits.writes_texts


def test_what_no_key_says() -> None:
    """And what older files say of heads that see all tokens in keys of their own."""
    own = logits(PLAIN)
    assert np.array_equal(logits(PLAIN, ("rms_norm_eps", "hidden_activation", "use_double_wide_mlp")), own)
    heads = {"global_head_dim": 10, "num_global_key_value_heads": 1}
    assert np.array_equal(logits(PLAIN, ("per_layer_config",), **heads), own)
    assert not np.array_equal(logits(OWN, final_logit_softcapping=None), logits())
    vision = logits(OWN, use_bidirectional_attention="vision")  # of which texts alone have nothing
    assert np.array_equal(vision, logits())


def test_the_last_layer_sees_all_tokens() -> None:
    kinds = json.loads((HERE / OWN / "config.json").read_text())["layer_types"]
    assert np.array_equal(logits(OWN, layer_types=[*kinds[:-1], "sliding_attention"]), logits())


@pytest.mark.parametrize(
    ("variant", "changes", "code", "words"),
    [
        (OWN, {"enable_moe_block": True}, "config-not-supported", "enable_moe_block: experts"),
        (OWN, {"use_bidirectional_attention": "all"}, "config-not-supported", "rows of texts that see all tokens"),
        (OWN, {"vocab_size_per_layer_input": 44}, "config-not-supported", "vocab_size_per_layer_input 44"),
        (OWN, {"num_kv_shared_layers": 4}, "layers-out-of-range", "num_kv_shared_layers 4"),
        (OWN, {"num_kv_shared_layers": 5}, "config-out-of-range", "num_kv_shared_layers"),
        (OWN, {"num_kv_shared_layers": 0}, "missing-tensor", "layers.3.self_attn.v_proj"),
        (OWN, {"use_double_wide_mlp": False}, "wrong-shape", "layers.3.mlp"),
        (OWN, {"per_layer_config": {"1": {"head_dim": 10}}}, "config-not-supported", "expected the same for each"),
        (OWN, {"per_layer_config": {"0": {"head_dim": 10}}}, "config-not-supported", "expected the same for each"),
        (OWN, {"per_layer_config": 3}, "config-not-supported", "expected the same for each"),
        (PLAIN, {"hidden_size_per_layer_input": 7}, "config-not-supported", "vocab_size_per_layer_input"),
        (PLAIN, {"attention_k_eq_v": False}, "missing-tensor", "layers.1.self_attn.v_proj"),
        (OWN, {"layer_types": ["conv"] * 5}, "layers-out-of-range", "layer_types"),
    ],
)
def test_refused(variant: str, changes: dict[str, Any], code: str, words: str) -> None:
    if "vocab_size_per_layer_input" in words and variant == PLAIN:
        changes = changes | {"vocab_size_per_layer_input": 7}
    with pytest.raises(EtchError) as caught:
        graph_of(variant, **changes)
    assert caught.value.code == code
    assert words in str(caught.value)


def packed(program: p.Program) -> list[str]:
    """What is appended to, in order."""
    return [op.out.name for op in walks.ops_of(program) if isinstance(op, p.PackKeys | p.PackValues)]


@pytest.mark.parametrize("longest", [16, 2, 1])
def test_keys_that_layers_have_in_common_are_kept_once(longest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether these layers are written down together or apart."""
    monkeypatch.setattr(periods, "_LONGEST", longest)
    made = graph_of(OWN)
    program = lower(made, RECIPES["fp32"])
    names = [f"layer_{layer}_{of}s" for layer, of in ((0, "value"), (0, "key"), (1, "full_value"), (1, "full_key"))]
    assert packed(program) == [*names, "layer_2_values", "layer_2_keys"]
    steps, interpreter = Generation(program, IDS[:1], [0]), Interpreter(made)
    for count, token in enumerate(IDS, 1):
        meant = interpreter.logits(IDS[:count], [0] * count, [])[-1]
        assert np.abs(steps.logits_behind(token) - meant).max() < 1e-5 * np.abs(meant).max()


def test_a_program_that_appends_twice_is_refused() -> None:
    program = lower(graph_of(OWN), RECIPES["fp32"])
    repeat = program.steps[-1]
    assert isinstance(repeat, p.Repeat)

    def twice(part: p.Op | p.Loop) -> p.Op | p.Loop:
        if not isinstance(part, p.Loop):
            return part
        (blocks,) = part.body
        ops = tuple(each for op in blocks.body for each in (op,) * (1 + isinstance(op, p.PackKeys)))
        return replace(part, body=(replace(blocks, body=ops),))

    changed = replace(program, steps=(*program.steps[:-1], replace(repeat, body=tuple(map(twice, repeat.body)))))
    with pytest.raises(EtchError, match="appends to 'layer_0_keys' twice in a step"):
        check_program(changed)


def test_a_whole_models_texts() -> None:
    notes = graph_of(WHOLE).notes
    assert "not used: 16 tensors that are not about texts" in notes
    assert any("the library reads the padding's" in note for note in notes)
