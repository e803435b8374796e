# SPDX-License-Identifier: Apache-2.0
"""Bamba: layers of Mamba-2's state space beside Llama's attention, which turns a half of each head, all with a gated
feed-forward block. Names as in `transformers`, which has no classifier of it."""

from __future__ import annotations

from ...ir.graph import Op
from ...load.config import Config
from ...load.safetensors import TensorFile
from ..bases.decoder_family import Family
from ..shared import parts
from ..shared.layer_kinds import FULL
from ..shared.llama_parts import LlamaParts, read_sizes
from ..shared.llama_stack import MAX_POSITIONS, POSITIONS, WORDS, Rotation, Stack
from ..shared.mamba_mixer import HYBRID_KEYS, LINEAR, Mamba, Usual, mixer
from ..shared.mamba_stack import attention, feed_forward, mamba_stack
from ..shared.rotary import partial_angles, said_in

MODEL_TYPE = "bamba"
# Training's, how the library goes through a text, and what the first files said that the library reads nowhere.
_HARMLESS = "attention_dropout attn_rotary_emb mamba_chunk_size num_logits_to_keep z_loss_coefficient"
HARMLESS_KEYS = frozenset(_HARMLESS.split())
_KEY_HEADS, _THETA, _PART, _EPSILON, _POSITIONS = 8, 10_000.0, 0.5, 1e-5, 262_144  # where no key says them
_USUAL = Usual(heads=128, groups=1, state_width=256, keys=HYBRID_KEYS)


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    null = "num_key_value_heads" in config and config.values["num_key_value_heads"] is None
    sizes = read_sizes(config, tensors, None, 32, None if null else _KEY_HEADS)
    mamba, activation = Mamba.read(config, _USUAL, sizes.width), parts.activation_of(config, default="silu")
    made = LlamaParts(tensors, prefix, sizes, parts.epsilon_of(config, "rms_norm_eps", _EPSILON))
    positions = config.positive_int(POSITIONS, _POSITIONS, maximum=MAX_POSITIONS)
    usual = config.number("rope_theta", _THETA), _PART
    angles, turned = partial_angles(*said_in(config), usual, positions, sizes.head_width)
    seen = Rotation(angles, tokens, turned).seen(sizes.head_width)
    bias, inner_bias = config.flag("attention_bias", False), config.flag("mlp_bias", False)

    def ops_of(of_kind: LlamaParts, kind: str) -> tuple[Op, ...]:
        block = attention(of_kind, seen, bias) if kind == FULL else mixer(of_kind, mamba, "mamba")
        norms = of_kind.norm("mixer_norm", "input_layernorm"), of_kind.norm("feed_forward_norm", "pre_ff_layernorm")
        return (norms[0], *block, norms[1], *feed_forward(of_kind, inner_bias, activation))

    words, kinds = (WORDS, vocabulary), _kinds(config, sizes.layers)
    return mamba_stack(made, words, kinds, ops_of, sizes.widths | mamba.widths, final_norm="final_layernorm")


def _kinds(config: Config, layers: int) -> list[str]:
    """Of each layer: those that are named have attention, and no other key has a say."""
    attend = config.values.get("attn_layer_indices")
    attend = [] if attend is None else attend
    if not isinstance(attend, list) or not all(type(layer) is int and 0 <= layer < layers for layer in attend):
        raise parts.refuse("layers-out-of-range", f"attn_layer_indices: expected a list of layers below {layers}")
    return [FULL if layer in attend else LINEAR for layer in range(layers)]


FAMILY = Family("Bamba", "TokenizersBackend", _stack, usual_positions=_POSITIONS, padding=0)
