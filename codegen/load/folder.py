# SPDX-License-Identifier: Apache-2.0
"""The first stage: a checkpoint folder to one frozen value. The trust boundary: nothing here runs foreign code."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import replace

from ..errors import EtchError
from ..ir.target_tokenizer import TargetTokenizer
from ..ir.tokenizer_spec import TokenizerSpec
from ..names import MANIFEST
from ..process.command_line import etch_command
from .checkpoint import Checkpoint
from .config import FILE as CONFIG_FILE
from .config import Config
from .config_keys import check_keys
from .files import CheckpointFolder
from .generation_config import GenerationSettings, read_generation
from .gguf_files import gguf_names, gguf_refusal
from .gru_head import GruHead, read_gru_head
from .head_file import ENCODER, HeadFile, check_layout, read_head_file
from .head_file import FILE as HEAD_FILE
from .limits import Limits, usual_limits
from .logistic_head import read_logistic_head
from .max_tokens import default_max_tokens
from .multi_vector import (
    MultiVectorModules,
    default_length,
    is_multi_vector,
    length_notes,
    read_multi_vector,
    with_query_length,
    with_tokenizer,
)
from .pickles import PICKLE, PICKLE_SUFFIXES, SETFIT_HEAD, pickle_refusal, pickled_names
from .refusal import refusal
from .routes import Routes, read_query_weights, read_routes
from .sentence import (
    SentenceModules,
    cross_encoder_function,
    embeds,
    lower_case_notes,
    read_sentence_modules,
    static_path,
)
from .sentence_files import MODULES_FILE
from .sentence_prompts import check_none_is_usual
from .shards import INDEX_FILE, WEIGHTS_FILE, open_weights
from .splade import SparsePooling, read_splade
from .stanford_colbert import as_encoder, is_stanford_colbert, read_stanford_colbert
from .static_embedding import other_library_notes, read_static_embedding
from .task_params import TaskParams, read_task_params, with_prefix
from .terms import read_terms
from .tokenizer_files.languages import (
    Languages,
    Written,
    languages_notes,
    none_to_choose,
    reading,
    written_language,
)
from .tokenizer_files.padding import padded
from .tokenizer_files.text_tokenizers import load_text_tokenizers
from .tokenizer_files.tokenizer import load_tokenizer
from .word_numbers import read_word_numbers, word_number_notes

ADAPTER_FILE = "adapter_config.json"
ADAPTER_WEIGHTS_FILE = "adapter_model.safetensors"
_OTHER_FORMATS = (".h5", ".msgpack", ".onnx")


def load_checkpoint(
    path: str | os.PathLike[str],
    limits_of: Callable[[Config], Limits] = usual_limits,
    max_target: int | None = None,
    of_task: str | None = None,
    languages: Languages | None = None,
    of_rows: bool = False,
) -> Checkpoint:
    """Read a checkpoint folder. `limits_of` knows the keys of the model's family, and may refuse it before the other
    files are looked at. `max_target` are the tokens that are written at most, where that is not the folder's to say;
    `of_task` is the task whose own settings count, `languages` those of a translator of many;
    `of_rows` says that an embedding is asked for, of a class that may write as well."""
    folder = CheckpointFolder(path)
    if folder.has(HEAD_FILE):
        _check_one_language(languages)
        return _with_head(folder, limits_of)
    if folder.has(SETFIT_HEAD):
        raise pickle_refusal(folder, SETFIT_HEAD)
    static = static_path(folder)
    if static is not None:
        _check_one_language(languages)
        return _with_static_embedding(folder, static, limits_of)
    routes = read_routes(folder)
    if routes is not None:
        return _of_documents(folder, routes, limits_of, languages)
    return _with_transformer(folder, limits_of, max_target, of_task, languages, of_rows=of_rows)


def _check_one_language(languages: Languages | None) -> None:
    """EtchError where they are asked for of a model that has none to choose."""
    if languages is not None:
        raise none_to_choose()


def _with_transformer(
    folder: CheckpointFolder,
    limits_of: Callable[[Config], Limits],
    max_target: int | None = None,
    of_task: str | None = None,
    languages: Languages | None = None,
    routed: tuple[CheckpointFolder, Routes] | None = None,
    of_rows: bool = False,
) -> Checkpoint:
    """A model that config.json describes, with the modules behind it; `routed` are the folder that has this one as a
    route's first module, and its routes."""
    config, limits = _configuration(folder, limits_of, embeds=of_rows or routed is not None or embeds(folder))
    modules, notes_of_modules = _read_modules(folder, limits, routed)
    _check_weights(folder)
    tensors, weight_notes = open_weights(folder)
    config = as_encoder(config, tensors) if is_stanford_colbert(folder) else config
    params = None if of_task is None or not limits.writes_texts else read_task_params(config, of_task)
    tokenizer, target = _tokenizers(folder, config, limits, params, languages)
    written = None if languages is None else written_language(tokenizer, languages[1])
    generation = _generation(folder, config, limits, params, max_target, written)
    notes_of_writing = () if generation is None else _writing_notes(generation, tokenizer)
    length = default_max_tokens(folder, limits, None if generation is None else generation.max_tokens)
    if isinstance(modules, MultiVectorModules):
        modules, tokenizer = with_tokenizer(folder, modules, tokenizer, _tokenizer_classes(config, limits))
        modules, length, cut_notes = _with_lengths(modules, length, limits)
        notes_of_modules += cut_notes
    word_numbers = read_word_numbers(folder, limits.word_files, tokenizer)
    if limits.padded:
        tokenizer = padded(folder, tokenizer, length[0], *_tokenizer_classes(config, limits))
    return Checkpoint(
        config=config,
        tensors=tensors,
        tokenizer=tokenizer,
        default_max_tokens=length[0],
        max_tokens_source=length[1],
        digest=folder.digest(),
        sentence=None if isinstance(modules, SparsePooling) else modules,
        notes=(config.notes() if _assumes_labels(limits, config) and modules is None else notes_of_modules)
        + config.code_notes()
        + weight_notes
        + _tokenizer_notes(tokenizer, target)
        + lower_case_notes(folder, tokenizer)
        + word_number_notes(word_numbers, tokenizer)
        + notes_of_writing,
        terms=read_terms(folder),  # after the digest: a model with other terms is the same model
        target=target,
        generation=generation,
        asked_languages=languages,
        sparse=modules if isinstance(modules, SparsePooling) else None,
        word_numbers=word_numbers,
        files=folder.digests(),
    )


