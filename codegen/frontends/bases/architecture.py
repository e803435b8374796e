# SPDX-License-Identifier: Apache-2.0
"""The class that a folder was saved from, as `architectures` of config.json says: whether a family has it here."""

from __future__ import annotations

from collections.abc import Sequence

from ...load.config import Config
from ..shared import parts
from ..task_heads import heads_of_tasks


def check_architecture(
    config: Config,
    *,
    encoder: str,
    classifier: str,
    sentence: bool,
    pre_training: tuple[str, ...] = (),
    others: Sequence[str] | None = None,
) -> None:
    """That the folder was saved from what it is about to be used as: `encoder` with modules.json, else `classifier` or
    the class of another task. `pre_training` are the endings of those whose heads the family's ForPreTraining has,
    `others` the classes of other tasks where the family does not have all of them."""
    architectures = config.architectures
    family = classifier.removesuffix("ForSequenceClassification")
    others = list(heads_of_tasks(family)) if others is None else others
    if not architectures or (encoder if sentence else classifier) in architectures:
        return
    if not sentence and not set(others).isdisjoint(architectures):
        return
    if sentence and classifier in architectures:
        raise parts.refuse(
            "architecture-conflict",
            f"config.json says {classifier}, modules.json makes an embedding of it: for the classifier remove "
            f"modules.json, for the embedding set architectures to {encoder}",
        )
    if not sentence and encoder in architectures:
        raise parts.refuse(
            "modules-missing",
            f"{encoder} gives one vector per token: modules.json of sentence-transformers, which says how to make "
            "one of a text, is missing; or say it with --pooling mean",
        )
    if not sentence and pre_training and f"{family}ForPreTraining" in architectures:
        wanted = " or ".join(f"{family}{ending}" for ending in pre_training)
        raise parts.refuse(
            "heads-several",
            f"{family}ForPreTraining has several heads, a model one: set architectures in config.json to {wanted}",
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
