# SPDX-License-Identifier: Apache-2.0
"""StaticEmbedding of sentence-transformers: no transformer, a text is the mean of its tokens' rows. Its folder has
tokenizer.json and model.safetensors, no config.json; model2vec writes one of its own beside them.

As sentence-transformers 6.2 reads it: no special token stands around a text, nothing is cut but where tokenizer.json
says so, and of all other files none counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..ir.tokenizer_spec import TokenizerSpec
from .config import FILE as CONFIG_FILE
from .config import Config
from .dense import open_module_weights
from .files import CheckpointFolder
from .limits import Limits
from .refusal import refusal, shown
from .safetensors import TensorFile
from .sentence import SentenceModules
from .sentence_files import MODULES_FILE
from .shards import WEIGHTS_FILE
from .tokenizer_files.tokenizer import read_tokenizer
from .tokenizer_files.tokenizer_config import AS_IN_JSON
from .tokenizer_files.tokenizer_json.fields import FILE as TOKENIZER_FILE

MODEL_TYPE = "static_embedding"
TABLE, MODEL2VEC_TABLE = "embedding.weight", "embeddings"
CUT = "truncation.max_length"  # of tokenizer.json
_USUAL, _USUAL_TOKENS = "etch: the library has no limit", 512  # at which model2vec cuts
MAPPING, WEIGHTS = "mapping", "weights"  # of model2vec: the row of a token, and what it is multiplied by
_STRATEGIES = ("LongestFirst", "OnlyFirst")


@dataclass(frozen=True)
class StaticEmbedding:
    """The module; its table is for the front-end to take."""

    config: Config  # what a config.json would say
    tensors: TensorFile
    tokenizer: TokenizerSpec
    source: str  # of the tokens of the longest text


def read_static_embedding(folder: CheckpointFolder, path: str) -> StaticEmbedding:
    """The module in the folder `path` of a checkpoint, which may be its root."""
    inside = folder if path in ("", ".") else folder.within(path)
    entries, width, tensors = _open_table(folder, "" if inside is folder else path)
    if not inside.has(TOKENIZER_FILE):
        raise refusal("tokenizer-missing", "StaticEmbedding has no other tokenizer", file=TOKENIZER_FILE)
    described = inside.read_json(TOKENIZER_FILE)
    positions = _cut_at(described.get("truncation"))
    values = {"model_type": MODEL_TYPE, "hidden_size": width, "vocab_size": entries}
    if positions is not None:
        values["max_length"] = positions
    alone = {**described, "post_processor": None, "truncation": None, "padding": None}
    tokenizer = read_tokenizer(inside.without_files(), alone, entries, usual_class=AS_IN_JSON)
    source = _USUAL if positions is None else f"{TOKENIZER_FILE} {CUT}"
    return StaticEmbedding(Config.from_json(values, MODULES_FILE), tensors, tokenizer, source)


def read_limits(config: Config) -> Limits:
    """Of the configuration that `read_static_embedding` makes; one that a config.json has is refused."""
    if config.file != MODULES_FILE:
        message = f"'model_type' is {MODEL_TYPE}: {MODULES_FILE} names StaticEmbedding, no {CONFIG_FILE} does"
        raise refusal("model-type-not-supported", message, file=config.file)
    width, entries = config.positive_int("hidden_size"), config.positive_int("vocab_size")
    if "max_length" in config:
        return Limits(width, entries, config.positive_int("max_length"), CUT)
    return Limits(width, entries, _USUAL_TOKENS, _USUAL, endless=True)


def other_library_notes(
    folder: CheckpointFolder, tokenizer: TokenizerSpec, sentence: SentenceModules
) -> tuple[str, ...]:
    """Notes of what model2vec makes otherwise of its folder than sentence-transformers does."""
    values = folder.read_json_if_present(CONFIG_FILE) or {}
    if values.get("model_type") != "model2vec":
        return ()
    if values.get("normalize", sentence.normalize) is not sentence.normalize:
        message = f"'normalize' is {shown(values['normalize'])}, {MODULES_FILE} says otherwise: make them agree"
        raise refusal("sentence-conflict", message, file=CONFIG_FILE)
    unknown = getattr(tokenizer.model, "unknown_id", None)  # models of bytes have none
    if unknown is None:
        return ()
    return (f"unknown tokens (id {unknown}) count, as in sentence-transformers; model2vec leaves them out of the mean",)


def _open_table(folder: CheckpointFolder, path: str) -> tuple[int, int, TensorFile]:
    """(entries, width, the tensors)."""
    tensors = open_module_weights(folder, path, "StaticEmbedding")
    is_model2vec = TABLE not in tensors and MODEL2VEC_TABLE in tensors
    name = MODEL2VEC_TABLE if is_model2vec else TABLE
    shape = tensors.info(name)[1]
    if len(shape) != 2 or 0 in shape:
        message = f"expected [entries, width], got {list(shape)}"
        raise refusal("wrong-shape", message, file=WEIGHTS_FILE, tensor=name)
    entries = shape[0]
    if is_model2vec and MAPPING in tensors:
        entries = math.prod(tensors.info(MAPPING)[1])
    return entries, shape[1], tensors


def _cut_at(truncation: Any) -> int | None:
    """The tokens that tokenizer.json leaves of a text."""
    if truncation is None:
        return None
    values: Mapping[str, Any] = truncation if isinstance(truncation, dict) else {}
    length = values.get("max_length")
    if type(length) is not int or length < 1:
        message = f"{CUT} must be an integer from 1, got {shown(length)}"
        raise refusal("tokenizer-type", message, file=TOKENIZER_FILE)
    for key, known in (("direction", ("Right",)), ("strategy", _STRATEGIES)):
        if values.get(key, known[0]) not in known:
            message = f"truncation: {key} {shown(values[key])} is not supported"
            raise refusal("tokenizer-setting", message, file=TOKENIZER_FILE)
    return length
