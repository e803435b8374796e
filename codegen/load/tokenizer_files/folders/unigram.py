# SPDX-License-Identifier: Apache-2.0
"""SentencePiece's Unigram of a folder: tokenizer.json, or SentencePiece's own file, and what the files beside them say.

A tokenizer.json counts as it is, as for the `tokenizers` library. `transformers` 5.23 rebuilds the classes below from
its vocabulary and compiled map alone: where the other parts would be different ones that is said in a note, and where a
file of the folder asks for something else than tokenizer.json does it is a `tokenizer-conflict`. SentencePiece's own
file is read as these classes, and DeBERTa's, read it. Others need tokenizer.json, whose parts count whatever
`transformers` makes.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ....ir.normalizer_spec import (
    CharsmapNormalizer,
    FoldingNormalizer,
    FormCharsmapNormalizer,
    Normalizer,
    SequenceNormalizer,
)
from ....ir.tokenizer_spec import METASPACE, TokenizerSpec
from ...files import CheckpointFolder
from ...refusal import refusal, shown
from ..folder_tokens import DEBERTA_TOKENS, ROBERTA_TOKENS, FolderTokens, own_tokens, read_tokens, with_vocabulary
from ..sentencepiece_model import UNIGRAM, SentencePieceModel, read_sentencepiece_model
from ..tokenizer_config import FILE as CONFIG_FILE
from ..tokenizer_config import (
    check_segments,
    check_unsupported,
    class_of,
    content_of,
    flag_of,
    has_segments,
    needs_json,
    read_config,
)
from ..tokenizer_json.fields import FILE as JSON_FILE
from ..tokenizer_json.metaspace import prepend_of
from ..tokenizer_json.template import read_post_processor, template_of, without_segments
from ..tokenizer_json.unigram import is_unigram, read_unigram_json
from .kept_classes import KEPT_CLASSES, kept_differences
from .mbart import CLASSES as MBART
from .mbart import mbart_differences
from .pegasus import CLASS as PEGASUS
from .pegasus import TOKENS as PEGASUS_TOKENS
from .pegasus import pegasus_differences, pegasus_vocabulary

_FAIRSEQ_FILE, _OWN_FILE = "sentencepiece.bpe.model", "spiece.model"
MODEL_FILES = (_FAIRSEQ_FILE, _OWN_FILE, "spm.model", "tokenizer.model")
_MAX_MODEL_BYTES = 32 << 20
_MOST_EXTRA_IDS = 10_000
BARE = CharsmapNormalizer((False, False), None, (False, False), None)  # without a map, and what follows it
_WITH_MAP = FoldingNormalizer | FormCharsmapNormalizer  # before it

Vocabulary = list[tuple[str, float]]


@dataclass(frozen=True)
class SentencePieceClass:
    """One of the classes of `transformers`."""

    file: str  # SentencePiece's
    special_tokens: dict[str, object]  # by their keys, in the order in which they are added, with their defaults
    unknown_id: int
    vocabulary: Callable[[Vocabulary], Vocabulary]  # of SentencePiece's pieces
    single: str  # the template, `$A` and `$B` the texts
    pair: str
    folds: bool = False  # by the settings `do_lower_case` and `keep_accents`
    second_segment: int = 0  # of a pair's second text, if the model is told of segments
    composes: bool = False  # NFC and single spaces instead of the compiled map; the model is told of segments
    prepends_always: bool = False  # whatever `add_prefix_space` says
    has_extra_ids: bool = False  # as many as the setting says, special tokens, the last one first behind the pieces


def _xlm_roberta(pieces: Vocabulary) -> Vocabulary:
    first = ((text, 0.0) for text in ("<s>", "<pad>", "</s>", "<unk>"))
    return [*first, *pieces[3:], ("<mask>", 0.0)]


def _camembert(pieces: Vocabulary) -> Vocabulary:
    first = ((text, 0.0) for text in ("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>"))
    return [*first, ("<unk>NOTUSED", -100.0), *pieces[1:], ("<mask>", 0.0)]


_STRIPPING_MASK = {"content": "<mask>", "lstrip": True, "rstrip": False, "single_word": False, "normalized": False}
_ALBERT_TOKENS = ROBERTA_TOKENS | {
    "bos_token": "[CLS]",
    "eos_token": "[SEP]",
    "sep_token": "[SEP]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
_T5_TOKENS: dict[str, object] = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
_BERT_TEMPLATE = "[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]"
_ROBERTA_TEMPLATE = "<s> $A </s>", "<s> $A </s> </s> $B </s>"
CLASSES = {
    "XLMRobertaTokenizer": SentencePieceClass(_FAIRSEQ_FILE, ROBERTA_TOKENS, 3, _xlm_roberta, *_ROBERTA_TEMPLATE),
    "CamembertTokenizer": SentencePieceClass(
        _FAIRSEQ_FILE, ROBERTA_TOKENS | {"mask_token": _STRIPPING_MASK}, 3, _camembert, *_ROBERTA_TEMPLATE
    ),
    "AlbertTokenizer": SentencePieceClass(
        _OWN_FILE, _ALBERT_TOKENS, 1, list, *_BERT_TEMPLATE, folds=True, second_segment=1
    ),
    "T5Tokenizer": SentencePieceClass(
        _OWN_FILE, _T5_TOKENS, 2, list, "$A </s>", "$A </s> $B </s>", prepends_always=True, has_extra_ids=True
    ),
}
# `transformers` 5.23 makes this one without the compiled map, with NFC.
_DEBERTA = "DebertaV2Tokenizer"
_DEBERTA_CLASS = SentencePieceClass(
    "spm.model", DEBERTA_TOKENS, 1, list, *_BERT_TEMPLATE, second_segment=1, composes=True
)
_FNET = "FNetTokenizer"
_IN_JSON: dict[str, dict[str, object]] = {
    _DEBERTA: DEBERTA_TOKENS,
    _FNET: _ALBERT_TOKENS,  # for which the library makes other ids of SentencePiece's file than ALBERT's
    PEGASUS: PEGASUS_TOKENS,
    **dict.fromkeys(MBART, ROBERTA_TOKENS),
    **{name: kept.special_tokens for name, kept in KEPT_CLASSES.items()},
}


def is_unigram_folder(folder: CheckpointFolder, described: dict[str, Any] | None) -> bool:
    """Whether a folder has such a tokenizer; `described` is its tokenizer.json."""
    if described is None:
        return _model_file(folder) is not None
    return is_unigram(described.get("model"))


def read_unigram_folder(
    folder: CheckpointFolder, described: dict[str, Any] | None, class_in_config: object, usual_class: str
) -> TokenizerSpec:
    """The tokenizer of a folder whose tokenizer.json is `described`, or that has none. `class_in_config` and
    `usual_class` are as in `WordPieceConfig`."""
    config = read_config(folder)
    check_unsupported(config, has_template=described is not None)
    supported = (*CLASSES, *_IN_JSON)
    name = class_of(config, class_in_config, usual_class, supported=supported, model="SentencePiece")
    known = CLASSES.get(name)
    file = _model_file(folder)
    model = read_sentencepiece_model(folder.read(file, _MAX_MODEL_BYTES), file) if file is not None else None
    usual = known.special_tokens if known is not None else _IN_JSON.get(name, ROBERTA_TOKENS)
    spec = None if described is None else _as_described(config, described, with_segments=name in (_DEBERTA, _FNET))
    if spec is not None:
        described = with_vocabulary(described, spec)
    tokens = read_tokens(folder, config, described, usual, known is not None or name in _IN_JSON)
    if spec is not None:
        if model is not None:
            _check_same_model(spec, model, f"{file}", is_deberta=name == _DEBERTA)
        if known is not None:
            spec = replace(spec, notes=spec.notes + _differences(config, name, known, spec, tokens))
        elif name == _DEBERTA:
            spec = replace(spec, notes=spec.notes + _deberta_differences(config, spec, tokens))
        elif name in MBART:
            spec = replace(spec, notes=spec.notes + mbart_differences(config, name, spec, tokens))
        elif name in KEPT_CLASSES:
            spec = replace(spec, notes=spec.notes + kept_differences(config, name, spec, tokens))
        elif name == PEGASUS:
            spec = replace(spec, notes=spec.notes + pegasus_differences(config, spec, tokens))
    elif known is not None or name == _DEBERTA:
        assert model is not None
        spec = _of_model(config, known or _DEBERTA_CLASS, model, f"{file}", tokens)
    else:
        raise needs_json(config, class_in_config, usual_class)
    tokens.check(spec)
    return replace(spec, notes=spec.notes + tokens.notes)


def _model_file(folder: CheckpointFolder) -> str | None:
    names = [name for name in MODEL_FILES if folder.has(name)]
    if len(names) > 1:
        raise refusal("tokenizer-conflict", f"the folder has {names[0]} as well", file=names[1])
    return names[0] if names else None


def _as_described(config: dict[str, Any], described: dict[str, Any], *, with_segments: bool) -> TokenizerSpec:
    """`with_segments`: whether the class tells the model of them where the files do not say."""
    with_segments = has_segments(config, usual=with_segments)
    spec = read_unigram_json(described if with_segments else without_segments(described))
    check_segments(spec, with_segments=with_segments)
    return spec


def _check_same_model(spec: TokenizerSpec, model: SentencePieceModel, file: str, *, is_deberta: bool) -> None:
    """Where the folder has both files they must agree: different tools read either."""
    scores = np.array(spec.unigram.scores, np.float32).tolist()
    here = list(zip((piece or "" for piece in spec.unigram.pieces), scores, strict=True))
    pieces = [(piece.text, piece.score) for piece in model.pieces]
    extra = [(f"<extra_id_{i}>", 0.0) for i in reversed(range(len(here) - len(pieces)))]
    kinds = [kind.vocabulary(pieces) + (extra if kind.has_extra_ids else []) for kind in CLASSES.values()]
    if not any(_same(here, vocabulary) for vocabulary in (*kinds, pegasus_vocabulary(pieces))):
        raise refusal("tokenizer-conflict", f"{JSON_FILE} has other pieces or scores", file=file)
    normalizer = spec.normalizer.rest if isinstance(spec.normalizer, _WITH_MAP) else spec.normalizer
    if is_deberta and isinstance(normalizer, SequenceNormalizer):  # then the map does not count
        return
    if not isinstance(normalizer, CharsmapNormalizer) or (normalizer.charsmap or b"") != model.charsmap:
        raise refusal("tokenizer-conflict", f"{JSON_FILE} has another compiled map of characters", file=file)


def _same(here: Vocabulary, there: Vocabulary) -> bool:
    """Up to the unknown piece's score, and 100 less for a number with a comma, which ALBERT's converter makes of it."""
    if [text for text, _ in here] != [text for text, _ in there]:
        return False
    scores = zip(here, there, strict=True)
    return all(ours == theirs or ours == np.float32(theirs - 100) for (_, ours), (_, theirs) in scores)


def _differences(
    config: dict[str, Any], name: str, known: SentencePieceClass, spec: TokenizerSpec, tokens: FolderTokens
) -> tuple[str, ...]:
    """Notes of what `transformers` makes otherwise; what it is told to make otherwise is refused."""
    rebuilt = _described(config, known, b"", [], {}, None)
    expected = read_unigram_json(rebuilt, scores=(0.0,) * len(rebuilt["model"]["vocab"]))
    normalizer: Normalizer = spec.normalizer
    ours, rest = normalizer, normalizer
    if isinstance(normalizer, _WITH_MAP):
        ours, rest = replace(normalizer, rest=BARE), normalizer.rest
    elif isinstance(normalizer, CharsmapNormalizer):
        ours = BARE
    is_bare = isinstance(rest, CharsmapNormalizer) and rest == replace(BARE, charsmap=rest.charsmap)
    if ours != expected.normalizer and (known.folds and {"do_lower_case", "keep_accents"} & set(config)):
        message = f"do_lower_case and keep_accents ask for another normalizer than {JSON_FILE} has"
        raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
    segmenter, wanted = spec.segmenter, expected.segmenter
    if "add_prefix_space" in config and prepend_of(segmenter) != prepend_of(wanted):
        raise refusal("tokenizer-conflict", f"add_prefix_space is not what {JSON_FILE} says", file=CONFIG_FILE)
    special = {token.content for token in spec.added_tokens if token.special}
    missing = set(_extra_ids(config)) - special if known.has_extra_ids and not _names_extra_ids(tokens) else set()
    if missing:
        message = f"{name} of transformers adds {shown(min(missing))}, {JSON_FILE} does not list it"
        raise refusal("tokenizer-conflict", message, file=CONFIG_FILE)
    if spec.unigram.unknown_id != known.unknown_id or spec.unigram.byte_fallback:
        message = f"{name} of transformers has the unknown piece {known.unknown_id} and no byte fallback"
        raise refusal("tokenizer-conflict", f"{message}, {JSON_FILE} something else", file=JSON_FILE)
    parts = [
        ("normalizer", ours == expected.normalizer and is_bare),
        ("pre_tokenizer", segmenter == wanted),
        ("post_processor", _other_token(known, tokens) is None and _same_template(config, known, spec)),
    ]
    return tuple(f"{name} of transformers has another {part}: {JSON_FILE} counts" for part, same in parts if not same)


def _other_token(known: SentencePieceClass, tokens: FolderTokens) -> str | None:
    """The key of a special token that is not the class's own."""
    usual = ((key, content_of(value, key, CONFIG_FILE)) for key, value in known.special_tokens.items())
    return next((key for key, text in usual if tokens.special[key] != text), None)


