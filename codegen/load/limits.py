# SPDX-License-Identifier: Apache-2.0
"""What the other files of a folder are held against. Families have their own configuration keys for it."""

from __future__ import annotations

from dataclasses import dataclass

from .config import Config


@dataclass(frozen=True)
class Limits:
    """Of a model, as its configuration says."""

    width: int  # of an encoder's rows
    vocabulary: int  # entries of the embedding
    positions: int  # tokens of the longest text
    positions_key: str  # where that is said
    tokenizer_class: str = "BertTokenizer"  # what `transformers` makes for this family where no file names one
    writes_texts: bool = False  # whether it reads a text and writes another one,
    has_encoder: bool = True  # which begins with a token of its own, not with the text
    target_entries: int | None = None  # of the embedding of what is written, where that may have another vocabulary
    family_writes: bool = False  # whether others of its family do: what they have is then said of encoders, too
    usual_labels: int = 2  # of a classifier that names none
    names_labels: bool = True  # whether a file that names none leaves something to assume
    endless: bool = False  # whether `positions` are a default, and longer texts could be read as well
    word_files: tuple[str, ...] = ()  # by which words have other numbers beside their ids
    padded: bool = False  # whether every text is padded to the longest one's tokens, and the padding read

    @property
    def target_vocabulary(self) -> int:
        """Entries of the embedding of what is written."""
        return self.vocabulary if self.target_entries is None else self.target_entries


def usual_limits(config: Config, tokenizer_class: str = "BertTokenizer") -> Limits:
    """By the keys that most families have."""
    key = "max_position_embeddings"
    width, vocabulary = config.positive_int("hidden_size"), config.positive_int("vocab_size")
    return Limits(width, vocabulary, config.positive_int(key), key, tokenizer_class)
