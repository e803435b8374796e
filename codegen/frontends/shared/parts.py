# SPDX-License-Identifier: Apache-2.0
"""What front-ends are written with: ops whose parameters are taken from the checkpoint by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...errors import EtchError
from ...ir.graph import Linear, Norm, Parameter
from ...ir.parameter import Array
from ...load.config import Config
from ...load.safetensors import Taken, TensorFile
from .computed import of_groups

# Hugging Face's name of the activation -> the runtime's. The tanh forms differ from each other only in rounding.
ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "quick_gelu": "quick_gelu",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
}
MAX_LAYERS = 1000
MAX_WIDTH = 65_536  # keeps an int32 sum of s8 x s8 products exact
MAX_VOCABULARY = (1 << 24) - 1  # as many weights of a sampled token, 2^40 at most, have a sum of 64 bits
_LARGEST_FACTOR = 65_536.0  # or 1 / it
SEGMENTS = 2  # of a model without a table of them: pairs are welcome, though it does not tell which text is which
MIN_EPSILON = 1e-12
EPSILON = 1e-12  # of BERT's norms, and of most families'
MIN_TOKENS = 3  # [CLS] text [SEP]
_NAMED = 12  # tensors in a note

Names = Sequence[str]  # of one tensor, or of one per layer


def refuse(code: str, message: str) -> EtchError:
    """A refusal of the configuration."""
    return EtchError(code, "front-end", message, file="config.json")


def parameter(tensors: TensorFile, name: str, tensor: str, shape: tuple[int, ...]) -> Parameter:
    """One tensor."""
    return Parameter(name, (tensors.take(tensor, shape),))


def tied_parameter(tensors: TensorFile, name: str, names: Names, shape: tuple[int, ...]) -> Parameter:
    """One tensor that a file has by one of these names, or by several: the library finds it by any."""
    source = next((each for each in names if each in tensors), names[0])
    check_copies(tensors, source, [each for each in names if each != source])
    return parameter(tensors, name, source, shape)


def linear(
    tensors: TensorFile,
    name: str,
    sources: Names,
    shape: tuple[int, int],
    value: str,
    out: str,
    activation: str = "none",
    *,
    residual: str | None = None,
    exact: bool = False,
    bias: bool = True,
    of_layer: tuple[int, ...] = (),
    groups: int | None = None,
) -> Linear:
    """`SOURCE.weight` [outputs, inputs] and `SOURCE.bias`, of each of the sources; with `groups` the weight is that of
    a convolution over one place, [outputs, inputs / groups, 1]."""
    weights: tuple[Array, ...]
    if groups is None:
        weights = tuple(tensors.take(f"{source}.weight", shape) for source in sources)
    else:
        outputs, inputs = shape
        check_groups(groups, inputs, outputs)
        kernels = (tensors.take(f"{source}.weight", (outputs, inputs // groups, 1)) for source in sources)
        weights = tuple(of_groups(kernel, groups) for kernel in kernels)
    biases = tuple(tensors.take(f"{source}.bias", shape[:1]) for source in sources) if bias else ()
    return Linear(
        name,
        weight=Parameter(f"{name}_weight", weights, of_layer),
        bias=Parameter(f"{name}_bias", biases, of_layer) if bias else None,
        input=value,
        out=out,
        activation=activation,
        residual=residual,
        exact=exact,
    )


def check_groups(groups: int, inputs: int, outputs: int) -> None:
    """Groups of a linear share both evenly."""
    if outputs % groups or inputs % groups:
        raise refuse("config-value", f"{groups} groups do not share {inputs} inputs and {outputs} outputs evenly")


def layer_norm(
    tensors: TensorFile,
    name: str,
    sources: Names,
    width: int,
    epsilon: float,
    value: str,
    out: str | None = None,
    *,
    bias: bool = True,
    of_layer: tuple[int, ...] = (),
) -> Norm:
    """`SOURCE.weight` and `SOURCE.bias` [width], in older files `gamma` and `beta`; in place where `out` is None."""
    gammas = tuple(tensors.take(f"{s}.weight", (width,), legacy=f"{s}.gamma") for s in sources)
    betas = tuple(tensors.take(f"{s}.bias", (width,), legacy=f"{s}.beta") for s in sources) if bias else ()
    return Norm(
        name,
        Parameter(f"{name}_gamma", gammas, of_layer),
        Parameter(f"{name}_beta", betas, of_layer) if bias else None,
        epsilon,
        value,
        value if out is None else out,
    )


def inner_or_four_times(config: Config, key: str, width: int) -> int:
    """The width of a feed-forward block, four times that of the rows where `key` says none."""
    return 4 * width if config.values.get(key) is None else config.positive_int(key, maximum=MAX_WIDTH)


def activation_of(config: Config, key: str = "hidden_act", default: str | None = "gelu") -> str:
    """The runtime's name of the activation that a key of the configuration names."""
    return activation_named(config.text(key, default), key)