def _configuration(
    folder: CheckpointFolder, limits_of: Callable[[Config], Limits], embeds: bool
) -> tuple[Config, Limits]:
    """config.json, and what the family says of it; its keys are checked before other files are looked at."""
    if not folder.has(CONFIG_FILE):
        raise _adapter(folder) if folder.has(ADAPTER_FILE) else _no_configuration(folder)
    config = replace(Config.from_json(folder.read_json(CONFIG_FILE, endless=True)), embeds=embeds)
    limits = limits_of(config)
    check_keys(config, may_decode=limits.writes_texts or limits.family_writes)
    config = replace(config, cross_encoder=cross_encoder_function(folder), usual_labels=limits.usual_labels)
    config.labels()
    return config, limits


def _read_modules(
    folder: CheckpointFolder, limits: Limits, routed: tuple[CheckpointFolder, Routes] | None
) -> tuple[SentenceModules | MultiVectorModules | SparsePooling | None, tuple[str, ...]]:
    """What stands behind the encoder's rows, by files of sentence-transformers or ColBERT; and notes."""
    if routed is not None:
        whole, routes = routed
        return read_splade(whole, folder, routes.document, limits.vocabulary)
    if is_stanford_colbert(folder):
        return read_stanford_colbert(folder, limits.width)
    if is_multi_vector(folder):
        return read_multi_vector(folder, limits.width)
    return read_sentence_modules(folder, limits.width, limits.vocabulary)


def _check_weights(folder: CheckpointFolder) -> None:
    """EtchError where there are none that are read, or those of an adapter."""
    if folder.has(ADAPTER_FILE):
        raise _adapter(folder)
    if not folder.has(WEIGHTS_FILE) and not folder.has(INDEX_FILE):
        raise _no_weights(folder)


