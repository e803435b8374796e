# SPDX-License-Identifier: Apache-2.0
"""Folders of SparseEncoder and MultiVectorEncoder over encoders of random shapes, their settings changed at random: a
text must mean for what etch accepts, in float64, what `sentence-transformers` computes of it.

    python3 tests/fuzz/sentence_differences.py [--models N] [--seed S] [--one NUMBER] [KIND ...]

Needs what tests/codegen/recorded/record.py names. A folder that etch refuses is no finding, nor is one that the library
cannot read or run, nor one that etch takes for another task's. Exit codes: 0 without a finding, 1 with one.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import model_differences as models  # first: it says where the rest is found
import numpy as np
import torch
import transformers
from drawn_classes import NAMES
from drawn_encoders import draw_encoder
from drawn_library import EAGER, Other
from drawn_run import compare_drawn
from drawn_sentences import KINDS, SPARSE, Drawn, draw, edit, load, write
from family_specials import specials_of
from record_generation import check_installed
from unrounded import unrounded
from vocabularies import vocabulary_size, write_tokenizer

from codegen import pipeline
from codegen.errors import EtchError
from codegen.ir.check_graph import check_graph
from codegen.ir.check_supported import check_supported
from codegen.ir.graph import Graph
from codegen.ir.tokenizer_spec import TokenizerSpec
from codegen.library_tokenizer.wheel_tokenizer import text_tokenizer
from codegen.oracle.interpret import Interpreter
from codegen.tasks.multi_vector import MultiVector
from codegen.tasks.sparse_embedding import SparseEmbedding

TEXTS = (
    "the cat sat on the mat.",
    "",
    "Caf\u00e9: the news of, Berlin! [MASK] <mask>",
    "what is the price of oil, and of a dog? " * 4,
)
# Without BigBird, of which etch takes the texts that its full attention reads.
_FAMILIES = (
    *("albert", "bert", "camembert", "convbert", "data2vec-text", "distilbert", "electra", "ernie", "eurobert", "gte"),
    *("megatron-bert", "mobilebert", "modernbert", "mpnet", "nomic_bert", "rembert", "roberta", "roformer"),
    *("deberta", "deberta-v2", "squeezebert", "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "xmod"),
)
_NOTED = "queries are cut at"


def encoder(source: random.Random, family: str, kind: str, folder: Path, seed: int) -> str:
    """Writes the folder of what stands before the library's own modules; what it is."""
    settings, tokens = draw_encoder(source, family)
    specials = specials_of(family)
    ending = "ForMaskedLM" if kind in SPARSE else "Model"
    made = getattr(transformers, f"{NAMES[family]}{ending}", None)
    if made is None:
        raise Other("no such class")
    settings = {"vocab_size": vocabulary_size(specials), **settings}
    models.save(made, settings, folder, seed, family)
    write_tokenizer(folder, specials, tokens)
    return f"{made.__name__} {settings}"


def compare_folder(folder: Path, drawn: Drawn, family: str) -> None:
    """AssertionError where a text means another thing."""
    checkpoint = pipeline.load(folder)
    graph = pipeline.to_graph(checkpoint, None)
    check_graph(graph)
    check_supported(graph)
    if not isinstance(graph.task, SparseEmbedding if drawn.kind in SPARSE else MultiVector):
        raise Other("another task")
    interpreter = Interpreter(graph)
    with library():
        model = load(folder, drawn, "eager" if family in EAGER else "sdpa")
    if any(_NOTED in note for note in checkpoint.notes):  # otherwise than by the library
        model[0].query_length = graph.max_tokens
    compare = _weights if drawn.kind in SPARSE else _vectors
    for text in TEXTS:
        compare(model, graph, interpreter, checkpoint.tokenizer, text, family)


def _weights(model: Any, graph: Graph, interpreter: Interpreter, spec: TokenizerSpec, text: str, family: str) -> None:
    with library(), torch.inference_mode(), unrounded(model):
        theirs = model.encode_document([text], convert_to_sparse_tensor=False)[0].numpy()
    ids = text_tokenizer(spec, graph.max_tokens).encode(text).ids
    models.close(interpreter.output(ids, [0] * len(ids)), theirs, family)
    assert isinstance(graph.task, SparseEmbedding)
    query = graph.task.query
    if query is None or not text:  # the library reads no query without tokens
        return
    read = text_tokenizer(spec, query.longest(graph.max_tokens)).encode(text)
    if read.overflowing and query.longest(graph.max_tokens) == graph.max_tokens:
        return  # the library cuts it later, or not at all
    with library(), torch.inference_mode():
        theirs = model.encode_query([text], convert_to_sparse_tensor=False)[0].numpy()
    models.close(query.row(read.ids), theirs, family)


def _vectors(model: Any, graph: Graph, interpreter: Interpreter, spec: TokenizerSpec, text: str, family: str) -> None:
    assert isinstance(graph.task, MultiVector)
    for side, encode in ((graph.task.query, model.encode_query), (graph.task.document, model.encode_document)):
        with library(), torch.inference_mode(), unrounded(model):
            theirs = np.asarray(encode(text))
        ids = text_tokenizer(spec, side.longest(graph.max_tokens)).encode(side.prompt + text).ids
        read = side.filled(ids)
        ours = interpreter.output(read.ids, read.segments, read.keys)[side.kept(read.ids)]
        assert ours.shape == theirs.shape, f"{ours.shape} vectors of {text!r}, of the library {theirs.shape}"
        if len(ours):
            models.close(ours, theirs, family)


@contextmanager
def library() -> Iterator[None]:
    """What fails in here the library cannot do."""
    try:
        yield
    except Exception as error:
        raise Other("not run by the library") from error


def compare(kind: str, seed: int, number: int) -> tuple[str, str]:
    """(outcome, what was compared)."""
    source = random.Random(f"{seed}/{number}/{kind}")
    family = "bert" if kind == "stanford" else source.choice(_FAMILIES)  # ColBERT's own class is a BERT
    what = f"{kind} of {family}"
    with tempfile.TemporaryDirectory() as name:
        bare, folder = Path(name) / "bare", Path(name) / "model"
        try:
            what = f"{kind}: {encoder(source, family, kind, bare, number)}"
            drawn = draw(source, kind)
            what = f"{what}, {drawn}"
            with library():
                write(drawn, bare, folder, number)
            what = f"{what}: {edit(source, folder)}"
            compare_folder(folder, drawn, family)
        except EtchError as error:
            return f"refused, {error.code}", f"{what}: {error}"
        except Other as error:
            return str(error), f"{what}: {error.__cause__!r}"
        except AssertionError as error:
            return "different", f"{what}: {error}"
        except Exception as error:  # only a refusal is an answer
            return "different", f"{what}: {type(error).__name__}: {error}"
    return "the same", what


def main() -> int:
    return compare_drawn(KINDS, "KIND", 400, compare, check_installed)


if __name__ == "__main__":
    sys.exit(main())
