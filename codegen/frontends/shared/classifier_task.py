# SPDX-License-Identifier: Apache-2.0
"""What the outputs of a sequence classifier mean, by its configuration.

The rule is that of the text-classification pipeline of `transformers`: regression as it is, sigmoid for several labels
that hold independently or for one label alone, else softmax. One output without a problem type may also come from
sentence-transformers, whose CrossEncoder writes the function that it applies into the configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ...errors import EtchError
from ...ir.task import Task
from ...load.config import Config
from ...load.refusal import shown
from ...tasks.classification import Classification
from ...tasks.regression import Regression

_Function = Literal["none", "sigmoid", "softmax"]

# The classes that CrossEncoder names.
_CROSS_ENCODER: dict[str, _Function] = {
    "torch.nn.modules.linear.Identity": "none",
    "torch.nn.Identity": "none",
    "torch.nn.modules.activation.Sigmoid": "sigmoid",
    "torch.nn.Sigmoid": "sigmoid",
}
_SETTINGS_KEY = "activation_fn"  # of config_sentence_transformers.json
_OLD_KEY = "sbert_ce_default_activation_function"
_NEW_KEY = "sentence_transformers.activation_fn"


def classifier_task(config: Config) -> Task:
    """The task of a sequence classifier; EtchError where two keys of its configuration say different things."""
    names = config.labels()
    function = _by_problem_type(config, len(names))
    key, named = _cross_encoder_function(config)
    if named is not None and len(names) == 1 and config.problem_type is None:
        function = named
    elif named is not None and named != function and (named, function) != ("none", "softmax"):
        # With several labels CrossEncoder returns logits; their softmax says the same.
        raise _refuse(
            "activation-conflict", f"'{key}' means {named}, problem type and number of labels mean {function}"
        )
    _check_function_to_apply(config, function)
    return Regression(names) if function == "none" else Classification(names, function)


def _by_problem_type(config: Config, labels: int) -> _Function:
    problem = config.problem_type
    if problem == "regression":
        return "none"
    return "sigmoid" if problem == "multi_label_classification" or labels == 1 else "softmax"


def _cross_encoder_function(config: Config) -> tuple[str, _Function | None]:
    """The key that names a function, and the function."""
    section = config.values.get("sentence_transformers")
    found = {
        _SETTINGS_KEY: config.cross_encoder,
        _OLD_KEY: config.values.get(_OLD_KEY),
        _NEW_KEY: section.get("activation_fn") if isinstance(section, Mapping) else None,
    }
    functions: dict[str, _Function] = {}
    for key, value in found.items():
        if value is None:
            continue
        if not isinstance(value, str) or value not in _CROSS_ENCODER:
            raise _refuse(
                "activation-not-supported", f"'{key}' is {shown(value)} (supported: {', '.join(_CROSS_ENCODER)})"
            )
        functions[key] = _CROSS_ENCODER[value]
    if len(set(functions.values())) > 1:
        named = " and ".join(f"'{key}'" for key in functions)
        raise _refuse("activation-conflict", f"{named} name different functions")
    return next(iter(functions.items()), ("", None))


def _check_function_to_apply(config: Config, function: _Function) -> None:
    """The pipeline never gets to read this key; where it says something else, only the author knows what is meant."""
    wanted = config.values.get("function_to_apply")
    if wanted is None:
        return
    if not isinstance(wanted, str) or wanted.lower() not in ("none", "sigmoid", "softmax"):
        raise _refuse(
            "function-not-supported",
            f"'function_to_apply' is {shown(wanted)} (supported: none, sigmoid, softmax)",
        )
    if wanted.lower() != function:
        raise _refuse(
            "activation-conflict",
            f"'function_to_apply' is {wanted.lower()}, problem type and number of labels mean {function}",
        )


def _refuse(code: str, message: str) -> EtchError:
    return EtchError(code, "front-end", message, file="config.json")