def _generation(
    folder: CheckpointFolder,
    config: Config,
    limits: Limits,
    params: TaskParams | None,
    max_target: int | None,
    written: Written | None,
) -> GenerationSettings | None:
    """How a generative model writes; `written` is the language that was asked for."""
    if not limits.writes_texts:
        return None
    return read_generation(
        folder,
        config,
        limits.target_vocabulary,
        has_encoder=limits.has_encoder,
        params=params,
        max_target=max_target,
        written=written,
    )


def _writing_notes(generation: GenerationSettings, tokenizer: TokenizerSpec) -> tuple[str, ...]:
    return (*generation.notes, *languages_notes(tokenizer, (generation.begin, generation.forced_begin)))


def _with_lengths(
    modules: MultiVectorModules, usual: tuple[int, str], limits: Limits
) -> tuple[MultiVectorModules, tuple[int, str], tuple[str, ...]]:
    """(the same with the length of queries, that of documents and where it comes from, notes)."""
    tokens, source = default_length(modules, usual, limits)
    notes = length_notes(modules, usual[0], tokens)
    return with_query_length(modules, usual[0], tokens), (tokens, source), notes


def _assumes_labels(limits: Limits, config: Config) -> bool:
    classifies = not config.architectures or any(name.endswith("Classification") for name in config.architectures)
    return classifies and limits.names_labels and not limits.writes_texts


def _of_documents(
    folder: CheckpointFolder, routes: Routes, limits_of: Callable[[Config], Limits], languages: Languages | None
) -> Checkpoint:
    """The model that documents go through, with the table that weighs queries."""
    inside = routes.transformer
    encoder = folder.within(inside) if inside else folder
    try:
        found = _with_transformer(encoder, limits_of, languages=languages, routed=(folder, routes))
    except EtchError as error:
        if inside and error.file is not None and not folder.has(error.file):
            error.file = f"{inside}/{error.file}"
        raise
    limits, sparse = limits_of(found.config), found.sparse
    assert sparse is not None
    classes = _tokenizer_classes(found.config, limits)
    query = read_query_weights(folder, routes.query, limits.vocabulary, found.tokenizer, classes)
    return replace(
        found,
        sparse=replace(sparse, query=query),
        digest=folder.digest(),
        terms=read_terms(folder),
        files=folder.digests(),
    )


def _with_head(folder: CheckpointFolder, limits_of: Callable[[Config], Limits]) -> Checkpoint:
    """The encoder in the folder, with the head that lies beside it."""
    check_layout(folder)
    try:
        encoder = load_checkpoint(folder.path / ENCODER, limits_of)
    except EtchError as error:
        error.file = None if error.file is None else f"{ENCODER}/{error.file}"
        raise
    file = read_head_file(folder)
    sentence, unused = (_classified if file.type == "logistic" else _read_by_gru)(folder, file, encoder, limits_of)
    of_labels = encoder.config.notes()  # those that an encoder need not have
    return replace(
        encoder,
        sentence=sentence,
        digest=hashlib.sha256(f"{encoder.digest} {folder.digest()}".encode()).hexdigest(),
        notes=tuple(note for note in encoder.notes if note not in of_labels) + unused,
        terms=encoder.terms if encoder.terms is not None else read_terms(folder),
        files={f"{ENCODER}/{name}": content for name, content in encoder.files.items()} | folder.digests(),
    )


def _read_by_gru(
    folder: CheckpointFolder, file: HeadFile, encoder: Checkpoint, limits_of: Callable[[Config], Limits]
) -> tuple[GruHead, tuple[str, ...]]:
    """(the head that reads the encoder's rows, notes)."""
    if encoder.config.has_head:
        named = ", ".join(encoder.config.architectures)
        message = f"architecture {named} has a head of its own: save the encoder alone, as an AutoModel"
        raise refusal("head-conflict", message, file=f"{ENCODER}/{CONFIG_FILE}")
    head = read_gru_head(folder, file, limits_of(encoder.config).width)
    return head, () if encoder.sentence is None else (f"{ENCODER}/{MODULES_FILE}: not used, the GRU reads every row",)


