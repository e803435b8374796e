# SPDX-License-Identifier: Apache-2.0
"""The class that a folder was saved from, as `architectures` of config.json says: whether a family has it here."""

from __future__ import annotations

from collections.abc import Sequence

from ...load.checkpoint import Checkpoint
from ...load.config import Config
from ..shared import parts
from ..task_heads import heads_of_tasks

CLASSIFIER_ENDING, ENCODER_ENDING = "ForSequenceClassification", "Model"


def check_architecture(
    checkpoint: Checkpoint,
    name: str,
    encoder_ending: str = ENCODER_ENDING,
    classifier_ending: str = CLASSIFIER_ENDING,
    *,
    pre_training: tuple[str, ...] = (),
    others: Sequence[str] | None = None,
) -> None:
    """That the folder was saved from what it is about to be used as: any class but the classifier with modules.json,
    else the classifier or the class of another task. `name` is what the family's classes begin with, `pre_training` are
    the endings of those whose heads its ForPreTraining has, `others` the classes of other tasks where it does not have
    all of them."""
    architectures, sentence = checkpoint.config.architectures, checkpoint.sentence is not None
    encoder, classifier = f"{name}{encoder_ending}", f"{name}{classifier_ending}"
    others = list(heads_of_tasks(name)) if others is None else others
    if not architectures or (encoder if sentence else classifier) in architectures:
        return
    if not sentence and not set(others).isdisjoint(architectures):
        return
    if sentence and classifier in architectures and checkpoint.asked_pooling is None:
        raise parts.refuse(
            "architecture-conflict",
            f"config.json says {classifier}, modules.json makes an embedding of it: for the classifier remove "
            f"modules.json, for the embedding set architectures to {encoder}",
        )
    if sentence:
        return  # sentence-transformers makes the encoder alone of it, by its model type, whatever its class
    if encoder in architectures:
        raise parts.refuse(
            "modules-missing",
            f"{encoder} gives one vector per token: modules.json of sentence-transformers, which says how to make "
            "one of a text, is missing; or say it with --pooling mean",
        )
    if pre_training and f"{name}ForPreTraining" in architectures:
        wanted = " or ".join(f"{name}{ending}" for ending in pre_training)
        raise parts.refuse(
            "heads-several",
            f"{name}ForPreTraining has several heads, a model one: set architectures in config.json to {wanted}",
        )
    named = ", ".join(architectures)
    supported = f"{', '.join((classifier, *others))}, or {encoder} with the modules.json of sentence-transformers"
    raise parts.refuse(
        "architecture-not-supported", f"architecture '{named}' is not supported (supported: {supported})"
    )


def check_class(config: Config, *supported: str) -> None:
    """That the folder, where it says so, was saved from one of the classes that a family has here."""
    if config.architectures and set(supported).isdisjoint(config.architectures):
        named = ", ".join(config.architectures)
        message = f"architecture '{named}' is not supported (supported: {', '.join(supported)})"
        raise parts.refuse("architecture-not-supported", message)


def check_own_code(config: Config, name: str) -> None:
    """That the classes which come with a checkpoint, where it names some, begin with `name`: those of a model type that
    no library has, whose name another program's code may have, too."""
    own = [named.rpartition(".")[2] for named in config.own_classes]
    other = [each for each in own if not each.startswith(name)]
    if other:
        message = f"model type '{config.model_type}' is read as {name}{ENCODER_ENDING}, auto_map names {other[0][:60]}"
        raise parts.refuse("remote-code", f"{message}: code that comes with the checkpoint is never run")