def _same_template(config: dict[str, Any], known: SentencePieceClass, spec: TokenizerSpec) -> bool:
    ids = {piece: i for i, piece in enumerate(spec.model.pieces) if isinstance(piece, str)}
    ids |= {token.content: token.id for token in spec.added_tokens}
    described = {"post_processor": template_of(known.single, known.pair, ids, known.second_segment)}
    described = described if has_segments(config, usual=known.composes) else without_segments(described)
    return read_post_processor(described["post_processor"], ids).template == spec.template


def _names_extra_ids(tokens: FolderTokens) -> bool:
    """Whether the configuration lists them: then those that it lists count."""
    return any("<extra_id_" in content_of(value, key, file) for key, value, file in tokens.extra)


def _deberta_differences(config: dict[str, Any], spec: TokenizerSpec, tokens: FolderTokens) -> tuple[str, ...]:
    """The same of DeBERTa's class."""
    rebuilt = _described(config, _DEBERTA_CLASS, b"", [], {}, None)
    expected = read_unigram_json(rebuilt, scores=(0.0,) * len(rebuilt["model"]["vocab"]))
    folding = spec.normalizer.steps if isinstance(spec.normalizer, FoldingNormalizer) else ()
    folding = spec.normalizer.folds if isinstance(spec.normalizer, SequenceNormalizer) else folding
    if isinstance(spec.normalizer, FormCharsmapNormalizer) and spec.normalizer.folding is not None:
        folding = spec.normalizer.folding.steps
    lowercase = "Lowercase" in folding
    asked = {"do_lower_case": lowercase, "split_by_punct": False}
    for key, here in asked.items():
        if key in config and flag_of(config, key, here) != here:
            raise refusal("tokenizer-conflict", f"{key} is not what {JSON_FILE} says", file=CONFIG_FILE)
    segmenter, unknown = spec.segmenter, spec.unigram.unknown_id
    prepend = "always" if flag_of(config, "add_prefix_space", True) else "first"
    if "add_prefix_space" in config and prepend_of(segmenter) != prepend:
        raise refusal("tokenizer-conflict", f"add_prefix_space is not what {JSON_FILE} says", file=CONFIG_FILE)
    pieces = list(zip(spec.unigram.pieces, spec.unigram.scores, strict=True))
    usual = pieces.index(("[UNK]", 0.0)) if ("[UNK]", 0.0) in pieces else 1
    if unknown != usual or spec.unigram.byte_fallback:
        message = f"{_DEBERTA} of transformers has the unknown piece [UNK] of score 0 and no byte fallback"
        raise refusal("tokenizer-conflict", f"{message}, {JSON_FILE} something else", file=JSON_FILE)
    is_template = _other_token(_DEBERTA_CLASS, tokens) is None and _same_template(config, _DEBERTA_CLASS, spec)
    parts = [
        ("normalizer", spec.normalizer == expected.normalizer),
        ("pre_tokenizer", segmenter == expected.segmenter),
        ("post_processor", is_template),
    ]
    return tuple(
        f"{_DEBERTA} of transformers has another {part}: {JSON_FILE} counts" for part, same in parts if not same
    )


