# SPDX-License-Identifier: Apache-2.0
"""Model families. Each module of `encoders`, `decoders`, `encoder_decoders` and `text_halves` has a MODEL_TYPE, knows
the tensor names and configuration keys of that family, and builds its Graph; no other place needs to know of it. Its
`FAMILY`, an object of a form in `bases`, has a `build_graph`; a `read_limits` where the keys of its limits are not
those of most; a `graph_of` where it writes texts. A family of no such form has these as functions of the module. Keys
of its own that change no output are `HARMLESS_KEYS`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from ..errors import EtchError
from ..ir.graph import Graph, Gru, ops_of
from ..load.checkpoint import Checkpoint
from ..load.config import XLM_MASKED, Config
from ..load.gru_head import GruHead
from ..load.head_file import FILE
from ..load.limits import Limits, usual_limits
from ..load.multi_vector import MultiVectorModules
from ..load.sentence import SentenceModules
from ..load.sentence_files import MODULES_FILE
from ..tasks.classification import Classification
from ..tasks.multi_vector import MultiVector
from . import decoders, encoder_decoders, encoders, text_halves
from .shared.checked_keys import with_checked_keys
from .shared.multi_vector_head import check_sides
from .shared.near import advice


class FrontEnds(Mapping[str, ModuleType]):
    """The modules by model type, each imported when it is first asked for: a model needs one of them. A module has its
    model type's name, `_` for what no name of a module may have."""

    def __init__(self) -> None:
        folders = (encoders, decoders, encoder_decoders, text_halves)
        self._folders = {found.name: folder for folder in folders for found in pkgutil.iter_modules(folder.__path__)}

    def __getitem__(self, model_type: str) -> ModuleType:
        name = model_type.replace("-", "_")
        module = self._module(name) if name in self._folders else None
        if module is None or model_type != module.MODEL_TYPE:
            raise KeyError(model_type)
        return module

    def __iter__(self) -> Iterator[str]:
        return (self._module(name).MODEL_TYPE for name in sorted(self._folders))

    def __len__(self) -> int:
        return len(self._folders)

    def _module(self, name: str) -> ModuleType:
        return importlib.import_module(f"{self._folders[name].__name__}.{name}")


FRONT_ENDS = FrontEnds()


def family_of(model_type: str) -> Any:
    """What reads the folders of a model type: its module's `FAMILY`, or the module itself."""
    module = FRONT_ENDS[model_type]
    return getattr(module, "FAMILY", module)


def limits_of(config: Config) -> Limits:
    """The limits of a model; refuses a model type that no front-end knows."""
    if config.model_type not in FRONT_ENDS:
        if config.brings_code:
            message = f"model type '{config.model_type}' is of code that comes with the checkpoint, which is never run"
            raise EtchError("remote-code", "front-end", f"{message}; {advice(config, FRONT_ENDS)}", file="config.json")
        supported = f"{len(FRONT_ENDS)} others, which etch inspect --model-types prints"
        raise EtchError(
            "model-type-not-supported",
            "front-end",
            f"model type '{config.model_type}' is not supported; {advice(config, FRONT_ENDS)}; supported: {supported}",
            file="config.json",
        )
    return getattr(family_of(config.model_type), "read_limits", usual_limits)(config)


def build_graph(checkpoint: Checkpoint, max_tokens: int) -> Graph:
    """The graph of a checkpoint for texts of at most `max_tokens` tokens, specials included."""
    config = checkpoint.config
    limits_of(config)
    if checkpoint.sparse is not None:
        _check_predicts(checkpoint)
    try:
        graph = family_of(config.model_type).build_graph(checkpoint, max_tokens)
    except EtchError as error:
        if error.code == "missing-tensor" and _has_a_guessed_class(checkpoint):
            raise _without_class(error) from error
        raise
    if isinstance(checkpoint.sentence, GruHead) and not any(isinstance(op, Gru) for op, _ in ops_of(graph)):
        message = f"model type '{config.model_type}' has no rows that a GRU could read"
        raise EtchError("head-not-supported", "front-end", message, file=FILE)
    if isinstance(checkpoint.sentence, SentenceModules) and checkpoint.sentence.classifier is not None:
        _check_classifies(graph, config.model_type)
    if isinstance(checkpoint.sentence, MultiVectorModules) and not isinstance(graph.task, MultiVector):
        message = f"model type '{config.model_type}' has no rows that could be vectors"
        raise EtchError("head-not-supported", "front-end", message, file=MODULES_FILE)
    check_sides(graph, config.model_type)
    harmless: frozenset[str] = getattr(FRONT_ENDS[config.model_type], "HARMLESS_KEYS", frozenset())
    return with_checked_keys(config, graph, harmless)


def _has_a_guessed_class(checkpoint: Checkpoint) -> bool:
    """Whether no file says which class the folder was saved from."""
    said = (checkpoint.sentence, checkpoint.sparse, checkpoint.generation)
    return not checkpoint.config.architectures and all(each is None for each in said)


def _without_class(error: EtchError) -> EtchError:
    """That a tensor of the guessed class is missing."""
    advice = "for an encoder alone say --pooling mean, else name the class in architectures"
    message = f"{error.message}; config.json names no class, read was a classifier: {advice}"
    return EtchError(error.code, error.stage, message, file=error.file, tensor=error.tensor)


def _check_classifies(graph: Graph, model_type: str) -> None:
    """Refuses a family that makes the embedding in a way of its own."""
    if not isinstance(graph.task, Classification):
        message = f"model type '{model_type}' makes no embedding that a head could read"
        raise EtchError("head-not-supported", "front-end", message, file=FILE)


def _check_predicts(checkpoint: Checkpoint) -> None:
    """Refuses weights of words of what has no logits of words."""
    architectures = checkpoint.config.architectures
    if not any(name.endswith(("ForMaskedLM", XLM_MASKED)) for name in architectures):
        named = ", ".join(architectures) or "no class"
        message = f"weights of words are made of the logits of a masked language model: config.json says {named}"
        raise EtchError("architecture-conflict", "front-end", f"{message}, not …ForMaskedLM", file="config.json")
    if checkpoint.sentence is not None:
        message = "modules.json makes an embedding of the rows: for weights of words it must have SpladePooling"
        raise EtchError("architecture-conflict", "front-end", message, file="modules.json")
