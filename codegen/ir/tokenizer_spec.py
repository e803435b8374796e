# SPDX-License-Identifier: Apache-2.0
"""What a checkpoint's tokenizer files say, checked and with every default made explicit: five parts, each of a kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .character_models import BytesModel, CodePointsModel
from .normalizer_spec import BertNormalizer, CharacterNormalizer, Normalizer, SequenceNormalizer
from .split_spec import CharacterSplit, ExpressionSegmenter
from .template_spec import Template

MOST_WORD_CHARS = 4096  # of WordPiece: scratch grows with it, and so does the time for the worst word
MASKS = ("[MASK]", "<mask>", "<special1>")  # what most tokenizers call theirs; the last one is XLM's


@dataclass(frozen=True)
class AddedToken:
    """A token that is matched before (`normalized` false) or after (true) normalization, as in `tokenizers`."""

    content: str
    id: int
    special: bool
    normalized: bool = False
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False

    @property
    def plain(self) -> AddedToken:
        """The same, found wherever its text is."""
        return AddedToken(self.content, self.id, self.special)


@dataclass(frozen=True)
class BertSegmenter:
    """BertPreTokenizer: words between white space, punctuation alone."""


@dataclass(frozen=True)
class WordPieceModel:
    """The longest piece from the left, those that go on a word with a prefix."""

    pieces: tuple[str | None, ...]  # by id; None where the vocabulary has no piece for that id (an added token, a gap)
    continuing_prefix: str
    max_input_chars_per_word: int
    unknown_id: int


PunctuationRule = Literal["kept", "isolated", "contiguous", "removed", "with_previous", "with_next"]


@dataclass(frozen=True)
class WhitespaceSegmenter:
    """WhitespaceSplit, or Whitespace, which splits words from what is none; maybe with Punctuation beside it."""

    splits_words: bool
    whole_words: bool = True  # the model never takes them apart
    punctuation: PunctuationRule = "kept"


@dataclass(frozen=True)
class SingleCharacterSegmenter:
    """Each character is a word, white space too."""


@dataclass(frozen=True)
class LineWordSegmenter:
    r"""Words as Python finds them by `\S+\n?`: a line feed behind one belongs to it."""


@dataclass(frozen=True)
class MosesSegmenter:
    """English words by Moses' rules, as `sacremoses` has them."""


@dataclass(frozen=True)
class NormalizedMosesSegmenter:
    """The same of a language behind a normalization of punctuation, where it `escapes` as FSMTTokenizer has it, else
    without splits of dashes and escapes, of English as XLMTokenizer, of French as FlaubertTokenizer, which joins
    quotation marks first."""

    language: Literal["english", "french", "german", "russian"]
    lowers: bool  # the text; XLMTokenizer's: each word, which loses its accents, too
    escapes: bool = False

    @property
    def folds_words(self) -> bool:
        """Whether words are in lower case and lose their accents."""
        return self.lowers and self.language == "english" and not self.escapes


@dataclass(frozen=True)
class WordLevelModel:
    """Whole words; others are unknown."""

    pieces: tuple[str | None, ...]  # by id; None where the vocabulary has no piece for that id
    unknown_id: int


@dataclass(frozen=True)
class ByteLevelSegmenter:
    """ByteLevel with GPT-2's expression; a word's symbols are its bytes."""

    add_prefix_space: bool


@dataclass(frozen=True)
class DigitsSegmenter:
    """Digits, then ByteLevel with GPT-2's expression in each part."""

    add_prefix_space: bool
    individual: bool  # each digit alone


@dataclass(frozen=True)
class Cl100kSegmenter:
    """Split with cl100k's expression, then ByteLevel without one of its own."""

    most_digits: int  # of one word


@dataclass(frozen=True)
class ClipSegmenter:
    """Split with CLIP's expression, of which the texts of its special tokens are part, then ByteLevel with GPT-2's."""

    splits: tuple[CharacterSplit, ...]  # what parts a text but for these


END_OF_WORD = "</w>"
GOES_ON = "@@"


def goes_on(piece: str) -> bool:
    """Whether a piece of a model with GOES_ON is of a symbol that does not end its word."""
    return piece.endswith(GOES_ON) and piece != GOES_ON


@dataclass(frozen=True)
class ByteLevelBpeModel:
    """Byte pair encoding over bytes."""

    pieces: tuple[bytes | None, ...]  # by id; None where the vocabulary has no piece for that id
    merges: tuple[tuple[int, int], ...]  # ids, by rank
    ignore_merges: bool  # a word that is a piece stays whole, whatever merging makes of it
    marks_ends: bool = False  # the piece of a word's last byte ends with END_OF_WORD, and all that is made with it


@dataclass(frozen=True)
class CharacterBpeModel:
    """Byte pair encoding over characters, as SentencePiece trains it."""

    pieces: tuple[str | None, ...]  # by id; None for the empty one, which never matches
    merges: tuple[tuple[int, int], ...]  # ids, by rank; several may make a piece
    ignore_merges: bool  # a word that is a piece stays whole, whatever merging makes of it
    unknown_id: int | None
    byte_fallback: bool  # unknown characters are written as pieces `<0x00>` to `<0xFF>`, one for each byte
    fuse_unknown: bool  # neighbouring unknown ones are one token
    without_id: tuple[str, ...] = ()  # pieces, in merges numbered behind the others: each is written as unknown
    marks_goes_on: bool = False  # the piece of a symbol that does not end its word ends with GOES_ON,
    marks_ends: bool = False  # that of one that does with END_OF_WORD
    named: tuple[tuple[str, int], ...] = ()  # texts and ids that unknown text is looked up in, whole

    @property
    def unknown_piece(self) -> str:
        """The text of what unknown text becomes."""
        return self.pieces[self.unknown_id or 0] or ""


