# SPDX-License-Identifier: Apache-2.0
"""The files of sentence-transformers: which pooling follows the encoder, which linears, and whether the result is
normalized; or, of a CrossEncoder, that the classifier is all.

Both forms are read: the one of versions 1 to 5 (`sentence_transformers.models.Pooling`, `pooling_mode_mean_tokens`) and
the one of version 6 (`sentence_transformers.sentence_transformer.modules.pooling.Pooling`, `pooling_mode`). Whatever
would change the embedding and is not known here is refused.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from ..ir.prompts import NO_PROMPTS, Prompts
from ..ir.tokenizer_spec import TokenizerSpec
from .dense import Dense, read_dense
from .files import CheckpointFolder
from .logistic_head import LogisticHead
from .max_tokens import SENTENCE_FILE
from .refusal import refusal, shown
from .row_norm import RowNorm, read_row_norm
from .sentence_files import (
    MODULES_FILE,
    PACKAGES,
    SETTINGS_FILE,
    STATIC,
    USUAL,
    check_at_the_top,
    check_normalize,
    check_transformer,
    listed_modules,
    only,
    read_module,
    read_module_settings,
    setting_refusal,
    types_of,
)
from .sentence_prompts import prompts_notes, read_prompts, settings_notes
from .splade import (
    SPARSE_TYPES,
    SparsePooling,
    read_splade,
)

Pooling = Literal["cls", "mean", "max", "mean_sqrt", "weighted_mean", "last"]

_MOST_MODES = 6  # as many as there are
_SUPPORTED = ("Transformer", "Pooling", "Dense", "LayerNorm", "Dropout", "Normalize", STATIC)
_TYPES = types_of(PACKAGES, _SUPPORTED) | SPARSE_TYPES
# Their names of the modes, ours. Of flags the order is that of their concatenation.
_MODES: dict[str, Pooling] = {
    "cls": "cls",
    "max": "max",
    "mean": "mean",
    "mean_sqrt_len_tokens": "mean_sqrt",
    "weightedmean": "weighted_mean",
    "lasttoken": "last",
}
_FLAGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_WIDTHS = ("word_embedding_dimension", "embedding_dimension")
# The same of a CrossEncoder.
_SCORES: dict[str, tuple[object, ...]] = USUAL | {
    "transformer_task": ("sequence-classification",),
    "modality_config": ({"text": {"method": "forward", "method_output_name": "logits"}},),
    "module_output_name": ("scores",),
}


@dataclass(frozen=True)
class SentenceModules:
    """What follows the encoder."""

    pooling: Pooling
    dense: tuple[Dense | RowNorm, ...]  # what the row goes through, in this order
    normalize: bool
    beside: tuple[Pooling, ...] = ()  # poolings whose rows stand behind that of the first
    classifier: LogisticHead | None = None  # of the embedding, which is then no result
    prompts: Prompts = NO_PROMPTS


def read_sentence_modules(
    folder: CheckpointFolder, width: int, vocabulary: int
) -> tuple[SentenceModules | SparsePooling | None, tuple[str, ...]]:
    """(the modules, notes); None where the folder has no modules.json. `width` is the encoder's hidden size,
    `vocabulary` that of the logits of its masked language model."""
    if not folder.has(MODULES_FILE):
        return None, ()
    modules = [read_module(item, place, _TYPES) for place, item in enumerate(listed_modules(folder))]
    names = [name for name, _ in modules]
    cross_encoder = names == ["Transformer"] and is_cross_encoder(folder)
    sparse = names in (["Transformer", "SpladePooling"], ["MLMTransformer", "SpladePooling"])
    order = f"(Transformer Pooling|{STATIC})( Dense| LayerNorm| Dropout)*( Normalize)?"
    if not (cross_encoder or sparse) and re.fullmatch(order, " ".join(names)) is None:
        raise refusal(
            "sentence-modules-order",
            "expected Transformer, Pooling, perhaps Dense, LayerNorm, Dropout, and Normalize, or Transformer, "
            "SpladePooling, "
            f"got {', '.join(names) or 'no modules'}",
            file=MODULES_FILE,
        )
    if names[0] == STATIC:
        return _modules_behind(folder, ("mean",), modules[1:], width)
    check_at_the_top(modules[0][1])
    if sparse:
        return read_splade(folder, folder, modules, vocabulary)
    check_transformer(folder, _SCORES if cross_encoder else USUAL)
    if cross_encoder:
        return None, settings_notes(folder, "CrossEncoder")
    poolings = _read_pooling(folder, f"{modules[1][1]}/config.json", width)
    return _modules_behind(folder, poolings, modules[2:], len(poolings) * width)


def static_path(folder: CheckpointFolder) -> str | None:
    """Where the StaticEmbedding module lies that modules.json begins with; None where it begins with another."""
    if not folder.has(MODULES_FILE):
        return None
    items = listed_modules(folder)
    first = items[0].get("type") if items and isinstance(items[0], dict) else None
    if not isinstance(first, str) or _TYPES.get(first) != STATIC:
        return None
    return read_module(items[0], 0, _TYPES)[1]


def _modules_behind(
    folder: CheckpointFolder, poolings: tuple[Pooling, ...], modules: list[tuple[str, str]], width: int
) -> tuple[SentenceModules, tuple[str, ...]]:
    """What the row of a text, of `width` values, goes through: `modules` with their paths; and notes."""
    dense: list[Dense | RowNorm] = []
    for name, path in modules:
        before = dense[-1].outputs if dense else width
        if name == "Dense":
            dense.append(read_dense(folder, path, before))
        elif name == "LayerNorm":
            dense.append(read_row_norm(folder, path, before))
        elif name == "Dropout":  # which only training does
            only(folder.read_json_if_present(f"{path}/config.json") or {}, ("dropout",), f"{path}/config.json")
        else:
            check_normalize(folder, f"{path}/config.json")
    normalizes = bool(modules) and modules[-1][0] == "Normalize"
    prompts = read_prompts(folder, "SentenceTransformer")
    found = SentenceModules(poolings[0], tuple(dense), normalizes, poolings[1:], prompts=prompts)
    return found, prompts_notes(prompts)


def lower_case_notes(folder: CheckpointFolder, tokenizer: TokenizerSpec) -> tuple[str, ...]:
    """A note where `do_lower_case` asks for what the tokenizer does by itself; it is refused where that does not."""
    values = folder.read_json_if_present(SENTENCE_FILE) or {}
    asked = values.get("do_lower_case")
    if not isinstance(asked, bool | None):
        raise refusal("config-type", f"'do_lower_case' must be true/false, got {shown(asked)}", file=SENTENCE_FILE)
    if not asked:
        return ()
    if not _lower_cases(json.loads(tokenizer.json or "{}").get("normalizer")):
        message = "'do_lower_case': the tokenizer does not lower-case by itself; make it false, and texts lower case"
        raise refusal("sentence-lowercase", message, file=SENTENCE_FILE)
    return (
        f"{SENTENCE_FILE} do_lower_case: the tokenizer does that, as in version 6; versions before did it in "
        "Python first, which knows a final sigma, and left no special token that a text spells",
    )


def _lower_cases(normalizer: dict[str, Any] | None) -> bool:
    """Whether `Lowercase`, which version 6 would put before it, changes nothing: it puts none before those that have
    it, and BERT's makes the same of small letters."""
    if normalizer is None:
        return False
    steps = normalizer["normalizers"] if normalizer["type"] == "Sequence" else [normalizer]
    of_bert = normalizer["type"] == "BertNormalizer" and normalizer["lowercase"]
    return of_bert or any(step["type"] == "Lowercase" for step in steps)


