# SPDX-License-Identifier: Apache-2.0
"""How a checkpoint says that its texts are written: generation_config.json, or, where there is none, config.json, as
`transformers` 5.23 reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..ir.chat import Chat
from ..ir.search import FREE, GREEDY, Restrictions, Sampling, Search
from .chat_template.read import read_chat
from .config import Config, is_neutral
from .files import CheckpointFolder
from .refusal import refusal, shown
from .task_params import TaskParams
from .tokenizer_files.languages import Written

FILE = "generation_config.json"
MOST_BEAMS = 8  # etch::kMostBeams
MOST_ENDS = 8  # etch::kMostEnds
MOST_PENALTY = 5
MOST_REPETITION = 1024
MOST_TEMPERATURE = 1024  # etch::check_sampling
LEAST_TOP_P = 2.0**-24
LIBRARY_TOP_K = 50  # where a folder draws and says nothing of it

# Keys that ask for another way to write, the values with which they do not, and what to do about others.
_CHANGES_TEXTS = "make it {} and see whether the texts are still what you want"
_NEUTRAL: dict[str, tuple[tuple[object, ...], str]] = {
    "use_mtp": ((None, False), "make it false: the texts stay the same"),
    "token_healing": ((None, False), "make it false"),
    "num_beam_groups": ((None, 1), "make it 1: beams are searched in one group"),
    "num_return_sequences": ((None, 1), "make it 1: a call writes the best text"),
    "encoder_no_repeat_ngram_size": ((None, 0), _CHANGES_TEXTS.format(0)),
    "encoder_repetition_penalty": ((None, 1, 1.0), _CHANGES_TEXTS.format(1.0)),
    "diversity_penalty": ((None, 0, 0.0), _CHANGES_TEXTS.format(0.0)),
    "penalty_alpha": ((None, 0, 0.0), _CHANGES_TEXTS.format(0.0)),
    "guidance_scale": ((None, 1, 1.0), _CHANGES_TEXTS.format(1.0)),
    "exponential_decay_length_penalty": ((None,), _CHANGES_TEXTS.format("null")),
    "sequence_bias": ((None,), _CHANGES_TEXTS.format("null")),
    "constraints": ((None,), _CHANGES_TEXTS.format("null")),
    "force_words_ids": ((None,), _CHANGES_TEXTS.format("null")),
    "watermarking_config": ((None,), _CHANGES_TEXTS.format("null")),
    "dola_layers": ((None,), _CHANGES_TEXTS.format("null")),
    "stop_strings": ((None, []), "make it null: a text ends with a token of eos_token_id"),
    "max_time": ((None,), "make it null: a program bounds the steps of a call"),
    "prompt_lookup_num_tokens": ((None,), "make it null: the texts stay the same"),
    "assistant_early_exit": ((None,), "make it null: the texts stay the same"),
}
# In config.json of older files: forced_bos_token_id is bos_token_id, whatever it says. In FILE it says nothing.
_FORCES_BEGIN, _FORCED_BEGIN = "force_bos_token_to_be_generated", "forced_bos_token_id"
_READ_KEYS = """
    num_beams length_penalty early_stopping min_length min_new_tokens max_length max_new_tokens renormalize_logits
    do_sample temperature top_k top_p decoder_start_token_id bos_token_id eos_token_id pad_token_id
    forced_bos_token_id forced_eos_token_id suppress_tokens bad_words_ids
    repetition_penalty no_repeat_ngram_size begin_suppress_tokens
"""
# Ways to draw tokens that are not known here: where none are drawn they say nothing.
_OF_DRAWING: dict[str, tuple[object, ...]] = {
    "min_p": (None,),
    "top_h": (None,),
    "typical_p": (None, 1, 1.0),
    "epsilon_cutoff": (None, 0, 0.0),
    "eta_cutoff": (None, 0, 0.0),
}
# Of the library's own caches, assistants and returned values; where the file is from.
_HARMLESS_KEYS = """
    use_cache cache_implementation cache_config max_cache_len prefill_chunk_size low_memory compile_config
    disable_compile is_assistant num_assistant_tokens num_assistant_tokens_schedule assistant_confidence_threshold
    max_matching_ngram_size assistant_lookbehind target_lookbehind assistant_ensemble_weight speculation_type
    output_attentions output_hidden_states output_scores output_logits return_dict_in_generate remove_invalid_values
    transformers_version _from_model_config _commit_hash
