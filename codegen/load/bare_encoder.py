# SPDX-License-Identifier: Apache-2.0
"""`--pooling`: an encoder without the files of sentence-transformers, which say how its rows become one."""

from __future__ import annotations

from dataclasses import replace

from ..errors import EtchError
from .checkpoint import Checkpoint
from .gru_head import GruHead
from .head_file import FILE
from .multi_vector import MultiVectorModules
from .sentence import Pooling, SentenceModules


def is_bare(checkpoint: Checkpoint) -> bool:
    """Whether the folder holds an encoder alone, as far as it says what it holds. Generative models are none,
    though the names of some end alike: MarianMTModel."""
    if checkpoint.sentence is not None or checkpoint.generation is not None:
        return False
    return bool(checkpoint.config.architectures) and not checkpoint.config.has_head


def with_pooling(checkpoint: Checkpoint, pooling: Pooling | None) -> Checkpoint:
    """The checkpoint as if its folder had the Pooling module, and no other, where one is asked for: the encoder of
    whatever class, or the rows of a decoder, as sentence-transformers makes a model of such a folder."""
    if pooling is None:
        return checkpoint
    if isinstance(checkpoint.sentence, GruHead):
        raise _refuse(f"{FILE} says what reads the rows: leave --pooling out")
    if isinstance(checkpoint.sentence, MultiVectorModules):
        raise _refuse("modules.json says that tokens have vectors of their own: leave --pooling out")
    if checkpoint.sentence is not None:
        raise _refuse(f"modules.json says pooling {checkpoint.sentence.pooling}: leave --pooling out")
    if checkpoint.sparse is not None:
        raise _refuse("modules.json says how words are weighed: leave --pooling out")
    if checkpoint.generation is not None or checkpoint.heads:
        named = ", ".join(checkpoint.config.architectures) or "no class"
        raise _refuse(f"--pooling is for an encoder alone, config.json says {named}")
    of_labels = checkpoint.config.notes()  # those of a head
    return replace(
        checkpoint,
        sentence=SentenceModules(pooling, (), normalize=False),
        asked_pooling=pooling,
        notes=tuple(note for note in checkpoint.notes if note not in of_labels),
    )


def _refuse(message: str) -> EtchError:
    return EtchError("option-conflict", "arguments", message)
