# SPDX-License-Identifier: Apache-2.0
"""The files of sentence-transformers' MultiVectorEncoder, as ColBERT's models have them: linears of each token's row,
which tokens have a vector, how long a query and a document are, and what is written before them.

Read is the form of version 6, and that of PyLate up to version 3 as far as that library reads it: a Transformer and its
Dense, all else in config_sentence_transformers.json. Whatever would change a vector and is not known here is refused.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from tokenizers import Tokenizer

from ..ir.prompts import Prompts
from ..ir.side import Side
from ..ir.tokenizer_spec import MASKS, AddedToken, TokenizerSpec
from .config import FILE as CONFIG_FILE
from .dense import Dense, read_dense
from .files import CheckpointFolder
from .limits import Limits
from .max_tokens import SENTENCE_FILE
from .refusal import refusal, shown
from .sentence_files import (
    MODULES_FILE,
    PACKAGES,
    SETTINGS_FILE,
    USUAL,
    check_at_the_top,
    check_normalize,
    check_transformer,
    listed_modules,
    only,
    read_module,
    read_module_settings,
    setting_refusal,
    types_of,
)
from .sentence_prompts import check_none_is_usual, read_prompts
from .tokenizer_files.tokenizer_config import FILE as TOKENIZER_CONFIG
from .tokenizer_files.tokenizer_config import SPECIAL_TOKENS_FILE
from .tokenizer_files.tokenizer_json.fields import FILE as TOKENIZER

STANFORD = "HF_ColBERT"  # the class of ColBERT's own code
_LIBRARY, _PYLATE = "MultiVectorEncoder", "ColBERT"  # model_type of config_sentence_transformers.json
_TYPES = {
    **types_of(PACKAGES, ("Transformer", "Dense", "Normalize")),
    "pylate.models.Dense.Dense": "Dense",
    "sentence_transformers.multi_vector_encoder.modules.multi_vector_mask.MultiVectorMask": "MultiVectorMask",
    "sentence_transformers.multi_vector_encoder.modules.MultiVectorMask": "MultiVectorMask",
}
_ORDER = "Transformer( Dense)*( MultiVectorMask)?( Normalize)?|Transformer( Dense)* Normalize MultiVectorMask"
_PYLATE_ORDER = "Transformer( Dense)*"
_LENGTHS = ("query_length", "document_length")
_OF_SIDES = (*_LENGTHS, "query_expansion")
# By these keys the library knows what PyLate has saved.
_EXPANDS = ("do_query_expansion", "attend_to_expansion_tokens", "attend_to_mask_tokens")
_PREFIXES = {"query_prefix": "query", "document_prefix": "document"}
_MARKS = (*_OF_SIDES, *_EXPANDS, *_PREFIXES, "skiplist_words")
_DOCUMENT_PROMPTS = ("document", "passage", "corpus")  # the first one that there is
_EXPANSION_KEYS = ("strategy", "attend", "token", "length")
_USUAL_EXPANSION = 32  # tokens
_MAX_LENGTH = 1_000_000
# Classes that pad at the beginning where no file says another thing.
_PADS_LEFT = frozenset(
    f"{name}Tokenizer" for name in ("CodeLlama", "Cohere", "CpmAnt", "Gemma", "Llama", "Siglip2", "XLNet")
)


@dataclass(frozen=True)
class MultiVectorModules:
    """What follows the encoder. Sides are known once the tokenizer is."""

    dense: tuple[Dense, ...]
    normalize: bool
    document: Side
    query: Side
    skipped_words: tuple[str, ...]
    skipped_in: tuple[str, ...]  # sides
    expansion: str | None  # the token that queries are filled up with; None: the tokenizer's mask
    registered: tuple[str, ...]  # tokens that a text's prompt has as one each


def is_multi_vector(folder: CheckpointFolder) -> bool:
    """Whether the library, or PyLate, has written the folder's settings for such a model."""
    values = folder.read_json_if_present(SETTINGS_FILE) or {}
    kind = values.get("model_type")
    if kind is None:
        return folder.has(MODULES_FILE) and any(key in values for key in _MARKS)
    return kind in (_LIBRARY, _PYLATE)


def names_stanford(folder: CheckpointFolder) -> bool:
    """Whether config.json says that the model is of ColBERT's own class."""
    named = folder.read_json(CONFIG_FILE).get("architectures")
    return isinstance(named, list) and STANFORD in named