"""
_DRAWING = {"temperature", "top_k", "top_p"}  # where tokens are drawn
_READ, _HARMLESS = frozenset(_READ_KEYS.split()), frozenset({*_HARMLESS_KEYS.split(), *_OF_DRAWING})
_MOST_NAMED = 12


@dataclass(frozen=True)
class GenerationSettings:
    """How texts are written; ids are those of the vocabulary."""

    begin: int | None  # what a target begins with, before anything is written; without an encoder the text does,
    # and where it has no token, this one: None where no file says it
    ends: tuple[int, ...]  # the tokens that end a text
    forced_end: bool = False  # the last token that there is room for is the first of them
    never: tuple[int, ...] = ()  # ids that are not written, ascending
    max_tokens: int | None = None  # of a target behind what it begins with, its end counts; None where no file says it
    least_tokens: int = 0  # behind which the end may be written
    search: Search = GREEDY
    forced_begin: int | None = None  # the token that a target has behind `begin`, whatever the model makes of it
    sampling: Sampling | None = None  # None: the best tokens are written
    restrictions: Restrictions = FREE
    chat: Chat | None = None  # how conversations are written, where the model goes on with some
    notes: tuple[str, ...] = ()  # for the report


def read_generation(
    folder: CheckpointFolder,
    config: Config,
    vocabulary: int,
    *,
    has_encoder: bool,
    params: TaskParams | None = None,
    max_target: int | None = None,
    written: Written | None = None,
) -> GenerationSettings:
    """The checked settings of a folder; ids are below `vocabulary`. Those of a task count over all others, `max_target`
    over all that say how many tokens are written, and `written` over all that say in which language."""
    own = folder.read_json_if_present(FILE)
    values, file = (_values_in(config), config.file) if own is None else (own, FILE)
    notes = () if own is None else (*_unknown(own, FILE), *_overruled(own, config))
    if params is not None and params.generation:
        values, file = {**values, **params.generation}, f"{file}, {params.place}"
        notes += (*_counting(params), *_unknown(params.generation, params.place))
    if written is not None:
        values, file = written.over(values), f"{file}, --languages"
    settings = _Reader(values, file, vocabulary).settings(has_encoder)
    if max_target is not None:
        settings = replace(settings, max_tokens=max_target)
    elif settings.max_tokens is None and values.get("max_length") is not None:
        said = "max_length is not used: it counts the tokens of the text, too; say max_new_tokens or --max-target"
        notes += (f"{file}: {said}",)
    chat, of_chat = (None, ()) if has_encoder else read_chat(folder)
    return replace(settings, chat=chat, notes=(*notes, *of_chat))


def settings_in(config: Config, vocabulary: int, *, has_encoder: bool) -> GenerationSettings:
    """Those of a folder without a file for them."""
    return _Reader(_values_in(config), config.file, vocabulary).settings(has_encoder)


def _values_in(config: Config) -> dict[str, Any]:
    """What it says; where it is of two models, what it leaves open its decoder's part may say, or that of its texts."""
    part = config.values.get("decoder") or config.values.get("text_config")
    keys = _READ | set(_NEUTRAL) | set(_OF_DRAWING) | {_FORCES_BEGIN}
    found = {key: config.values.get(key) for key in keys}
    if isinstance(part, dict):
        found = {key: part.get(key) if value is None else value for key, value in found.items()}
    return found | {_FORCED_BEGIN: found["bos_token_id"]} if found[_FORCES_BEGIN] else found


def _counting(params: TaskParams) -> tuple[str, ...]:
    """A note on what a task's own settings say."""
    said = sorted(key for key, value in params.generation.items() if key in _READ and value is not None)
    return (f"{params.place} counts for {', '.join(said)}",) if said else ()


def _unknown(values: Mapping[str, Any], file: str) -> tuple[str, ...]:
    """A note on keys that say something, and nobody here knows what."""
    unknown = sorted(set(values) - _READ - set(_NEUTRAL) - _HARMLESS)
    if not unknown:
        return ()
    more = f" and {len(unknown) - _MOST_NAMED} more" if len(unknown) > _MOST_NAMED else ""
    return (f"{file}: not used: {', '.join(key[:60] for key in unknown[:_MOST_NAMED])}{more}",)


def _overruled(values: dict[str, Any], config: Config) -> tuple[str, ...]:
    """A note on keys of which config.json says something else."""
    keys = sorted((_READ | set(_NEUTRAL) | {_FORCES_BEGIN}) - _DRAWING)
    said = {key: config.values.get(key) for key in keys}
    other = [key for key in keys if said[key] is not None and said[key] != values.get(key)]
    return (f"{FILE} counts where {config.file} says otherwise: {', '.join(other)}",) if other else ()


def _listed(ids: tuple[int, ...]) -> str:
    return ", ".join(map(str, ids))


