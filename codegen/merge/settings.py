# SPDX-License-Identifier: Apache-2.0
"""adapter_config.json of a LoRA adapter (Hu et al., 2021, arXiv:2106.09685), as PEFT 0.21 writes it (LoraConfig)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import EtchError
from ..load.config import Config
from ..load.files import CheckpointFolder
from ..load.folder import ADAPTER_FILE
from ..load.refusal import shown
from .refusal import refusal

# Keys that say nothing about the weights, or only how they were trained.
_HARMLESS = frozenset(
    (
        "auto_mapping",
        "corda_config",
        "ensure_weight_tying",
        "eva_config",
        "exclude_modules",
        "fan_in_fan_out",
        "inference_mode",
        "layers_pattern",
        "layers_to_transform",
        "lora_dropout",
        "lora_ga_config",
        "megatron_core",
        "peft_version",
        "qalora_group_size",
        "revision",
        "runtime_config",
        "target_modules",
        "velora_config",
    )
)
# Beginnings that leave the base's weights as they are; PiSSA, OLoRA, CorDA and LoftQ change them.
_BEGINNINGS = (None, True, False, "gaussian", "eva", "orthogonal")
_LONGEST_PATTERN = 200
_PATTERN = re.compile(r"\^?[\w.]+")


@dataclass(frozen=True)
class LoraSettings:
    """What an adapter says of itself."""

    base: str | None  # the name of the checkpoint it was trained beside
    task: str | None  # of PEFT: SEQ_CLS, CAUSAL_LM ...
    model_class: str | None  # that was adapted, where the file names it
    rank: int
    alpha: float
    ranks: Mapping[str, int]  # by pattern of modules
    alphas: Mapping[str, float]
    by_root: bool  # scaled by the rank's root (Kalajdzievski, 2023, arXiv:2312.03732)
    has_magnitudes: bool  # DoRA (Liu et al., 2024, arXiv:2402.09353)
    saved: tuple[str, ...]  # last names of modules that come whole
    token_rows: tuple[int, ...] | Mapping[str, tuple[int, ...]]  # that come whole; by the embedding's last name

    def rank_of(self, module: str) -> int:
        """Of the two matrices of a module."""
        return _of(self.ranks, module, self.rank)

    def scale_of(self, module: str) -> float:
        """The factor of their product."""
        rank = self.rank_of(module)
        return _of(self.alphas, module, self.alpha) / (math.sqrt(rank) if self.by_root else rank)

    def rows_of(self, module: str) -> tuple[int, ...]:
        """The tokens whose rows of the embedding `module` come whole."""
        if not isinstance(self.token_rows, Mapping):
            return self.token_rows
        return next((rows for name, rows in self.token_rows.items() if f".{module}".endswith(f".{name}")), ())


def read_settings(folder: CheckpointFolder) -> LoraSettings:
    """Of an adapter's folder; another kind of adapter, or of LoRA, is refused."""
    if not folder.has(ADAPTER_FILE):
        message = f"{folder.shown_path} has no {ADAPTER_FILE}; an adapter is a folder as PEFT saves it"
        raise EtchError("config-file-missing", "merge", message)
    config = Config.from_json(folder.read_json(ADAPTER_FILE), ADAPTER_FILE)
    values = config.values
    kind = config.text("peft_type")
    if kind != "LORA":
        raise refusal("adapter-not-supported", f"LoRA is merged, not {shown(kind)}: merge it with PEFT, and save that")
    if values.get("init_lora_weights") not in _BEGINNINGS:
        begun = shown(values["init_lora_weights"])
        message = f"'init_lora_weights' {begun} changes the base's weights, too: save it with PEFT as plain LoRA"
        raise refusal("adapter-not-supported", message)
    mapping = values.get("auto_mapping")
    settings = LoraSettings(
        base=_text(values, "base_model_name_or_path"),
        task=_text(values, "task_type"),
        model_class=_text(mapping, "base_model_class") if isinstance(mapping, Mapping) else None,
        rank=config.positive_int("r"),
        alpha=config.number("lora_alpha"),
        ranks=_by_pattern(values, "rank_pattern", int),
        alphas=_by_pattern(values, "alpha_pattern", float),
        by_root=config.flag("use_rslora", False),
        has_magnitudes=config.flag("use_dora", False),
        saved=() if values.get("modules_to_save") is None else config.strings("modules_to_save"),
        token_rows=_token_rows(values.get("trainable_token_indices")),
    )
    values.get("bias"), values.get("lora_bias")  # what they say, the tensors show
    for key, value in values.not_asked().items():
        if key not in _HARMLESS and value not in (None, False, {}, []):
            raise refusal("adapter-not-supported", f"'{key}' {shown(value)} is not known here: merge it with PEFT")
    return settings


def _text(values: Mapping[str, Any], key: str) -> str | None:
    value = values.get(key)
    return value if isinstance(value, str) and value else None


def _by_pattern(values: Mapping[str, Any], key: str, kind: type[int] | type[float]) -> dict[str, Any]:
    """As PEFT compares them (get_pattern_key): at the end of a module's name, `.` being any character."""
    found = values.get(key) or {}
    if not isinstance(found, Mapping):
        raise refusal("adapter-malformed", f"'{key}' must be an object, got {shown(found)}")
    for pattern, value in found.items():
        if len(pattern) > _LONGEST_PATTERN or not _PATTERN.fullmatch(pattern):
            raise refusal("adapter-not-supported", f"'{key}' has {shown(pattern)}, which is no name of modules")
        if type(value) not in (int, kind) or value <= 0:
            raise refusal("adapter-malformed", f"'{key}' has {shown(value)} for {shown(pattern)}")
    return dict(found)


def _of(by_pattern: Mapping[str, Any], module: str, otherwise: Any) -> Any:
    matching = (value for key, value in by_pattern.items() if re.match(rf"(.*\.)?({key})$", module))
    return next(matching, otherwise)


def _token_rows(value: object) -> tuple[int, ...] | dict[str, tuple[int, ...]]:
    def rows(value: object) -> tuple[int, ...]:
        if not isinstance(value, list) or any(type(row) is not int or row < 0 for row in value):
            raise refusal("adapter-malformed", f"'trainable_token_indices' must be tokens, got {shown(value)}")
        return tuple(value)

    if isinstance(value, Mapping):
        return {name: rows(tokens) for name, tokens in value.items()}
    return () if value is None else rows(value)
