# SPDX-License-Identifier: Apache-2.0
"""Multi-head latent attention (DeepSeek-AI, 2024, arXiv:2405.04434): keys and values of all heads are made of few
values of a token, its latent ones, but for a part of the keys that all heads share, which is what is turned.

Here each head has keys of its own as elsewhere, its turned values first; values that are narrower are followed by
zeros, which the next linear has columns of zeros for. What heads share goes through a linear of ones and zeros."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from ...ir.graph import Attention, Linear, Norm, Op, Parameter
from ...ir.parameter import Array
from ...load.config import Config
from . import parts
from .computed import Computed
from .layer_kinds import Seen
from .llama_parts import LlamaParts, Sizes
from .rotary import check_pairs

_EPSILON = 1e-6  # of the latent values' norms, whatever that of others is
_QUERIES, _KEYS, _SHARED = "latent_query", "latent", "shared_key"  # values of a layer
_ZEROS = -1  # the place of a row or column that is made of none
_Arrays = tuple[tuple[Array, ...], tuple[Array, ...]]  # weights and biases, by layer


@dataclass(frozen=True)
class Latent:
    """How wide the values are."""

    query: int | None  # latent ones of a query; None: it is made of the row at once
    key: int  # those of keys and values
    turned: int  # of a head
    still: int  # not turned, of queries and keys
    value: int  # of a head
    pairs: bool  # two neighbours of what is turned are turned with each other, in the place of its halves
    bias: bool  # of the linears of rows
    scale: float | None = None  # of scores, as `Attention` has it

    @property
    def head(self) -> int:
        return self.turned + self.still

    def in_heads(self, sizes: Sizes) -> Sizes:
        """Those of a model whose heads have such keys."""
        if sizes.key_heads != sizes.heads:
            message = f"num_key_value_heads {sizes.key_heads}: each of {sizes.heads} heads has keys of its own"
            raise parts.refuse("config-not-supported", message)
        return replace(sizes, head_width=self.head)

    @property
    def widths(self) -> dict[str, int]:
        queries = {} if self.query is None else {_QUERIES: self.query}
        return {_KEYS: self.key, _SHARED: self.turned, **queries}


def latent_in(config: Config, usual: Latent) -> Latent:
    """What a configuration says, `usual` where it says nothing."""

    def width(key: str, otherwise: int | None) -> int:
        return config.positive_int(key, otherwise, maximum=parts.MAX_WIDTH)

    at_once = "q_lora_rank" in config and config.values["q_lora_rank"] is None
    made = Latent(
        None if at_once else width("q_lora_rank", usual.query),
        width("kv_lora_rank", usual.key),
        width("qk_rope_head_dim", usual.turned),
        width("qk_nope_head_dim", usual.still),
        width("v_head_dim", usual.value),
        usual.pairs,
        config.flag("attention_bias", False),
    )
    check_pairs(made.turned)
    if made.value > made.head:
        message = f"v_head_dim {made.value} is more than the {made.head} values of a head's keys"
        raise parts.refuse("config-not-supported", message)
    return made


def latent_attention(made: LlamaParts, latent: Latent, seen: Seen, value: str, factor: float) -> tuple[Op, ...]:
    """A block of the rows of `value`, whose sizes are `in_heads`; what it adds to the rows is times `factor`."""
    heads = made.sizes.heads
    return (
        *_queries(made, latent, value),
        *_latent_values(made, latent, value),
        Linear("shared_key_of_heads", _of_ones(latent, heads), None, _SHARED, "key"),
        *_keys_and_values(made, latent),
        *(seen.turned("query", heads), seen.turned("key", heads)),
        Attention(
            *("query", "key", "value", "context", heads, heads, latent.scale),
            mask=seen.masks.mask,
            window=seen.masks.window,
        ),
        *made.added(_output(made, latent), None, factor),
    )


def _queries(made: LlamaParts, latent: Latent, value: str) -> tuple[Op, ...]:
    heads, head, width = made.sizes.heads, latent.head, made.sizes.width
    own = np.concatenate([latent.still + _turned(latent), np.arange(latent.still)])
    order = (np.arange(heads)[:, None] * head + own).reshape(-1)
    if latent.query is None:
        return (_of_rows("query", _take(made, "q_proj", heads * head, width), order, value, "query"),)
    first = _take(made, "q_a_proj", latent.query, width, latent.bias)
    return (
        _of_rows(_QUERIES, first, np.arange(latent.query), value, _QUERIES),
        _norm(made, _QUERIES, "q_a_layernorm", latent.query),
        _of_rows("query", _take(made, "q_b_proj", heads * head, latent.query), order, _QUERIES, "query"),
    )


def _latent_values(made: LlamaParts, latent: Latent, value: str) -> tuple[Op, ...]:
    """Of keys and values, and what heads share of a key."""
    arrays = _take(made, "kv_a_proj_with_mqa", latent.key + latent.turned, made.sizes.width, latent.bias)
    return (
        _of_rows(_KEYS, arrays, np.arange(latent.key), value, _KEYS),
        _norm(made, _KEYS, "kv_a_layernorm", latent.key),
        _of_rows(_SHARED, arrays, latent.key + _turned(latent), value, _SHARED),
    )


def _keys_and_values(made: LlamaParts, latent: Latent) -> tuple[Linear, ...]:
    heads, of_head = made.sizes.heads, latent.still + latent.value
    arrays = _take(made, "kv_b_proj", heads * of_head, latent.key)
    first = np.arange(heads)[:, None] * of_head
    keys = np.pad(first + np.arange(latent.still), ((0, 0), (latent.turned, 0)), constant_values=_ZEROS)
    rest = (0, latent.head - latent.value)
    values = np.pad(first + latent.still + np.arange(latent.value), ((0, 0), rest), constant_values=_ZEROS)
    key = _of_rows("key", arrays, keys.reshape(-1), _KEYS, "key")
    return (replace(key, residual="key"), _of_rows("value", arrays, values.reshape(-1), _KEYS, "value"))


def _output(made: LlamaParts, latent: Latent) -> Linear:
    heads = made.sizes.heads
    weights, biases = _take(made, "o_proj", made.sizes.width, heads * latent.value, latent.bias)
    own, rest = np.arange(heads * latent.value).reshape(heads, -1), (0, latent.head - latent.value)
    columns = np.pad(own, ((0, 0), rest), constant_values=_ZEROS).reshape(-1)
    weights = tuple(_chosen(array, columns, axis=1) for array in weights)
    linear = _of_rows("attention_output", (weights, biases), None, "context", "hidden")
    return replace(linear, residual="hidden")


@cache
def _of_ones(latent: Latent, heads: int) -> Parameter:
    """To each head the values that all share: one parameter, whichever layers have it."""
    shape = heads * latent.head, latent.turned

    def compute() -> np.ndarray:
        return np.tile(np.eye(latent.head, latent.turned, dtype=np.float32), (heads, 1))

    return Parameter("shared_key_of_heads_weight", (Computed("shared_key_of_heads", shape, compute),), common=True)


def _turned(latent: Latent) -> np.ndarray:
    """The order in which a first half is turned with the second."""
    turned = np.arange(latent.turned)
    return turned.reshape(-1, 2).T.reshape(-1) if latent.pairs else turned


def _take(made: LlamaParts, name: str, outputs: int, inputs: int, bias: bool = False) -> _Arrays:
    sources = made.sources(f"self_attn.{name}")
    weights = tuple(made.tensors.take(f"{source}.weight", (outputs, inputs)) for source in sources)
    return weights, tuple(made.tensors.take(f"{source}.bias", (outputs,)) for source in sources if bias)


def _of_rows(name: str, arrays: _Arrays, rows: np.ndarray | None, value: str, out: str) -> Linear:
    """A linear of some of the rows, all where None."""
    weights, biases = arrays if rows is None else (tuple(_chosen(each, rows) for each in of) for of in arrays)
    bias = Parameter(f"{name}_bias", biases) if biases else None
    return Linear(name, Parameter(f"{name}_weight", weights), bias, value, out)


def _norm(made: LlamaParts, value: str, source: str, width: int) -> Norm:
    gammas = tuple(made.tensors.take(f"{each}.weight", (width,)) for each in made.sources(f"self_attn.{source}"))
    return Norm(f"{value}_norm", Parameter(f"{value}_norm_gamma", gammas), None, _EPSILON, value, value, "rms")


def _chosen(array: Array, places: np.ndarray, axis: int = 0) -> Computed:
    """Rows or columns in another order, of zeros where none is meant."""

    def compute() -> np.ndarray:
        values = np.take(array.values, places, axis=axis)
        values[places == _ZEROS if axis == 0 else np.s_[:, places == _ZEROS]] = 0
        return values

    shape = tuple(len(places) if of == axis else size for of, size in enumerate(array.shape))
    return Computed(array.name, shape, compute, array.file)