def _classified(
    folder: CheckpointFolder, file: HeadFile, encoder: Checkpoint, limits_of: Callable[[Config], Limits]
) -> tuple[SentenceModules, tuple[str, ...]]:
    """(what makes the embedding, with the head that reads it, notes)."""
    if not isinstance(encoder.sentence, SentenceModules):
        message = f"a logistic head reads an embedding, {ENCODER}/ has no {MODULES_FILE} that makes one"
        raise refusal("head-conflict", message, file=HEAD_FILE)
    check_none_is_usual(encoder.sentence.prompts)
    return replace(encoder.sentence, classifier=read_logistic_head(folder, file)), ()


def _with_static_embedding(folder: CheckpointFolder, path: str, limits_of: Callable[[Config], Limits]) -> Checkpoint:
    """The table in `path` of a folder without a transformer."""
    static = read_static_embedding(folder, path)
    limits = limits_of(static.config)
    sentence, notes = read_sentence_modules(folder, limits.width, limits.vocabulary)
    assert isinstance(sentence, SentenceModules)
    notes += static.tokenizer.notes + other_library_notes(folder, static.tokenizer, sentence)
    return Checkpoint(
        config=static.config,
        tensors=static.tensors,
        tokenizer=static.tokenizer,
        default_max_tokens=limits.positions,
        max_tokens_source=static.source,
        digest=folder.digest(),
        sentence=sentence,
        notes=notes,
        terms=read_terms(folder),
        files=folder.digests(),
    )


def _tokenizers(
    folder: CheckpointFolder,
    config: Config,
    limits: Limits,
    params: TaskParams | None,
    languages: Languages | None,
) -> tuple[TokenizerSpec, TargetTokenizer | None]:
    if limits.writes_texts:
        both = load_text_tokenizers(folder, config, limits)
        source = both.source if languages is None else reading(both.source, languages[0])
        source = source if params is None else with_prefix(source, params)
        return source, replace(both.target, spec=source) if both.target.spec is both.source else both.target
    _check_one_language(languages)
    return load_tokenizer(folder, limits.vocabulary, *_tokenizer_classes(config, limits)), None


def _tokenizer_classes(config: Config, limits: Limits) -> tuple[object, str]:
    """The one that config.json names, and that of the family."""
    return config.values.get("tokenizer_class"), limits.tokenizer_class


def _tokenizer_notes(tokenizer: TokenizerSpec, target: TargetTokenizer | None) -> tuple[str, ...]:
    return tokenizer.notes + (() if target is None or target.spec is tokenizer else target.spec.notes)


def _adapter(folder: CheckpointFolder) -> Exception:
    """What to tell about an adapter, which is no model alone."""
    command = etch_command("merge", folder.path, "BASE", "--out", "FOLDER")
    message = f"it changes the weights of another folder; to make one checkpoint of both: {command}"
    return refusal("adapter-not-supported", message, file=ADAPTER_FILE)


def _no_configuration(folder: CheckpointFolder) -> Exception:
    """What to tell about a folder that is no checkpoint."""
    if not folder.has(MANIFEST):
        if files := gguf_names(folder.names()):
            return gguf_refusal(folder.path / files[0])
        message = f"the folder has no {CONFIG_FILE}; a checkpoint is a folder as save_pretrained writes it"
        return refusal("config-file-missing", message)
    command = etch_command("bundle", folder.path, "--out", "FOLDER")
    message = f"the folder is a generated model, not a checkpoint; to take it and the runtime elsewhere: {command}"
    return refusal("not-a-checkpoint", message, file=MANIFEST)


def _no_weights(folder: CheckpointFolder) -> Exception:
    """What to tell about a folder without safetensors."""
    names = folder.names()
    pickles = [name for name in pickled_names(names) if re.fullmatch(r"[A-Za-z0-9_.-]{1,60}", name)]
    if pickles:
        name = PICKLE if PICKLE in pickles else pickles[0]
        return pickle_refusal(folder, name)
    if files := gguf_names(names):
        return gguf_refusal(folder.path / files[0])
    others = [name for name in names if name.endswith(PICKLE_SUFFIXES + _OTHER_FORMATS)]
    if others:
        return refusal("format-not-supported", f"only {WEIGHTS_FILE} is read, not this format", file=others[0])
    return refusal("weights-missing", f"the folder has neither {WEIGHTS_FILE} nor {INDEX_FILE}")