def _of_model(
    config: dict[str, Any], known: SentencePieceClass, model: SentencePieceModel, file: str, tokens: FolderTokens
) -> TokenizerSpec:
    if file != known.file:
        raise refusal("tokenizer-missing", f"the tokenizer's class reads {known.file}, which is missing", file=file)
    adds = next((key for key in ("add_bos_token", "add_eos_token") if known.folds and key in config), None)
    if adds is not None:  # whatever it says, ALBERT's template is lost
        raise refusal("tokenizer-setting", f"'{adds}' is not supported without {JSON_FILE}", file=CONFIG_FILE)
    if model.model_type != UNIGRAM:
        message = f"its model is of type {model.model_type}, only Unigram (1) is supported"
        raise refusal("sentencepiece-type", message, file=file)
    if (other := _other_token(known, tokens)) is not None:  # they are a part of the vocabulary
        message = f"{other} is {shown(tokens.special[other])}: not supported without {JSON_FILE}"
        raise refusal("tokenizer-setting", message, file=CONFIG_FILE)
    vocabulary = known.vocabulary([(piece.text, piece.score) for piece in model.pieces])
    extra = _extra_ids(config) if known.has_extra_ids else []
    vocabulary += [(text, 0.0) for text in reversed(extra)]
    if known.composes:
        if flag_of(config, "split_by_punct", False):
            raise refusal("tokenizer-setting", "'split_by_punct' is not supported", file=CONFIG_FILE)
        known = replace(known, unknown_id=_unknown_id(vocabulary, file))
    ids = {text: i for i, (text, _) in enumerate(vocabulary)}
    added = [asdict(token) for token in tokens.of(ids, own_tokens(model, tokens, ids) | dict.fromkeys(extra, True))]
    ids |= {token["content"]: token["id"] for token in added}
    described = _described(config, known, model.charsmap, vocabulary, ids, added)
    with_segments = has_segments(config, usual=known.composes)
    described = described if with_segments else without_segments(described)
    return read_unigram_json(described, scores=tuple(score for _, score in vocabulary))