class _Reader:
    """The keys of one file; `null` is as if a key were not there."""

    def __init__(self, values: dict[str, Any], file: str, vocabulary: int) -> None:
        self._values, self._file, self._vocabulary = values, file, vocabulary

    def settings(self, has_encoder: bool) -> GenerationSettings:
        for key, (neutral, advice) in _NEUTRAL.items():
            value = self._values.get(key)
            if not is_neutral(value, neutral):
                message = f"'{key}': {shown(value)} is not supported; {advice}"
                raise refusal("generation-not-supported", message, file=self._file)
        self._id("pad_token_id")
        sampling, beams = self._sampling(), self._beams()
        if sampling is not None and beams > 1:
            message = f"'do_sample' with 'num_beams' {beams}: a search draws nothing; make one of them false or 1"
            raise refusal("generation-not-supported", message, file=self._file)
        begin = self._begin() if has_encoder else self._id("bos_token_id")
        ends = self._ends()
        never = self._never(ends)
        forced_end = self._forced_end(ends, never)
        ends = tuple(end for end in ends if end not in never)
        if forced_end is not None:
            ends = (forced_end, *(end for end in ends if end != forced_end))
        forced_begin = self._forced_begin((*ends, *never), has_encoder)
        return GenerationSettings(
            begin=begin,
            forced_begin=forced_begin,
            ends=ends,
            forced_end=forced_end is not None,
            never=never,
            max_tokens=self._max_tokens(has_encoder, int(forced_begin is not None)),
            least_tokens=max(0, self._least_tokens(has_encoder) - (forced_begin is not None)),
            search=Search(beams, self._length_penalty(), self._early_stopping(), self._flag("renormalize_logits")),
            sampling=sampling,
            restrictions=self._restrictions(),
        )

    def _begin(self) -> int:
        for key in ("decoder_start_token_id", "bos_token_id"):
            found = self._id(key)
            if found is not None:
                return found
        raise self._missing("decoder_start_token_id", "a target begins with nothing")

    def _forced_begin(self, never: tuple[int, ...], has_encoder: bool) -> int | None:
        found = self._id("forced_bos_token_id")
        if found is not None and not has_encoder:
            message = "'forced_bos_token_id': without an encoder the text is what a target begins with; make it null"
            raise refusal("generation-not-supported", message, file=self._file)
        if found in never:
            message = f"'forced_bos_token_id' is {found}, which ends a text or is not written: make it another or null"
            raise refusal("generation-value", message, file=self._file)
        return found

    def _ends(self) -> tuple[int, ...]:
        """A number, or a list of them, each once."""
        value = self._values.get("eos_token_id")
        if value is None or value == []:
            raise self._missing("eos_token_id", "no text would end")
        values = value if isinstance(value, list) else [value]
        ends = tuple(dict.fromkeys(self._checked("eos_token_id", one) for one in values))
        if len(ends) > MOST_ENDS:
            message = f"'eos_token_id' has {len(ends)} tokens: at most {MOST_ENDS} are supported"
            raise refusal("generation-not-supported", message, file=self._file)
        return ends

    def _forced_end(self, ends: tuple[int, ...], never: tuple[int, ...]) -> int | None:
        """One of those that end a text: of several the library draws, or searches among equals."""
        value = self._values.get("forced_eos_token_id")
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if value is None:
            return None
        if isinstance(value, list):
            message = f"'forced_eos_token_id' has {len(value)} tokens: one is supported"
            raise refusal("generation-not-supported", message, file=self._file)
        forced = self._checked("forced_eos_token_id", value)
        if forced not in ends:
            message = f"'forced_eos_token_id' is {forced}, none of eos_token_id, {_listed(ends)}: make them agree"
            raise refusal("generation-not-supported", message, file=self._file)
        if forced in never:
            message = f"'suppress_tokens' has {forced}, the forced_eos_token_id: make one of them null"
            raise refusal("generation-value", message, file=self._file)
        return forced

    def _never(self, ends: tuple[int, ...]) -> tuple[int, ...]:
        """The words of one token, ends among them count for nothing as in the library; and the suppressed ones."""
        banned = {word[0] for word in self._words() if len(word) == 1} - {*ends}
        suppressed = {self._checked("suppress_tokens", token) for token in self._list("suppress_tokens")}
        if suppressed.issuperset(ends):
            message = f"'suppress_tokens' has {_listed(ends)}, the eos_token_id: no text would end"
            raise refusal("generation-value", message, file=self._file)
        return tuple(sorted(banned | suppressed))

    def _words(self) -> list[tuple[int, ...]]:
        words = self._list("bad_words_ids")
        for word in words:
            if not isinstance(word, list) or not word:
                message = f"'bad_words_ids' must be lists of ids, got {shown(word)}"
                raise refusal("config-type", message, file=self._file)
        return [tuple(self._checked("bad_words_ids", token) for token in word) for word in words]

    def _restrictions(self) -> Restrictions:
        return Restrictions(
            repetition_penalty=self._between("repetition_penalty", 1.0, 1 / MOST_REPETITION, MOST_REPETITION),
            no_repeat=self._natural("no_repeat_ngram_size") or 0,
            words=tuple(sorted({word for word in self._words() if len(word) > 1})),
            not_first=tuple(
                sorted({self._checked("begin_suppress_tokens", i) for i in self._list("begin_suppress_tokens")})
            ),
        )

    def _max_tokens(self, has_encoder: bool, forced: int) -> int | None:
        """`forced` of those that are counted are what a target begins with."""
        new, whole = (self._natural(key) for key in ("max_new_tokens", "max_length"))
        if new is None and (whole is None or not has_encoder):  # without one it counts the tokens of the text, too
            return None
        key, least, most = ("max_length", 2 + forced, whole) if new is None else ("max_new_tokens", 1 + forced, new)
        assert most is not None
        if most < least:
            message = f"'{key}' is {most}: not one token could be written, {least} is the least"
            raise refusal("generation-value", message, file=self._file)
        return most + 1 - least

    def _least_tokens(self, has_encoder: bool) -> int:
        new, whole = (self._natural(key) for key in ("min_new_tokens", "min_length"))
        if new is not None or not whole:
            return new or 0
        if not has_encoder:
            message = f"'min_length' is {whole}: without an encoder it counts the text; say min_new_tokens"
            raise refusal("generation-not-supported", message, file=self._file)
        return whole - 1  # what a target begins with counts as one

    def _beams(self) -> int:
        value = self._natural("num_beams")
        if value == 0:
            raise refusal("generation-value", "'num_beams' is 0: 1 is greedy", file=self._file)
        if value is not None and value > MOST_BEAMS:
            message = f"'num_beams' is {value}: at most {MOST_BEAMS} are supported"
            raise refusal("generation-not-supported", message, file=self._file)
        return 1 if value is None else value

    def _sampling(self) -> Sampling | None:
        """None where no tokens are drawn; the library's defaults for what is not said."""
        if not self._flag("do_sample"):
            return None
        for key, neutral in _OF_DRAWING.items():
            if self._values.get(key) not in neutral:
                message = f"'{key}': {shown(self._values[key])} is not supported; {_CHANGES_TEXTS.format('null')}"
                raise refusal("generation-not-supported", message, file=self._file)
        top_k = self._natural("top_k")
        return Sampling(
            temperature=self._between("temperature", 1.0, 1 / MOST_TEMPERATURE, MOST_TEMPERATURE),
            top_k=LIBRARY_TOP_K if top_k is None else top_k,
            top_p=self._between("top_p", 1.0, LEAST_TOP_P, 1.0),
        )

    def _early_stopping(self) -> bool | Literal["never"]:
        value = self._values.get("early_stopping")
        if value == "never":
            return "never"
        return self._flag("early_stopping", "true, false or 'never'")

    def _id(self, key: str) -> int | None:
        value = self._values.get(key)
        return None if value is None else self._checked(key, value)

    def _checked(self, key: str, value: object) -> int:
        if type(value) is not int:
            raise refusal("config-type", f"'{key}' must hold ids, got {shown(value)}", file=self._file)
        if not 0 <= value < self._vocabulary:
            message = f"'{key}': {value} is none of the ids 0..{self._vocabulary - 1} (vocab_size)"
            raise refusal("token-id-out-of-range", message, file=self._file)
        return value

    def _natural(self, key: str) -> int | None:
        value = self._values.get(key)
        if value is not None and (type(value) is not int or not 0 <= value < 1 << 31):
            raise refusal("config-type", f"'{key}' must be an integer from 0, got {shown(value)}", file=self._file)
        return value

    def _length_penalty(self) -> float:
        """Within what leaves the powers of all lengths in the range of float32."""
        return self._between("length_penalty", 1.0, -MOST_PENALTY, MOST_PENALTY)

    def _between(self, key: str, default: float, least: float, most: float) -> float:
        value = self._values.get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise refusal("config-type", f"'{key}' must be a number, got {shown(value)}", file=self._file)
        if not least <= value <= most:
            message = f"'{key}' is {shown(value)}: {least:g} to {most:g} are supported"
            raise refusal("generation-not-supported", message, file=self._file)
        return float(value)

    def _flag(self, key: str, expected: str = "true/false") -> bool:
        value = self._values.get(key)
        if value is not None and not isinstance(value, bool):
            raise refusal("config-type", f"'{key}' must be {expected}, got {shown(value)}", file=self._file)
        return bool(value)

    def _list(self, key: str) -> list[Any]:
        value = self._values.get(key)
        if value is not None and not isinstance(value, list):
            raise refusal("config-type", f"'{key}' must be a list, got {shown(value)}", file=self._file)
        return value or []

    def _missing(self, key: str, why: str) -> Exception:
        return refusal("config-missing", f"'{key}' is missing: {why}", file=self._file)