METASPACE = "\u2581"  # what SentencePiece has for a space
# Before which words it is put; `doubled`: before those that have one, too.
Prepend = Literal["never", "first", "always", "doubled"]


@dataclass(frozen=True)
class MetaspaceSegmenter:
    """Spaces become U+2581, which is put before words that have none; words begin with it."""

    prepend: Prepend
    split: bool
    split_whitespace: bool  # before that


@dataclass(frozen=True)
class WordSegmenter:
    """Words as they are."""

    add_prefix_space: bool  # before each that begins with none
    whole_words: bool  # the model, which is WordPiece or a list of words, never takes them apart


@dataclass(frozen=True)
class SplitSegmenter:
    """A text is parted at single characters, and its parts as `inner` does it."""

    splits: tuple[CharacterSplit, ...]  # the order does not matter
    inner: ByteLevelSegmenter | MetaspaceSegmenter | WordSegmenter


@dataclass(frozen=True)
class UnigramModel:
    """Of all ways to write a word in pieces the one whose scores have the highest sum."""

    pieces: tuple[str | None, ...]  # by id; None for the empty one, which never matches
    scores: tuple[float, ...]
    unknown_id: int
    byte_fallback: bool  # unknown text is written as pieces `<0x00>` to `<0xFF>`, one for each byte
    without_id: tuple[tuple[str, float], ...] = ()  # pieces and scores: each is written as unknown
    float_sums: bool = False  # of 32 bits, over whole texts, as `sentencepiece` adds; else of 64 bits, of each word
    named: tuple[tuple[str, int], ...] = ()  # texts and ids that unknown text is looked up in, whole


@dataclass(frozen=True)
class Trimming:
    """Offsets leave out the spaces at the ends of a piece of bytes, and the white space that an added token strips."""

    keep_first_space: bool  # but for a single character before a text's first token


@dataclass(frozen=True)
class SentencePieceFile:
    """How `sentencepiece` reads a text: its model, and the ids of pieces and codes by their texts."""

    model: bytes
    ids: Mapping[str, int]


Segmenter = (
    BertSegmenter
    | WhitespaceSegmenter
    | SingleCharacterSegmenter
    | LineWordSegmenter
    | MosesSegmenter
    | NormalizedMosesSegmenter
    | ByteLevelSegmenter
    | DigitsSegmenter
    | Cl100kSegmenter
    | ClipSegmenter
    | ExpressionSegmenter
    | MetaspaceSegmenter
    | SplitSegmenter
)


_OfPieces = WordPieceModel | WordLevelModel | ByteLevelBpeModel | CharacterBpeModel | UnigramModel
Model = _OfPieces | BytesModel | CodePointsModel


@dataclass(frozen=True)
class TokenizerSpec:
    """A tokenizer as a composition of parts."""

    normalizer: Normalizer
    segmenter: Segmenter
    model: Model
    template: Template
    added_tokens: tuple[AddedToken, ...]
    json: str  # a tokenizer.json text that makes `tokenizers` behave the same, without truncation and padding; where
    # only `sentencepiece` does, empty, or of what becomes of ids; of Moses' words what becomes of these; of code points
    # empty
    notes: tuple[str, ...]  # conflicts between files and what was chosen, for the report
    sentencepiece: SentencePieceFile | None = None
    trimming: Trimming | None = None  # of offsets; None: they are of all that a token is made of
    prefix: str = ""  # read before every text: its tokens are in the template

    @property
    def is_of_wheel(self) -> bool:
        """Whether `tokenizers` reads texts by itself."""
        composed = isinstance(self.segmenter, MosesSegmenter | NormalizedMosesSegmenter)
        return self.sentencepiece is None and not composed and not isinstance(self.model, CodePointsModel)

    @property
    def unigram(self) -> UnigramModel:
        """The model, which is one of these."""
        assert isinstance(self.model, UnigramModel)
        return self.model

    @property
    def summary(self) -> str:
        """Its kind in two words, for the report."""
        if isinstance(self.model, ByteLevelBpeModel):
            return "byte-level BPE"
        if isinstance(self.model, BytesModel):
            return "bytes"
        if isinstance(self.model, CodePointsModel):
            return "code points"
        inner = self.segmenter.inner if isinstance(self.segmenter, SplitSegmenter) else None
        words_as_they_are = isinstance(inner, WordSegmenter)
        if isinstance(self.model, CharacterBpeModel):
            whole = LineWordSegmenter | MosesSegmenter | NormalizedMosesSegmenter
            words_as_they_are |= isinstance(self.segmenter, whole)
            return "BPE of characters" if words_as_they_are else "SentencePiece BPE"
        if isinstance(self.model, UnigramModel):
            return "Unigram" if words_as_they_are else "SentencePiece Unigram"
        if isinstance(self.segmenter, SingleCharacterSegmenter):
            return "characters"
        folds = self.normalizer.steps if isinstance(self.normalizer, CharacterNormalizer) else ()
        folds = self.normalizer.folds if isinstance(self.normalizer, SequenceNormalizer) else folds
        uncased = any(step == "Lowercase" or '"lowercase": true' in step for step in folds)
        uncased |= isinstance(self.normalizer, BertNormalizer) and self.normalizer.lowercase
        kind = "words" if isinstance(self.model, WordLevelModel) else "WordPiece"
        return f"{'uncased' if uncased else 'cased'} {kind}"