def _unknown_id(vocabulary: Vocabulary, file: str) -> int:
    """Of DeBERTa's class."""
    found = next((i for i, piece in enumerate(vocabulary) if piece == ("[UNK]", 0.0)), None)
    if found is None:
        raise refusal("missing-special-token", "the vocabulary has no '[UNK]' of score 0", file=file)
    return found


def _described(
    config: dict[str, Any],
    known: SentencePieceClass,
    charsmap: bytes,
    vocabulary: Vocabulary,
    ids: dict[str, int],
    added: list[dict[str, Any]] | None,
) -> dict[str, Any]:
    """The tokenizer.json of a class; without added tokens its other parts alone, of a stand-in for the vocabulary."""
    steps: list[dict[str, Any]] = []
    if known.folds:
        steps += [{"type": "Replace", "pattern": {"String": quotes}, "content": '"'} for quotes in ("``", "''")]
        steps += [] if flag_of(config, "keep_accents", False) else [{"type": "NFKD"}, {"type": "StripAccents"}]
        steps += [{"type": "Lowercase"}] if flag_of(config, "do_lower_case", True) else []
    if known.composes:
        steps += [{"type": "Lowercase"}] if flag_of(config, "do_lower_case", False) else []
        steps += [
            {"type": "Replace", "pattern": {"Regex": r"\s{2,}|[\n\r\t]"}, "content": " "},
            {"type": "NFC"},
            {"type": "Strip", "strip_left": False, "strip_right": True},
        ]
    elif charsmap:
        steps.append({"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap).decode()})
    without = "first" if known.composes else "never"
    metaspace: dict[str, Any] = {
        "type": "Metaspace",
        "replacement": METASPACE,
        "prepend_scheme": "always" if known.prepends_always or flag_of(config, "add_prefix_space", True) else without,
        "split": True,
    }
    whitespace = [] if known.composes else [{"type": "WhitespaceSplit"}]
    vocab = vocabulary or [(f"{i}", 0.0) for i in range(known.unknown_id + 1)]
    return {
        "version": "1.0",
        "added_tokens": added or [],
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*whitespace, metaspace]},
        "post_processor": None if added is None else template_of(known.single, known.pair, ids, known.second_segment),
        "decoder": metaspace,
        "model": {"type": "Unigram", "unk_id": known.unknown_id, "vocab": [list(item) for item in vocab]},
    }


def _extra_ids(config: dict[str, Any]) -> list[str]:
    count = config.get("extra_ids", 100)
    if type(count) is not int or not 0 <= count <= _MOST_EXTRA_IDS:
        message = f"'extra_ids' must be a number up to {_MOST_EXTRA_IDS}, got {shown(count)}"
        raise refusal("config-type", message, file=CONFIG_FILE)
    return [f"<extra_id_{i}>" for i in range(count)]