def activation_named(name: str, key: str) -> str:
    """The same of a name that a key has."""
    if name not in ACTIVATIONS:
        raise refuse(
            "activation-not-supported", f"{key} '{name}' is not supported (supported: {', '.join(ACTIVATIONS)})"
        )
    return ACTIVATIONS[name]


def epsilon_of(config: Config, key: str = "layer_norm_eps", default: float | None = EPSILON) -> float:
    """Of the norms."""
    epsilon = config.number(key, default)
    if not MIN_EPSILON <= epsilon <= 1.0:
        raise refuse("epsilon-out-of-range", f"{key} {epsilon:g}: expected {MIN_EPSILON:g} to 1")
    return epsilon


def factor_of(config: Config, key: str, usual: float = 1.0) -> float:
    """What something is multiplied by, `usual` where the configuration does not say it."""
    factor = config.number(key, usual)
    if not 1 / _LARGEST_FACTOR <= factor <= _LARGEST_FACTOR:
        raise refuse("config-out-of-range", f"{key} {factor:g}: expected 1/{_LARGEST_FACTOR:g} to {_LARGEST_FACTOR:g}")
    return factor


def check_heads(
    hidden: int, heads: int, hidden_key: str = "hidden_size", heads_key: str = "num_attention_heads"
) -> None:
    """Heads share the width evenly."""
    if hidden % heads != 0:
        raise refuse("heads-do-not-divide", f"{hidden_key} {hidden} is not a multiple of {heads_key} {heads}")


def check_shared_heads(heads: int, width: int, key_heads: int) -> None:
    """Heads of queries share those of keys evenly, and the halves of a head's `width` are turned with each other."""
    if heads % key_heads or width % 2:
        message = f"{heads} heads of {width} values on {key_heads} of keys: a multiple and an even number are needed"
        raise refuse("heads-do-not-divide", message)


def check_other_names(config: Config, names: Mapping[str, str]) -> None:
    """Some keys have a second name for the library (`attribute_map`), here by the first, and the one that comes last in
    the file counts."""
    for key, other in names.items():
        if config.values.get(other) not in (None, config.values.get(key)):
            raise refuse("config-value", f"{other} is not what {key} says, though both are one: make them agree")


def either_name(config: Config, key: str, other: str) -> str:
    """Of two names that the library has for one thing, the one that a file says it by."""
    if key in config and other in config and config.values[key] != config.values[other]:
        raise refuse("config-value", f"{other} is not what {key} says, though both are one: make them agree")
    return other if other in config else key


def check_max_tokens(max_tokens: int, positions: int, key: str = "max_position_embeddings", counted: str = "") -> None:
    """A text has at least the special tokens, and at most as many as there are positions; `counted` says what counts
    beside its own."""
    if not MIN_TOKENS <= max_tokens <= positions:
        raise EtchError(
            "max-tokens-out-of-range",
            "front-end",
            f"{max_tokens} tokens{counted}: expected {MIN_TOKENS} to {positions} ({key})",
        )


def check_layers(tensors: TensorFile, layers: int, key: str = "num_hidden_layers") -> None:
    """Refuses a layer count that the file cannot hold before thousands of names are looked up."""
    if layers > len(tensors.names):
        raise refuse("missing-tensor", f"{key} is {layers}, but the file holds {len(tensors.names)} tensors")


def check_copies(tensors: TensorFile, tensor: str, copies: Names) -> None:
    """Files may have a tied tensor by more than one name; then the copies are the same."""
    for name in copies:
        pair = _both(tensors, tensor, name)
        if pair is not None and not np.array_equal(pair[0].values, pair[1].values):
            whole, copy = pair
            message = f"{copy.name} is not {whole.name}, though the two are tied: tie_word_embeddings in config.json"
            raise refuse("tied-tensors-differ", message)


def differ(tensors: TensorFile, tensor: str, other: str) -> bool:
    """Whether the file has both, with other values; takes them where it has both."""
    pair = _both(tensors, tensor, other)
    return pair is not None and not np.array_equal(pair[0].values, pair[1].values)


def _both(tensors: TensorFile, tensor: str, other: str) -> tuple[Taken, Taken] | None:
    if tensor not in tensors or other not in tensors:
        return None
    shape = tensors.info(tensor)[1]
    return tensors.take(tensor, shape), tensors.take(other, shape)


def left_out(tensors: TensorFile, *names: str, by: str = "sentence-transformers") -> tuple[str, ...]:
    """A note on the tensors of these names that the file has and the head does not use."""
    return not_used(tensors.ignore(*names), by)


def not_used(unused: Names, by: str) -> tuple[str, ...]:
    """The same of those that are known."""
    more = f" and {len(unused) - _NAMED} more" if len(unused) > _NAMED else ""
    return (f"not used by {by}: {', '.join(unused[:_NAMED])}{more}",) if unused else ()