def read_multi_vector(folder: CheckpointFolder, width: int) -> tuple[MultiVectorModules, tuple[str, ...]]:
    """(the modules, notes). `width` is the encoder's hidden size."""
    settings = folder.read_json_if_present(SETTINGS_FILE) or {}
    by_pylate = settings.get("model_type") != _LIBRARY
    if settings.get("model_type") is None and names_stanford(folder):
        message = f"config.json says {STANFORD}, this file has PyLate's settings: say in its model_type what counts"
        raise refusal("sentence-conflict", message, file=SETTINGS_FILE)
    listed = _modules(folder, _PYLATE_ORDER if by_pylate else _ORDER)
    check_transformer(folder, USUAL | {key: () for key in _OF_SIDES})
    dense: list[Dense] = []
    words = _pylate_words(settings) if by_pylate else ()
    tasks: tuple[str, ...] = ("document",)
    for name, path in listed[1:]:
        if name == "Dense":
            dense.append(read_dense(folder, path, dense[-1].outputs if dense else width, "token_embeddings"))
        elif name == "Normalize":
            check_normalize(folder, f"{path}/config.json", "token_embeddings")
        else:
            words, tasks = _read_mask(folder, f"{path}/config.json")
    names = [name for name, _ in listed]
    expanded = by_pylate or "MultiVectorMask" in names
    document, query, expansion = sides_of(_sides(folder, settings), expanded=expanded)
    named = read_prompts(folder, settings.get("model_type", _LIBRARY))
    check_none_is_usual(named)
    prompts = _prompts(settings)
    found = MultiVectorModules(
        dense=tuple(dense),
        normalize=by_pylate or "Normalize" in names,
        document=replace(document, prompt=next((prompts[key] for key in _DOCUMENT_PROMPTS if key in prompts), "")),
        query=replace(query, prompt=prompts.get("query", "")),
        skipped_words=words,
        skipped_in=tasks,
        expansion=expansion,
        registered=tuple(_prefixes(settings).values()),
    )
    return found, _notes(settings, named)


def with_tokenizer(
    folder: CheckpointFolder, modules: MultiVectorModules, tokenizer: TokenizerSpec, classes: tuple[object, str]
) -> tuple[MultiVectorModules, TokenizerSpec]:
    """The same with ids for words; and the tokenizer that reads what PyLate inserted before texts as one token each.
    `classes` may name its class where its own file does not."""
    if not tokenizer.is_of_wheel:
        message = "the tokenizer is one that only another library than `tokenizers` reads: words of it have no ids"
        raise refusal("tokenizer-model", message)
    tokenizer = _with_registered(tokenizer, modules.registered)
    wheel = Tokenizer.from_str(tokenizer.json)
    found = (wheel.token_to_id(word) for word in modules.skipped_words)
    skipped = tuple(sorted({number for number in found if number is not None}))
    query = modules.query
    if query.least_tokens:
        _check_padding(folder, classes)
        token = modules.expansion or _mask_token(folder, tokenizer)
        filler = wheel.token_to_id(token)
        if filler is None:
            raise _no_filler(f"the tokenizer has no token {shown(token)}")
        query = replace(query, filler=filler)
    return (
        replace(
            modules,
            document=replace(modules.document, skipped=skipped if "document" in modules.skipped_in else ()),
            query=replace(query, skipped=skipped if "query" in modules.skipped_in else ()),
        ),
        tokenizer,
    )


def default_length(modules: MultiVectorModules, usual: tuple[int, str], limits: Limits) -> tuple[int, str]:
    """(how many tokens a text may have where the user does not say it, where that comes from): those of a document."""
    value, source = usual
    if modules.document.max_tokens is not None:
        value, source = modules.document.max_tokens, f"{SENTENCE_FILE} document_length"
    if value > limits.positions and not limits.endless:
        message = f"{source} is {value}, the model has {limits.positions} positions ({limits.positions_key})"
        raise refusal("max-tokens-out-of-range", message, file=SENTENCE_FILE)
    longest = max(modules.query.least_tokens, modules.query.max_tokens or 0)
    if longest > value:
        message = f"queries have up to {longest} tokens, documents {value} ({source}): longer queries are not supported"
        raise refusal("max-tokens-out-of-range", message, file=SENTENCE_FILE)
    return value, source


def with_query_length(modules: MultiVectorModules, usual: int, chosen: int) -> MultiVectorModules:
    """Queries that nothing gives a length are cut at the usual one, whatever documents are cut at: said where these are
    longer."""
    if modules.query.max_tokens is not None or chosen <= usual:
        return modules
    return replace(modules, query=replace(modules.query, max_tokens=usual))


