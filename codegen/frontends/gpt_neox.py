# SPDX-License-Identifier: Apache-2.0
"""GPT-NeoX, which Pythia is: layer norms, a part of each head turned, attention and feed-forward of the same rows.
Names as in `transformers`."""

from __future__ import annotations

from ..ir.graph import Attention, Embed, Layers, Linear, Norm, Op, Parameter, Rotary, Term
from ..load.config import Config
from ..load.safetensors import TensorFile
from .shared import parts
from .shared.computed import rows_of_heads
from .shared.decoder_family import Family, Names
from .shared.llama_stack import MAX_POSITIONS, POSITIONS, Stack
from .shared.rotary import Angles, check_head_dim, partial_angles, rotary_tables, said_in

MODEL_TYPE = "gpt_neox"
# Training's, and one that the class does not read.
HARMLESS_KEYS = frozenset({"attention_dropout", "hidden_dropout", "classifier_dropout", "is_decoder"})
_NAMES = Names("gpt_neox.", "embed_in.weight", "embed_out.weight")
_THETA, _PART, _EPSILON = 10_000.0, 0.25, 1e-5  # where the configuration does not say them
_PACKED = ("query", "key", "value")  # of each head, in the file


def _stack(config: Config, tensors: TensorFile, prefix: str, vocabulary: int, tokens: int) -> Stack:
    made = _Parts(config, tensors, prefix)
    width, heads = made.width, made.heads
    words = parts.parameter(tensors, "word_embeddings", f"{prefix}{_NAMES.words}", (vocabulary, width))
    angles, turned = _angles(config, width // heads)
    cosines, sines = rotary_tables("rotary", angles, tokens, turned)
    activation = parts.activation_of(config, default="gelu")
    bias = config.flag("attention_bias", True)
    norm = made.norm("feed_forward_norm", "post_attention_layernorm", "rows")
    attention: tuple[Op, ...] = (
        made.norm("attention_norm", "input_layernorm", "normed"),
        *made.projections(bias),
        *(Rotary((cosines,), (sines,), heads, of) for of in ("query", "key")),
        Attention(*_PACKED, "context", heads, mask="causal"),
        made.linear("attention_output", "attention.dense", "context", "hidden", bias=bias, residual="hidden"),
    )
    both = (norm, *attention) if config.flag("use_parallel_residual", True) else (*attention, norm)
    layer = (
        *both,
        made.linear("intermediate", "mlp.dense_h_to_4h", "rows", "inner", activation),
        made.linear("output", "mlp.dense_4h_to_h", "inner", "hidden", residual="hidden"),
    )
    body = (
        Embed((Term(words, "ids"),), "hidden"),
        Layers("layer", len(made.layers), layer),
        parts.layer_norm(tensors, "final_norm", [f"{prefix}final_layer_norm"], width, made.epsilon, "hidden"),
    )
    return Stack(body, made.widths, words, width)


def _angles(config: Config, width: int) -> tuple[Angles, int]:
    """And how many values of a head are turned by them."""
    check_head_dim(config, width)
    usual = config.number("rotary_emb_base", _THETA), config.number("rotary_pct", _PART)
    return partial_angles(*said_in(config), usual, config.positive_int(POSITIONS, maximum=MAX_POSITIONS), width)


class _Parts:
    """Of all layers."""

    def __init__(self, config: Config, tensors: TensorFile, prefix: str) -> None:
        self.width = config.positive_int("hidden_size", maximum=parts.MAX_WIDTH)
        self.heads = config.positive_int("num_attention_heads", maximum=parts.MAX_WIDTH)
        inner = config.positive_int("intermediate_size", maximum=parts.MAX_WIDTH)
        count = config.positive_int("num_hidden_layers", maximum=parts.MAX_LAYERS)
        self.epsilon = parts.epsilon_of(config, "layer_norm_eps", _EPSILON)
        parts.check_layers(tensors, count)
        parts.check_heads(self.width, self.heads)
        self.widths = dict.fromkeys(("hidden", "normed", "rows", "context", *_PACKED), self.width) | {"inner": inner}
        self.layers = [f"{prefix}layers.{i}." for i in range(count)]
        self._tensors = tensors
        made_here = ("bias", "masked_bias", "rotary_emb.inv_freq")  # of older files
        tensors.ignore(*(f"{prefix}layers.*.attention.{of}" for of in made_here))

    def norm(self, name: str, of: str, out: str) -> Norm:
        sources = [f"{layer}{of}" for layer in self.layers]
        return parts.layer_norm(self._tensors, name, sources, self.width, self.epsilon, "hidden", out)

    def linear(
        self,
        name: str,
        of: str,
        value: str,
        out: str,
        activation: str = "none",
        *,
        bias: bool = True,
        residual: str | None = None,
    ) -> Linear:
        """From `value` to `out`, to which `residual` is added."""
        sources, shape = [f"{layer}{of}" for layer in self.layers], (self.widths[out], self.widths[value])
        return parts.linear(self._tensors, name, sources, shape, value, out, activation, residual=residual, bias=bias)

    def projections(self, bias: bool) -> tuple[Linear, ...]:
        """Queries, keys and values, which the file has together, head by head."""
        sources, outputs = [f"{layer}attention.query_key_value" for layer in self.layers], len(_PACKED) * self.width
        weights = [self._tensors.take(f"{source}.weight", (outputs, self.width)) for source in sources]
        biases = [self._tensors.take(f"{source}.bias", (outputs,)) for source in sources if bias]

        def linear(i: int, name: str) -> Linear:
            weight, own = (
                tuple(rows_of_heads(array, self.heads, i, len(_PACKED)) for array in arrays)
                for arrays in (weights, biases)
            )
            of_bias = Parameter(f"{name}_bias", own) if bias else None
            return Linear(name, Parameter(f"{name}_weight", weight), of_bias, "normed", name)

        return tuple(linear(i, name) for i, name in enumerate(_PACKED))


_FAMILY = Family("GPTNeoX", "GPTNeoXTokenizer", _stack, names=_NAMES)
read_limits = _FAMILY.read_limits
build_graph = _FAMILY.build_graph
graph_of = _FAMILY.graph_of
