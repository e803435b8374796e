# SPDX-License-Identifier: Apache-2.0
"""Encoders of random shapes and settings by the keys and names that they were published with, which no library reads: a
text must mean, in float64, what models of `transformers` compute that differ from them in names only.

    python3 tests/fuzz/published_differences.py [--models N] [--seed S] [--one NUMBER] [KIND ...]

Needs what tests/codegen/recorded/record.py names. Exit codes: 0 without a finding, 1 with one.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import model_differences as models  # first: it says where the rest is found
from drawn_run import compare_drawn
from flash_variants import TASKS, WITH_ADAPTERS, Flash
from flash_variants import write as write_flash
from outputs import read_recorded
from published_names import JINA, JINA_CODE, MOSAIC, NEW, NEW_APART
from published_variants import JINA_CODE_SAID, JINA_SAID, MOSAIC_SAID, NEW_SAID, Published, with_more_norms
from published_variants import write as write_published
from record_generation import check_installed
from token_ids import BERT, NO_SEGMENTS, XLM_ROBERTA

from codegen import pipeline
from codegen.errors import EtchError
from codegen.ir.check_graph import check_graph
from codegen.oracle.interpret import Interpreter

Sizes = tuple[int, int, int, int, int]
_ACTIVATIONS = ("gelu", "relu", "silu", "gelu_new")
_GATES = {"geglu": "gelu", "reglu": "relu"}


def sizes(source: random.Random) -> Sizes:
    """Width, heads, layers, inner width, positions; heads of an even width, which the library's angles need."""
    heads = source.randint(1, 7)
    width = 2 * source.randint(1, 4) * heads
    return (
        max(width, 4),
        heads if width >= 4 else 1,
        source.randint(1, 3),
        source.randint(3, 40),
        source.randint(12, 30),
    )


def draw_new(source: random.Random, folder: Path, seed: int) -> str:
    """GTE, with NTK's angles or without."""
    drawn, labels, types = sizes(source), source.choice((0, 1, 3)), source.choice((0, 1, 2))
    theta, factor = source.choice((10_000.0, 160_000.0, 37.5)), source.choice((None, None, 1.0, 2.0, 8.5))
    epsilon, act, is_one = source.choice((1e-12, 1e-5)), source.choice(_ACTIVATIONS), source.random() < 0.7
    slower = 1.0 if factor is None else factor ** (2 / (drawn[0] // drawn[1]))
    angles = {"rope_type": "linear", "rope_theta": theta * (factor or 1.0), "factor": slower}
    both = {"type_vocab_size": types, "hidden_act": act, "layer_norm_eps": epsilon}
    scaling = None if factor is None else {"type": "ntk", "factor": factor}
    said = NEW_SAID | both | {"rope_theta": theta, "rope_scaling": scaling, "pack_qkv": is_one}
    name = "NewForSequenceClassification" if labels else "NewModel"
    variant = Published(name, NEW if is_one else NEW_APART, drawn, labels, said, both | {"rope_parameters": angles})
    write_published(folder, variant, BERT if types == 2 else NO_SEGMENTS, seed)
    return f"{drawn} {labels} {both} {scaling}"


def draw_jina(source: random.Random, folder: Path, seed: int) -> str:
    """Jina's embeddings v2 in the first form."""
    drawn, labels, gate = sizes(source), source.choice((0, 1, 3)), source.choice(tuple(_GATES))
    said, library = JINA_SAID | {"feed_forward_type": gate}, {"hidden_act": _GATES[gate]}
    name = "JinaBertForSequenceClassification" if labels else "JinaBertForMaskedLM"
    write_published(folder, Published(name, JINA, drawn, labels, said, library, slopes=True), BERT, seed)
    return f"{drawn} {labels} {gate}"


def draw_jina_code(source: random.Random, folder: Path, seed: int) -> str:
    """The second form."""
    drawn, gate = sizes(source), source.choice(tuple(_GATES))
    said, library = JINA_CODE_SAID | {"feed_forward_type": gate}, {"hidden_act": _GATES[gate]}
    variant = Published("JinaBertForMaskedLM", JINA_CODE, drawn, 0, said, library, True, with_more_norms)
    write_published(folder, variant, BERT, seed)
    return f"{drawn} {gate}"


def draw_mosaic(source: random.Random, folder: Path, seed: int) -> str:
    """MosaicBERT, whose gate knows one activation."""
    drawn, labels = sizes(source), source.choice((0, 1, 3))
    name = "BertForSequenceClassification" if labels else "BertForMaskedLM"
    said = MOSAIC_SAID | {"hidden_act": source.choice(_ACTIVATIONS)}
    write_published(folder, Published(name, MOSAIC, drawn, labels, said, slopes=True), BERT, seed)
    return f"{drawn} {labels} {said['hidden_act']}"


def draw_flash(source: random.Random, folder: Path, seed: int) -> str:
    """Jina's XLM-RoBERTa with a table of positions."""
    drawn = sizes(source)
    said = {
        **{"architectures": ["XLMRobertaForSequenceClassification"], "position_embedding_type": "absolute"},
        "hidden_act": source.choice(("gelu", "gelu_new")),
    }
    model = "XLMRobertaForSequenceClassification"
    write_flash(folder, Flash(model, drawn, source.choice((1, 3)), said), XLM_ROBERTA, seed)
    return f"{drawn} {said}"


def draw_tasks(source: random.Random, folder: Path, seed: int) -> str:
    """The same with angles, and adapters, of which one counts or none."""
    drawn, theta, task = sizes(source), source.choice((10_000.0, 20_000.0)), source.choice((None, *TASKS))
    said = WITH_ADAPTERS | {"default_task": task, "rotary_emb_base": theta}
    write_flash(folder, Flash("JinaEmbeddingsV3Model", drawn, 0, said, theta, task), XLM_ROBERTA, seed)
    return f"{drawn} {theta} {task}"


KINDS: dict[str, Callable[[random.Random, Path, int], str]] = {
    "new": draw_new,
    "jina": draw_jina,
    "jina_code": draw_jina_code,
    "mosaic": draw_mosaic,
    "flash": draw_flash,
    "flash_tasks": draw_tasks,
}


def compare(kind: str, seed: int, number: int) -> tuple[str, str]:
    """(outcome, what was compared)."""
    source, what = random.Random(f"{seed}/{number}"), kind
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "model"
        folder.mkdir()
        what = f"{kind}: {KINDS[kind](source, folder, number)}"
        try:
            graph = pipeline.to_graph(pipeline.load(folder), None)
            check_graph(graph)
            interpreter = Interpreter(graph)
            for text in read_recorded("model", Path(name)):
                models.close(interpreter.output(text.ids, text.segments), text.float64, _FAMILIES.get(kind, "bert"))
        except EtchError as error:
            return f"refused, {error.code}", f"{what}: {error}"
        except Exception as error:
            return "different", f"{what}: {type(error).__name__}: {error}"
    return "the same", what


_FAMILIES = {"new": "gte", "flash_tasks": "jina_embeddings_v3"}  # with angles


if __name__ == "__main__":
    sys.exit(compare_drawn(tuple(KINDS), "KIND", 120, compare, check_installed))