def length_notes(modules: MultiVectorModules, usual: int, chosen: int) -> tuple[str, ...]:
    """Where queries are cut at another length than the library's, which is the usual one."""
    if modules.query.max_tokens is not None or chosen >= usual:
        return ()
    return (f"queries are cut at {chosen} tokens, as documents are: sentence-transformers cuts them at {usual}",)


def _modules(folder: CheckpointFolder, order: str) -> list[tuple[str, str]]:
    """Class and path of each."""
    listed = [read_module(item, place, _TYPES) for place, item in enumerate(listed_modules(folder))]
    names = " ".join(name for name, _ in listed)
    if re.fullmatch(order, names) is None:
        message = f"expected Transformer, perhaps Dense, MultiVectorMask and Normalize, got {names or 'no modules'}"
        raise refusal("sentence-modules-order", message, file=MODULES_FILE)
    check_at_the_top(listed[0][1])
    return listed


def _read_mask(folder: CheckpointFolder, file: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words that have no vector, and in the texts of which sides."""
    values = read_module_settings(folder, file, "MultiVectorMask")
    only(values, ("skiplist_words", "skiplist_tasks", "keep_only_token_ids"), file)
    if values.get("keep_only_token_ids"):
        raise setting_refusal("keep_only_token_ids", values["keep_only_token_ids"], file)
    tasks = values.get("skiplist_tasks")
    listed = ["document"] if tasks is None else [tasks] if isinstance(tasks, str) else tasks
    return _strings(values.get("skiplist_words"), "skiplist_words", file), _strings(listed, "skiplist_tasks", file)


def _pylate_words(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The same where PyLate does so by itself: all punctuation where nothing is said."""
    words = _strings(settings.get("skiplist_words"), "skiplist_words", SETTINGS_FILE)
    named = settings.get("skiplist_words") is not None
    by_itself = settings.get("model_type") == _PYLATE or any(key in settings for key in _PREFIXES)
    return tuple(string.punctuation) if by_itself and not named else words


def _sides(folder: CheckpointFolder, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Lengths and expansion: what the Transformer's file says counts, what PyLate said elsewhere where it does not."""
    said = {key: settings[key] for key in _LENGTHS if settings.get(key) is not None}
    if "query_expansion" in settings:
        said["query_expansion"] = settings["query_expansion"]
    elif any(key in settings for key in _MARKS):
        said["query_expansion"] = None
        if settings.get("do_query_expansion") is not False:
            attend = settings.get("attend_to_expansion_tokens", settings.get("attend_to_mask_tokens"))
            length = said.pop("query_length", None) or _USUAL_EXPANSION
            said["query_expansion"] = {"strategy": "fixed", "attend": bool(attend), "length": length}
    own = folder.read_json_if_present(SENTENCE_FILE) or {}
    return said | {key: own[key] for key in _OF_SIDES if key in own}


def sides_of(said: Mapping[str, Any], *, expanded: bool) -> tuple[Side, Side, str | None]:
    """Documents, queries, and the token that these are filled up with. `expanded` says whether such tokens would have
    vectors."""
    query_length, document_length = (_length(said.get(key), key) for key in _LENGTHS)
    expansion = said.get("query_expansion")
    if expansion is None:
        return Side(max_tokens=document_length), Side(max_tokens=query_length), None
    if not isinstance(expansion, dict):
        raise setting_refusal("query_expansion", expansion, SENTENCE_FILE)
    only(expansion, _EXPANSION_KEYS, SENTENCE_FILE)
    length = _length(expansion.get("length"), "query_expansion.length")
    attend, token, strategy = expansion.get("attend", False), expansion.get("token"), expansion.get("strategy")
    for key, value, right in (
        ("length", length, length is not None),
        ("attend", attend, isinstance(attend, bool)),
        ("token", token, token is None or isinstance(token, str)),
        ("strategy", strategy, strategy in ("fixed", "min")),
    ):
        if not right:
            raise setting_refusal(f"query_expansion.{key}", value, SENTENCE_FILE)
    assert length is not None
    if query_length is not None and query_length < length:
        message = f"'query_length' is {query_length}, queries are filled up to {length} tokens"
        raise refusal("sentence-conflict", message, file=SENTENCE_FILE)
    if not expanded:
        message = "queries are filled up, and no MultiVectorMask says that what they are filled with has vectors"
        raise refusal("sentence-conflict", message, file=MODULES_FILE)
    longest = length if strategy == "fixed" else query_length
    query = Side(max_tokens=longest, least_tokens=length, filler_is_seen=attend)
    return Side(max_tokens=document_length), query, token


def _length(value: object, key: str) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 1 <= value <= _MAX_LENGTH:
        raise refusal("config-type", f"'{key}' must be an integer from 1, got {shown(value)}", file=SENTENCE_FILE)
    return value


def _prompts(settings: Mapping[str, Any]) -> dict[str, str]:
    """By name; PyLate inserts its prefixes before them."""
    prompts = {name: text or "" for name, text in settings.get("prompts", {}).items()}
    for name, prefix in _prefixes(settings).items():
        prompts[name] = prefix + prompts.get(name, "").removeprefix(prefix)
    return prompts


def _prefixes(settings: Mapping[str, Any]) -> dict[str, str]:
    """By the prompt that they stand before."""
    found = {}
    for key, name in _PREFIXES.items():
        if key in settings:
            if not isinstance(settings[key], str | None):
                raise setting_refusal(key, settings[key], SETTINGS_FILE)
            found[name] = settings[key] or ""
    return found


def _strings(value: object, key: str, file: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise refusal("config-type", f"'{key}' must be a list of texts, got {shown(value)}", file=file)
    return tuple(value)


def _notes(settings: Mapping[str, Any], named: Prompts) -> tuple[str, ...]:
    similarity = settings.get("similarity_fn_name")
    if similarity in (None, "maxsim", "MaxSim") or settings.get("model_type") != _LIBRARY:
        scored: tuple[str, ...] = ()
    elif similarity == "meanmaxsim":
        scored = (f"{SETTINGS_FILE}: scores are divided by the number of the query's vectors, by the caller",)
    else:
        raise setting_refusal("similarity_fn_name", similarity, SETTINGS_FILE)
    other = [name for name, text in sorted(named.texts) if text and name not in ("query", *_DOCUMENT_PROMPTS)]
    if not other:
        return scored
    return (*scored, f"{SETTINGS_FILE} has prompts ({', '.join(other[:5])}): put before a text by the caller")


def _check_padding(folder: CheckpointFolder, classes: tuple[object, str]) -> None:
    """Refuses a tokenizer that would fill queries up at their beginning."""
    values = folder.read_json_if_present(TOKENIZER_CONFIG) or {}
    padding = (folder.read_json_if_present(TOKENIZER) or {}).get("padding")
    side = values.get("padding_side", padding.get("direction") if isinstance(padding, dict) else None)
    if side is None:
        named = [name for name in (values.get("tokenizer_class"), *classes) if isinstance(name, str)]
        side = "left" if named[0].removesuffix("Fast") in _PADS_LEFT else "right"
    if not isinstance(side, str) or side.lower() != "right":
        message = "the tokenizer pads at the beginning: queries that are filled up there are not supported"
        raise refusal("expansion-not-supported", message, file=TOKENIZER_CONFIG)


def _mask_token(folder: CheckpointFolder, tokenizer: TokenizerSpec) -> str:
    """What the tokenizer calls its mask."""
    named = set()
    for file in (TOKENIZER_CONFIG, SPECIAL_TOKENS_FILE):
        values = folder.read_json_if_present(file) or {}
        if "mask_token" in values:
            value = values["mask_token"]
            named.add(value.get("content") if isinstance(value, dict) else value)
    found = named or {token.content for token in tokenizer.added_tokens if token.content in MASKS}
    if len(found) != 1 or not isinstance(token := found.pop(), str):
        raise _no_filler("the tokenizer's files name no mask, or two")
    return token


def _no_filler(why: str) -> Exception:
    message = f"{why}: say in query_expansion.token what queries are filled up with"
    return refusal("expansion-token", message, file=SENTENCE_FILE)


def _with_registered(tokenizer: TokenizerSpec, prefixes: tuple[str, ...]) -> TokenizerSpec:
    """The library makes a special token of a prefix that the vocabulary has, or of its first word, where the tokenizer
    would part it."""
    wheel = Tokenizer.from_str(tokenizer.json)
    added = {token.content: token for token in tokenizer.added_tokens}
    for prefix in prefixes:
        words = prefix.split()
        name = next((each for each in (prefix, *words[:1]) if wheel.token_to_id(each) is not None), None)
        if not words or name is None or wheel.encode(name, add_special_tokens=False).tokens == [name]:
            continue
        number = wheel.token_to_id(name)
        assert number is not None
        added[name] = AddedToken(name, number, special=True)
    if [*added.values()] == [*tokenizer.added_tokens]:
        return tokenizer
    tokens = tuple(sorted(added.values(), key=lambda token: token.id))
    described = json.loads(tokenizer.json)
    described["added_tokens"] = [asdict(token) for token in tokens]
    return replace(tokenizer, added_tokens=tokens, json=json.dumps(described, ensure_ascii=False))
