# SPDX-License-Identifier: Apache-2.0
"""M2M-100's tokenizer of a folder without tokenizer.json: sentencepiece.bpe.model finds the pieces of a text,
vocab.json says their ids, and the codes of languages are behind all of these. As M2M100Tokenizer of `transformers` 5.23
has it.

Merges follow from the pieces: all pairs that spell one, those of the highest score first, as the `sentencepiece`
library merges. Pieces without an id take part in that and are unknown then; of the published models some are.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from ....ir.template_spec import Template, TemplatePart
from ....ir.tokenizer_spec import (
    METASPACE,
    AddedToken,
    CharacterBpeModel,
    TokenizerSpec,
)
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..folder_tokens import FolderTokens, read_tokens
from ..sentencepiece_model import BPE, CONTROL, NORMAL, SentencePieceModel
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import (
    check_are_added,
    check_is_added,
    check_unsupported,
    class_of,
    content_of,
    has_segments,
    read_config,
)
from ..tokenizer_json.fields import FILE as JSON_FILE
from .llama import derived_merges
from .looked_up_pieces import (
    MAX_MODEL_BYTES,
    VOCAB_FILE,
    normal_pieces,
    pieces_by_id,
    read_ids,
    read_model,
    texts_of_unknown,
)
from .sentencepiece_class import spec_of

FILE = "sentencepiece.bpe.model"
_CLASS = "M2M100Tokenizer"
_TOKENS: dict[str, object] = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
}
_LANGUAGE = "en"  # where no file says it
# By `language_codes`, in the order of their ids.
_CODES = {
    "m2m100": """
        af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr ht hu hy
        id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro ru
        sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu
    """,
    "wmt21": "en ha is ja cs ru zh de",
}


def is_m2m_folder(folder: CheckpointFolder) -> bool:
    """Whether a folder has its files."""
    return folder.has(VOCAB_FILE) and folder.has(FILE) and not folder.has(JSON_FILE)


def read_m2m_folder(folder: CheckpointFolder, vocab_size: int, class_in_config: object) -> TokenizerSpec:
    """Of texts, and of what is written; no id reaches `vocab_size`. `class_in_config` is as in `WordPieceConfig`."""
    config = read_config(folder)
    check_unsupported(config)
    if class_of(config, class_in_config, _CLASS, supported=(_CLASS,), model=f"{VOCAB_FILE} and {FILE}") != _CLASS:
        raise refusal("tokenizer-class", f"only {_CLASS} has {VOCAB_FILE} and {FILE}", file=CONFIG_FILE)
    for key, asked in (
        ("sp_model_kwargs", config.get("sp_model_kwargs")),
        ("model_input_names", has_segments(config, usual=False)),
    ):
        if asked:
            raise refusal("tokenizer-setting", f"'{key}': {shown(config[key])} is not supported", file=CONFIG_FILE)
    vocab = read_ids(folder, vocab_size)
    codes = _codes(config, vocab, vocab_size)
    tokens = read_tokens(folder, config, None, _TOKENS, rebuilds=True)
    added = _added_tokens(tokens, vocab, codes)
    raw = folder.read(FILE, MAX_MODEL_BYTES)
    model = read_model(raw, FILE, vocab, BPE)
    special = [token.content for token in added if token.special]
    check_bpe(model, vocab, special)
    normal, unknown_id = normal_pieces(model), vocab[tokens.special["unk_token"]]
    language, end = (TemplatePart(i, 0) for i in (_language(config, codes), vocab[tokens.special["eos_token"]]))
    first, second = TemplatePart("A", 0), TemplatePart("B", 0)
    ids = vocab | codes
    found = bpe_of(normal, vocab, unknown_id, special)
    template = Template(single=(language, first, end), pair=(language, first, second, end))
    notes = tokens.notes + _notes(vocab, normal, special, len(ids), vocab_size)
    return spec_of(raw, model.charsmap, found, ids, added, template, notes)


def language_codes(config: dict[str, Any], known: Collection[str], usual: str) -> str:
    """Which of the `known` lists of languages `language_codes` names."""
    name = config.get("language_codes", usual)
    if not isinstance(name, str) or name not in known:
        message = f"'language_codes': {shown(name)} is not supported, only {', '.join(map(shown, known))}"
        raise refusal("tokenizer-setting", message, file=CONFIG_FILE)
    return name


def _codes(config: dict[str, Any], vocab: dict[str, int], vocab_size: int) -> dict[str, int]:
    """The tokens of languages, and their ids."""
    name = language_codes(config, _CODES, "m2m100")
    codes = {f"__{code}__": len(vocab) + i for i, code in enumerate(_CODES[name].split())}
    own = next((code for code in codes if code in vocab), None)
    if own is not None:
        message = f"it has {shown(own)}, a token that {_CLASS} puts behind its pieces"
        raise refusal("tokenizer-conflict", message, file=VOCAB_FILE)
    if len(vocab) + len(codes) > vocab_size:
        message = f"{len(vocab)} pieces and {len(codes)} languages, the word embedding has only {vocab_size} rows"
        raise refusal("token-id-out-of-range", message, file=VOCAB_FILE)
    return codes


def _language(config: dict[str, Any], codes: dict[str, int]) -> int:
    """The token of the language that texts are in."""
    code = config.get("src_lang") or _LANGUAGE
    token = codes.get(f"__{code}__")
    if token is None:
        message = f"'src_lang': {shown(code)} is none of the {len(codes)} languages of the tokenizer"
        raise refusal("tokenizer-setting", message, file=CONFIG_FILE)
    return token


def _added_tokens(tokens: FolderTokens, vocab: dict[str, int], codes: dict[str, int]) -> list[AddedToken]:
    """Those that are found in texts before all else: special ones of vocab.json, and codes that a file lists."""
    listed = {content_of(value, key, file): file for key, value, file in tokens.extra}
    ids = vocab | codes
    added = [replace(t, normalized=False, special=t.special or t.content in listed) for t in tokens.of(vocab)]
    for token in added:
        number = ids.get(token.content)
        if number is None:
            message = f"{VOCAB_FILE} has no {shown(token.content)}, an added token"
            raise refusal("missing-special-token", message, file=VOCAB_FILE)
        if number != token.id:
            message = f"added token {shown(token.content)} has the id {token.id} here, it is {number}"
            raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
        if token.single_word:
            message = f"added token {shown(token.content)} has single_word, which is not supported with {FILE}"
            raise refusal("added-token-unsupported", message, file=CONFIG_FILE)
    known = {token.content for token in added}
    if not known & codes.keys():  # they get the next ids, in the order of the list
        if [text for text in listed if text not in known] != [*codes]:
            message = f"the files list other special tokens than the {len(codes)} of languages, in the class's order"
            raise refusal("tokenizer-conflict", message, file=next(iter(listed.values()), CONFIG_FILE))
        added += [AddedToken(text, number, special=True) for text, number in codes.items()]
    by_text = {token.content: token for token in added}
    for code in codes:
        check_is_added(code, "language_codes", by_text, "the list of added tokens", CONFIG_FILE)
    check_are_added(tokens.extra, by_text, VOCAB_FILE)
    return added


def check_bpe(model: SentencePieceModel, vocab: dict[str, int], special: Collection[str]) -> None:
    """Refuses what BPE of the runtime does not do as the library."""
    normal = normal_pieces(model)
    odd = next((p.text for p in model.pieces if p.type != NORMAL and p.text in vocab and p.text not in special), None)
    if odd is not None:
        message = f"{shown(odd)} reads as nothing or as unknown: it must be a special token"
        raise refusal("sentencepiece-setting", message, file=FILE)
    single = next((piece.text for piece in model.pieces if piece.type == CONTROL and len(piece.text) == 1), None)
    if single is not None:
        raise refusal("sentencepiece-setting", f"the control piece {shown(single)} is one character", file=FILE)
    spelled = next((text for text in normal if any(c not in normal for c in text)), None)
    if spelled is not None:
        message = f"the piece {shown(spelled)} has a character that is no piece"
        raise refusal("sentencepiece-setting", message, file=FILE)
    scores: dict[float, str] = {}
    for text, score in normal.items():
        if len(text) > 1 and scores.setdefault(score, text) != text:
            message = (
                f"{shown(scores[score])} and {shown(text)} have one score: which is merged first would not be known"
            )
            raise refusal("sentencepiece-setting", message, file=FILE)


def bpe_of(
    scores: dict[str, float], vocab: dict[str, int], unknown_id: int, special: Collection[str]
) -> CharacterBpeModel:
    """Merges are all that spell a piece, those of the highest score first."""
    pieces = pieces_by_id(vocab, scores)
    without_id = tuple(text for text in scores if text not in vocab)
    number = {text: i for i, text in enumerate((*pieces, *without_id)) if text is not None}
    by_score = sorted(scores, key=scores.__getitem__, reverse=True)
    merges = derived_merges({text: rank for rank, text in enumerate(by_score)})
    return CharacterBpeModel(
        pieces=pieces,
        merges=tuple((number[left], number[right]) for left, right in merges),
        ignore_merges=False,
        unknown_id=unknown_id,
        byte_fallback=False,
        fuse_unknown=True,
        without_id=without_id,
        named=tuple((text, i) for text, i in texts_of_unknown(vocab, scores) if text not in special),
    )


def _notes(
    vocab: dict[str, int], normal: Collection[str], special: Collection[str], count: int, vocab_size: int
) -> tuple[str, ...]:
    """What is written otherwise than M2M100Tokenizer writes it, of ids that a trained model hardly writes."""
    notes = []
    if count < vocab_size:
        notes.append(f"the ids {count} to {vocab_size - 1} have no piece: written, they add nothing, there '<unk>'")
    odd = [text for text in vocab if text not in normal and text not in special and METASPACE in text]
    if odd:
        notes.append(
            f"{len(odd)} pieces that {FILE} lacks, as {shown(odd[0])}: U+2581 reads as a space, there as itself"
        )
    white = [text for text in vocab if text != text.strip()]
    if white:
        notes.append(
            f"{len(white)} pieces begin or end with white space other than U+2581, which ends of texts lose there"
        )
    return tuple(notes)