def embeds(folder: CheckpointFolder) -> bool:
    """Whether it has modules, and they are not a CrossEncoder's."""
    return folder.has(MODULES_FILE) and not is_cross_encoder(folder)


def is_cross_encoder(folder: CheckpointFolder) -> bool:
    """Whether a CrossEncoder wrote the settings of sentence-transformers."""
    return (folder.read_json_if_present(SETTINGS_FILE) or {}).get("model_type") == "CrossEncoder"


def cross_encoder_function(folder: CheckpointFolder) -> str | None:
    """The class of the function that a CrossEncoder applies, where its settings name one."""
    if not is_cross_encoder(folder):
        return None
    named = (folder.read_json_if_present(SETTINGS_FILE) or {}).get("activation_fn")
    if named is not None and not isinstance(named, str):
        raise setting_refusal("activation_fn", named, SETTINGS_FILE)
    return named


def _read_pooling(folder: CheckpointFolder, file: str, width: int) -> tuple[Pooling, ...]:
    values = read_module_settings(folder, file, "Pooling")
    only(values, (*_WIDTHS, *_FLAGS, "pooling_mode", "include_prompt"), file)
    _check_width(values, width, file)
    if values.get("include_prompt", True) is not True:
        raise refusal("sentence-prompt", "pooling without the prompt's tokens is not supported", file=file)
    modes = _modes(values, file)
    for mode in modes:
        if mode not in _MODES:
            raise refusal(
                "sentence-pooling-not-supported",
                f"pooling {shown(mode)} is not supported (supported: {', '.join(_MODES)})",
                file=file,
            )
    if len(modes) > _MOST_MODES:
        raise refusal("sentence-pooling-not-supported", f"{len(modes)} poolings are too many", file=file)
    return tuple(_MODES[mode] for mode in modes)


def _check_width(values: dict[str, Any], width: int, file: str) -> None:
    given = [values[key] for key in _WIDTHS if key in values]
    if not given:
        raise refusal("config-missing", f"'{_WIDTHS[0]}' is missing", file=file)
    for value in given:
        if type(value) is not int or value != width:
            raise refusal("sentence-width", f"expected a width of {width} (hidden_size), got {shown(value)}", file=file)


def _modes(values: dict[str, Any], file: str) -> tuple[str, ...]:
    """The pooling modes that are asked for; a file that two versions read in two ways is refused."""
    for key in _FLAGS:
        if not isinstance(values.get(key, False), bool):
            raise refusal("config-type", f"'{key}' must be true/false, got {shown(values[key])}", file=file)
    flagged = tuple(mode for key, mode in _FLAGS.items() if values.get(key, False))
    if "pooling_mode" in values:
        named = values["pooling_mode"]
        listed = named if isinstance(named, list) else [named]
        if not listed or not all(isinstance(mode, str) for mode in listed):
            raise refusal("config-type", f"'pooling_mode' must be a string, got {shown(named)}", file=file)
        if flagged and flagged != tuple(listed):
            raise refusal("sentence-conflict", "pooling_mode and the pooling_mode_* flags disagree", file=file)
        return tuple(listed)
    if "pooling_mode_mean_tokens" not in values and flagged:
        raise refusal(
            "sentence-conflict",
            "'pooling_mode_mean_tokens' is missing: before version 6 that meant true, since then false; say which",
            file=file,
        )
    if not flagged and "pooling_mode_mean_tokens" in values:
        raise refusal("sentence-conflict", "no pooling mode is chosen", file=file)
    return flagged or ("mean",)
