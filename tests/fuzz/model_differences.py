# SPDX-License-Identifier: Apache-2.0
"""Models of random shapes and settings, their folders changed at random: what etch accepts, it must mean as
`transformers` does, in float64; generative models must also write the same tokens.

    python3 tests/fuzz/model_differences.py [--models N] [--seed S] [--one NUMBER] [FAMILY ...]

Needs what tests/codegen/recorded/record.py names. A folder that etch refuses is no finding, nor is one that
`transformers` cannot read or run, nor one whose tensors it would make up; a folder that both read, with other outputs,
is, and so is a family of which several were compared to no end. What fails in drawing ends the run. Exit codes: 0
without a finding, 1 with one.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_TESTS = ROOT / "tests" / "codegen"
sys.path[:0] = [str(ROOT), *(str(_TESTS / name) for name in ("generation", "recorded", ""))]
os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np  # noqa: E402
import record_generation as recorded  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from drawn_classes import ENDINGS, NAMES, PREFIXES  # noqa: E402
from drawn_encoders import draw_encoder  # noqa: E402
from drawn_halves import HALVES, of_whole  # noqa: E402
from drawn_library import (  # noqa: E402
    CONFIG,
    EMBED_BY_THEMSELVES,
    OF_ROWS,
    Other,
    config_class,
    library_model,
    outputs,
    pooling_of,
)
from drawn_run import compare_drawn  # noqa: E402
from drawn_writers import NAMES as WRITERS  # noqa: E402
from drawn_writers import WITHOUT_ENCODER, draw_generation, draw_writer  # noqa: E402
from family_specials import specials_of  # noqa: E402
from head_model import LONGFORMERS_OF_PAIRS  # noqa: E402
from like_llama_settings import LIKE_LLAMA  # noqa: E402
from model_edits import edit_config, edit_tensors  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from random_weights import randomize  # noqa: E402
from roc_bert_numbers import give_numbers  # noqa: E402
from token_ids import FIRST_WORD, FUNNEL_SHIFTED, some_tokens  # noqa: E402
from unrounded import unrounded  # noqa: E402
from vocabularies import vocabulary_size, write_tokenizer  # noqa: E402
from writer_variants import CLASSES  # noqa: E402

from codegen import pipeline  # noqa: E402
from codegen.errors import EtchError  # noqa: E402
from codegen.frontends import FRONT_ENDS, family_of  # noqa: E402
from codegen.frontends.shared.checked_keys import with_checked_keys  # noqa: E402
from codegen.ir import graph as g  # noqa: E402
from codegen.ir.check_graph import check_graph  # noqa: E402
from codegen.ir.check_supported import check_supported  # noqa: E402
from codegen.load.config import XLM_MASKED, Config  # noqa: E402
from codegen.load.config_keys import check_keys  # noqa: E402
from codegen.load.files import CheckpointFolder  # noqa: E402
from codegen.load.generation_config import read_generation  # noqa: E402
from codegen.load.shards import open_weights  # noqa: E402
from codegen.load.splade import SparsePooling  # noqa: E402
from codegen.oracle.interpret import Interpreter  # noqa: E402
from codegen.request import Reading  # noqa: E402

LARGEST = 1e-10  # difference, of the largest output
# The same where angles are: their frequencies are powers in float32, and PyTorch's may be off by a unit.
LARGEST_OF_ANGLES = 1e-6
_WITH_ANGLES = (
    *("eurobert", "gte", "jina_embeddings_v3", "llama", "modernbert", "nomic_bert", "qwen2", "qwen3", "gemma3_text"),
    *("t5gemma", "ultrabert"),
    *LIKE_LLAMA,
    *(
        "esm",
        "esmc",
        "codegen",
        "falcon",
        "gpt_neox",
        "gptj",
        "granite",
        "mistral",
        "olmo2",
        "phi",
        "phi3",
        "smollm3",
        "stablelm",
        "starcoder2",
    ),
)
_ENDINGS = (
    *("ForSequenceClassification", "ForSequenceClassification", "ForTokenClassification", "ForMaskedLM"),
    *("ForQuestionAnswering", "ForNextSentencePrediction", "ForMultipleChoice", "Model"),
)
_OF_TEXTS = 0.7  # of the changes of a whole model's configuration
_TYING = tuple(f"{name}ForConditionalGeneration" for name in ("T5", "MT5", "UMT5"))  # whatever the configuration says
_GENERATION = "generation_config.json"
_MOST_READ, _MOST_WRITTEN = 24, 12
F64Array = NDArray[np.float64]


@dataclass(frozen=True)
class Model:
    """A folder, and what both make of it."""

    what: str
    graph: g.Graph
    double: Any  # of `transformers`


def encoder(source: random.Random, family: str, folder: Path, seed: int) -> str:
    """Writes the folder of an encoder with a head or without; what it is."""
    settings, tokens = draw_encoder(source, family)
    kind = next(
        kind
        for ending in (source.choice(ENDINGS.get(family, _ENDINGS)), _ENDINGS[0])
        if (kind := getattr(transformers, f"{NAMES[family]}{ending}", None)) is not None
    )
    if kind.__name__.endswith(("SequenceClassification", "TokenClassification")):
        count = source.choice((1, 2, 3, 4) if "Sequence" in kind.__name__ else (2, 3))
        settings["id2label"] = {i: f"label {i}" for i in range(count)}
    specials = specials_of(family)
    whole = kind.__name__.endswith("EncoderModel") and source.random() < 0.3  # the file has the decoder as well
    saved = getattr(transformers, f"{NAMES[family]}ForConditionalGeneration") if whole else kind
    settings = {"vocab_size": vocabulary_size(specials), **settings}
    save(saved, of_whole(source, family, settings), folder, seed, family)
    if whole:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8")) | {"architectures": [kind.__name__]}
        (folder / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    write_tokenizer(folder, specials, tokens)
    return f"{kind.__name__} {settings}{' of a whole' if whole else ''}"


def writer(source: random.Random, family: str, folder: Path, seed: int) -> str:
    """The same of a generative model."""
    settings = draw_writer(source, family)
    kind = getattr(transformers, CLASSES[WRITERS[family]])
    save(kind, of_whole(source, family, settings), folder, seed, family)
    if family == "pegasus" and source.random() < 0.5:
        recorded.without_positions(folder)
    (folder / _GENERATION).unlink(missing_ok=True)
    generation = draw_generation(source, settings) if source.random() < 0.75 else None
    if generation is not None:
        (folder / _GENERATION).write_text(json.dumps(generation), encoding="utf-8")
    return f"{kind.__name__} {settings}, writes {generation}"


def save(kind: Any, settings: dict[str, Any], folder: Path, seed: int, family: str) -> None:
    try:
        model = kind(config_class(kind, family)(**settings))
        if settings.get("tie_word_embeddings") is False and kind.__name__ in _TYING:
            model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.clone())
        randomize(model, seed)
        if hasattr(model, "final_logits_bias"):
            bias = np.random.default_rng(seed).standard_normal(model.final_logits_bias.shape)
            model.final_logits_bias.copy_(torch.from_numpy(bias).half())
        model.half().save_pretrained(folder)
    except Exception as error:
        raise Other("not made") from error


def change(source: random.Random, folder: Path, prefix: str) -> str:
    """Changes a folder; what was done."""
    path = folder / CONFIG
    config = json.loads(path.read_text(encoding="utf-8"))
    texts = config.get("text_config", config)
    if config["model_type"] == "t5gemma":
        texts = config[source.choice(("encoder", "decoder"))]
    done = [
        edit_config(source, texts if source.random() < _OF_TEXTS else config)
        for _ in range(source.choice((0, 0, 1, 1, 1, 2, 3)))
    ]
    path.write_text(json.dumps(config), encoding="utf-8")
    if source.random() < 0.2:
        done.append(edit_tensors(source, folder, prefix))
    return "; ".join(done)


def compare_encoder(folder: Path, family: str, number: int) -> None:
    """AssertionError where outputs differ."""
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    ending = config.get("architectures") or ["Model"]
    by_themselves = family in HALVES or ending[0].startswith(EMBED_BY_THEMSELVES)
    has_rows = ending[0].endswith(OF_ROWS) and not ending[0].endswith(XLM_MASKED) and not by_themselves
    graph = pipeline.to_graph(pipeline.load(folder, Reading(pooling=pooling_of(ending[0]) if has_rows else None)), None)
    check_graph(graph)
    check_supported(graph)
    model, interpreter, specials = library_model(folder, family), Interpreter(graph), specials_of(family)
    if family == "funnel" and config.get("attention_type") != "factorized":
        specials = FUNNEL_SHIFTED
    if family == "canine":
        specials = replace(specials, least=config.get("downsampling_rate", specials.least))
    if config.get("pad_token_id") == specials.unknown:  # then texts of this tokenizer never have it, or it was refused
        specials = replace(specials, unknown=FIRST_WORD)
    mask = next((op.id for op, _ in g.ops_of(graph) if isinstance(op, g.Masked)), None)
    sparse = None if mask is None else SparsePooling(("max", "sum")[number % 2], twice=number % 3 == 0)
    weighing = None if sparse is None else Interpreter(sparse_graph(folder, sparse))
    for text in some_tokens(number, graph.max_tokens, specials):
        if ending[0] in LONGFORMERS_OF_PAIRS and text.ids.count(specials.separate) != 3:
            continue
        if mask is not None:
            text.ids[len(text.ids) // 2] = mask
        theirs = outputs(model, text, specials, mask)
        if family == "esm" and text.ids == [mask] and np.isnan(theirs).any():
            continue  # of a text of masks alone nothing is left where they are dropped
        close(interpreter.output(text.ids, text.segments), theirs, family)
        if weighing is not None:
            theirs = outputs(model, text, specials, mask, sparse)
            close(weighing.output(text.ids, text.segments), theirs, family)


def sparse_graph(folder: Path, sparse: SparsePooling) -> g.Graph:
    """Of the same model, as a folder with SpladePooling has it."""
    checkpoint = replace(pipeline.load(folder, Reading(task="sparse")), sparse=sparse)
    graph = pipeline.to_graph(checkpoint, None)
    check_graph(graph)
    return graph


def compare_writer(folder: Path, family: str, number: int) -> None:
    """The same of a generative model: logits behind random tokens, and what is written."""
    files, front = CheckpointFolder(folder), family_of(family)
    config = Config.from_json(files.read_json(CONFIG))
    limits = front.read_limits(config)
    check_keys(config, may_decode=True)
    has_encoder = family not in WITHOUT_ENCODER
    settings = read_generation(files, config, limits.target_vocabulary, has_encoder=has_encoder)
    forced = int(settings.forced_begin is not None)
    most = _MOST_WRITTEN - forced if settings.max_tokens is None else settings.max_tokens
    graph = front.graph_of(config, open_weights(files)[0], _MOST_READ, most, settings)
    graph = with_checked_keys(config, graph, getattr(FRONT_ENDS[config.model_type], "HARMLESS_KEYS", frozenset()))
    check_graph(graph)
    model, interpreter, source = library_model(folder, family), Interpreter(graph), np.random.default_rng(number)
    assert graph.target_rules is not None
    # Else their decoders leave out padding tokens that were written; FSMT's with caches masks nothing of many tokens.
    cached, at_once = family in ("fsmt", "t5gemma"), family == "t5gemma"
    for length in (1, 4, 13):
        ids = source.integers(3, limits.vocabulary, length).tolist()
        more = source.integers(3, limits.target_vocabulary, min(5, most - 1)).tolist()
        begin = list(graph.target_rules.read_first(ids))
        given, asked = torch.tensor([ids]), torch.tensor([begin + more])
        inputs = {"input_ids": given, "decoder_input_ids": asked} if has_encoder else {"input_ids": asked}
        options = {"max_new_tokens": most + forced, "max_length": None} if settings.max_tokens is None else {}
        try:
            with torch.inference_mode(), unrounded(model):
                logits = model(**inputs, use_cache=at_once, return_dict=True).logits[0].numpy()
                options |= {"use_cache": cached, "return_dict_in_generate": True}
                written = model.generate(given, attention_mask=torch.ones_like(given), **options).sequences[0].tolist()
        except Exception as error:
            raise Other("not run by the library") from error
        close(interpreter.logits(ids, [0] * length, more), logits[len(begin) - 1 :], family)
        if settings.sampling is None:
            ours = interpreter.generate(ids, [0] * length)
            if settings.search.beams > 1:
                ours = list(interpreter.beams(ids, [0] * length, settings.search)[0].tokens)
            theirs = written[len(graph.target_rules.begin) if has_encoder else length :]
            assert ours == theirs, f"of {ids} etch writes {ours}, the library {theirs}"


def close(ours: F64Array, theirs: F64Array, family: str) -> None:
    if ours.shape != theirs.shape and ours.ndim == theirs.ndim == 2:  # the best words, of which etch has some
        columns, count = theirs.shape[1] // 2, ours.shape[1] // 2
        theirs = np.concatenate([theirs[:, :count], theirs[:, columns : columns + count]], 1)
    assert ours.shape == theirs.shape, f"{ours.shape} outputs, of the library {theirs.shape}"
    difference = np.abs(ours - theirs).max()
    largest = LARGEST_OF_ANGLES if family.partition("/")[0] in _WITH_ANGLES else LARGEST
    assert difference <= largest * max(1, np.abs(theirs).max()), f"outputs differ by {difference:.3g}"


def compare(family: str, seed: int, number: int) -> tuple[str, str]:
    """(outcome, what was compared)."""
    source, what = random.Random(f"{seed}/{number}"), family
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "model"
        write, check = (encoder, compare_encoder) if family in NAMES else (writer, compare_writer)
        try:
            what = write(source, family, folder, number)
        except Other as error:
            return str(error), what
        what = f"{what}: {change(source, folder, PREFIXES.get(family, 'model.'))}"
        try:
            check(folder, family, number)
        except EtchError as error:
            return f"refused, {error.code}", what
        except Other as error:
            return str(error), what
        except AssertionError as error:
            return "different", f"{what}: {error}"
        except Exception as error:  # only a refusal is an answer
            return "different", f"{what}: {type(error).__name__}: {error}"
    return "the same", what


def main() -> int:
    def check_installed() -> None:
        recorded.check_installed()
        give_numbers()

    return compare_drawn((*NAMES, *WRITERS), "FAMILY", 1000, compare, check_installed)


if __name__ == "__main__":
    sys.exit(main())
