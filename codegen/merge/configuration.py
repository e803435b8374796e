# SPDX-License-Identifier: Apache-2.0
"""config.json of a merged checkpoint: the base's, with the class that was adapted and what its new tensors say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..ir.parameter import F32Array
from ..load.folder import CONFIG_FILE
from ..load.refusal import shown
from .refusal import refusal
from .settings import LoraSettings

# How a class of transformers ends, by the task that PEFT adapts it for. Those of the others write texts.
_ENDINGS = {
    "SEQ_CLS": "ForSequenceClassification",
    "TOKEN_CLS": "ForTokenClassification",
    "QUESTION_ANS": "ForQuestionAnswering",
    "FEATURE_EXTRACTION": "Model",
}
_WRITING = ("CAUSAL_LM", "SEQ_2_SEQ_LM")
_CLASS = re.compile(r"(?P<family>\w+?)(?:For[A-Z]\w*|(?:With)?LMHeadModel|MTModel|Model)")
_LABELLED = re.compile(r"(?:classifier|score|(?:classifier|classification_head)\.out_proj)\.weight")
_WORDS = re.compile(r"(?:.*\.)?(?:word_embeddings|tok_embeddings|embed_tokens|embed_in|wte|shared)\.weight")
_WORDS_HEAD = re.compile(r"(?:lm_head|embed_out|output_projection|lm_head\.decoder|cls\.predictions\.decoder)\.weight")
_PREDICTING = re.compile(r"\w+(?:ForCausalLM|LMHeadModel|MTModel|ForConditionalGeneration|ForMaskedLM|ForPreTraining)")


def is_words_head(name: str) -> bool:
    """Whether the tensor makes logits of words."""
    return _WORDS_HEAD.fullmatch(name) is not None


def is_words(name: str) -> bool:
    """Whether the tensor is the embedding of words."""
    return _WORDS.fullmatch(name) is not None


def predicts_words(model_class: str) -> bool:
    """Whether the class has logits of words."""
    return _PREDICTING.fullmatch(model_class) is not None


def class_of(config: Mapping[str, Any]) -> str:
    """The one that config.json names."""
    named = config.get("architectures")
    if not isinstance(named, (list, tuple)) or len(named) != 1 or not isinstance(named[0], str):
        raise refusal("adapter-class", f"'architectures' must name one class, got {shown(named)}", file=CONFIG_FILE)
    return named[0]


def adapted_class(base: str, settings: LoraSettings) -> str:
    """The class that was adapted, where the base's is `base`."""
    if settings.model_class is not None:
        return settings.model_class
    task = settings.task
    if task in _WRITING and not predicts_words(base):
        raise refusal("adapter-class", f"'task_type' {task} writes texts, the base's class {shown(base)} does not")
    if task is None or task in _WRITING or base.endswith(_ENDINGS.get(task, "?")):
        return base
    found = _CLASS.fullmatch(base)
    if task not in _ENDINGS or found is None:
        raise refusal("adapter-class", f"'task_type' {shown(task)} of a {shown(base)} is not known here")
    return found["family"] + _ENDINGS[task]


def merged_config(
    config: Mapping[str, Any], model_class: str, whole: Mapping[str, F32Array], labels: tuple[str, ...] | None
) -> dict[str, Any]:
    """The base's `config` as that of `model_class`, with new tensors `whole`; `labels` name its classes."""
    changed: dict[str, Any] = {"architectures": [model_class]}
    words = next((values for name, values in whole.items() if is_words(name)), None)
    if words is not None and words.ndim == 2:
        changed["vocab_size"] = len(words)
    labelled = next((values for name, values in whole.items() if _LABELLED.fullmatch(name)), None)
    classes = len(labelled) if labelled is not None and labelled.ndim != 0 else None
    told = config.get("id2label")
    if labels is not None and classes is not None and classes != len(labels):
        raise refusal("label-count", f"--labels has {len(labels)} names, the adapter {classes} classes")
    if labels is None and classes is not None and not (isinstance(told, Mapping) and len(told) == classes):
        labels = tuple(f"LABEL_{index}" for index in range(classes))
    if labels is not None:
        changed["id2label"] = {str(index): label for index, label in enumerate(labels)}
        changed["label2id"] = {label: index for index, label in enumerate(labels)}
    return {**{key: value for key, value in config.items() if labels is None or key != "num_labels"}, **changed}
