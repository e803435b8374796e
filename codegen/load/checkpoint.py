# SPDX-License-Identifier: Apache-2.0
"""What a checkpoint folder holds, as one frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..errors import EtchError
from ..ir.target_tokenizer import TargetTokenizer
from ..ir.tokenizer_spec import TokenizerSpec
from .config import Config
from .generation_config import MOST_BEAMS, GenerationSettings
from .gru_head import GruHead
from .multi_vector import MultiVectorModules
from .safetensors import TensorFile
from .sentence import Pooling, SentenceModules
from .splade import SparsePooling
from .tokenizer_files.languages import Languages


@dataclass(frozen=True)
class Checkpoint:
    """What a folder holds, every file checked by itself; the front-end checks the tensors against the config."""

    config: Config
    tensors: TensorFile
    tokenizer: TokenizerSpec
    default_max_tokens: int
    max_tokens_source: str  # file and key that the default comes from
    digest: str  # of every file that was read
    # What follows the encoder where that is not the checkpoint's own head.
    sentence: SentenceModules | MultiVectorModules | GruHead | None
    notes: tuple[str, ...]  # assumptions and settings that were not used, for the report
    kept_ids: tuple[int, ...] | None = None  # the entries of the vocabulary that are left; None where all are
    terms: str | None = None  # that it is under, as far as the folder says
    asked_pooling: Pooling | None = None  # of an encoder alone, whose folder says none
    asked_task: str | None = None  # by `--task`: another one than the folder says
    asked_languages: Languages | None = None  # by `--languages`
    asked_dimensions: int | None = None  # by `--dimensions`: so many of an embedding's values
    sparse: SparsePooling | None = None  # of a masked language model: weights of its words in place of its masks
    word_numbers: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # of each id, by `Limits.word_files`
    target: TargetTokenizer | None = None  # of a generative model; `tokenizer` is then that of the source
    generation: GenerationSettings | None = None  # how it writes them
    heads: tuple[tuple[str, Checkpoint], ...] = ()  # by name, where there are several: its own is then not used
    files: Mapping[str, str] = field(default_factory=dict)  # SHA-256 of all that were read, its terms too, by name


def with_beams(checkpoint: Checkpoint, beams: int | None) -> Checkpoint:
    """`--beams`: the checkpoint as if its folder said so many, where it is said."""
    if beams is None:
        return checkpoint
    if checkpoint.generation is None:
        message = f"--beams is for generative models: {checkpoint.config.model_type} is none"
        raise EtchError("option-conflict", "arguments", message)
    if not 1 <= beams <= MOST_BEAMS:
        raise EtchError("generation-value", "arguments", f"--beams {beams}: 1 to {MOST_BEAMS} are supported")
    settings = checkpoint.generation
    if beams > 1 and settings.sampling is not None:
        message = f"--beams {beams}: the folder draws its tokens (do_sample), a search draws nothing"
        raise EtchError("option-conflict", "arguments", message)
    return replace(checkpoint, generation=replace(settings, search=replace(settings.search, beams=beams)))
