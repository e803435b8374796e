# SPDX-License-Identifier: Apache-2.0
"""Random models of many shapes, every task, recipe and target: what there is of them before they are built."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from once import once
from recorded.outputs import HERE, variants
from recorded.outputs import folder as recorded
from sampling import sampled
from tiny_checkpoint import write_tiny_checkpoint
from tiny_sentence import write_tiny_sentence_model

from codegen import pipeline
from codegen.frontends import FRONT_ENDS
from codegen.frontends.shared.parts import ACTIVATIONS
from codegen.memory.plan import plan_memory
from codegen.names import checked_name
from codegen.oracle.bert import Reference
from codegen.oracle.interpret import Interpreter
from codegen.quantize.bits import parse_bits
from codegen.targets import TARGETS
from codegen.tokenizer import compile_tokenizer

SHAPES: dict[str, dict[str, Any]] = {
    "ten": {"hidden": 10, "heads": 2, "intermediate": 37, "labels": 3},
    "three_heads": {
        **{"hidden": 36, "heads": 3, "intermediate": 37, "layers": 3, "labels": 1000, "max_positions": 67},
        **{"type_vocab": 1, "dtype": "F16", "lowercase": False, "hidden_act": "relu"},
    },
    "blocks": {
        **{"hidden": 192, "heads": 3, "intermediate": 768, "layers": 2, "labels": 2, "max_positions": 301},
        "hidden_act": "gelu_new",
    },
    "three_tokens": {"hidden": 24, "heads": 4, "intermediate": 5, "max_positions": 3, "hidden_act": "silu"},
    "narrow_heads": {"hidden": 8, "heads": 8, "intermediate": 1, "labels": 2, "dtype": "F16", "type_vocab": 1},
    "one_head": {"hidden": 17, "heads": 1, "intermediate": 64, "layers": 2, "labels": 17, "max_positions": 512},
    "type_vocab_3": {"hidden": 32, "heads": 2, "intermediate": 16, "type_vocab": 3, "lowercase": False},
    "multi_label": {"labels": 5, "problem_type": "multi_label_classification", "layers": 2},
    "one_label": {"labels": 1, "hidden": 17, "heads": 1},
    "one_value": {"labels": 1, "problem_type": "regression", "hidden": 36, "heads": 3},
    "values": {"labels": 17, "problem_type": "regression", "hidden_act": "relu"},
    "mean": {"pooling": "mean", "hidden": 36, "heads": 3, "layers": 2, "max_positions": 67},
    "cls": {"pooling": "cls", "normalize": False, "type_vocab": 1, "lowercase": False, "layers": 2},
    "cls_normalized": {"pooling": "cls", "hidden": 17, "heads": 1, "dtype": "F16", "prefix": "bert."},
    "max": {"pooling": "max", "hidden": 192, "heads": 3, "intermediate": 768, "max_positions": 301},
    "mean_sqrt": {"pooling": "mean_sqrt", "normalize": False, "hidden": 24, "heads": 2, "pooler": False},
    **{
        f"act_{name}": {"hidden": 20, "heads": 2, "intermediate": 50, "hidden_act": name, "max_positions": 40}
        for name in ACTIVATIONS
    },
}


_SHORTER = {
    "nystromformer": "nystrom",
    "transformer_encoder": "plain",
    "prelayernorm": "before",
    "modernbert-decoder": "modern",
}  # than 40 letters
_SHORTER |= {"static_embedding": "static"}


@dataclass(frozen=True)
class Model:
    shape: str  # one of SHAPES, or FAMILY/VARIANT of the recorded checkpoints
    recipe: str = "w8a8"
    target: str = "host"
    tables: str = "incbin"
    max_tokens: int | None = None
    embedding_bits: int = 8
    bits: str = ""

    def __post_init__(self) -> None:
        checked_name(self.name)  # also of models that few runs build

    @property
    def name(self) -> str:
        shape = self.shape
        for long, short in _SHORTER.items():
            shape = shape.replace(long, short)
        parts = (shape, self.recipe, self.target, self.tables, *([] if self.max_tokens is None else ["short"]))
        parts += () if self.embedding_bits == 8 else ("words4",)
        parts += ("mixed",) if self.bits else ()
        return "_".join(parts).replace("-", "_").replace("/", "_")


MIXED = "0.query=8,0.intermediate=4,1.intermediate=8,1.output=4"
# Each property once, of each family one.
QUICK = [
    Model("ten"),
    Model("ten", target="m-profile"),
    Model("three_heads", "fp32", "m-profile"),
    Model("blocks"),
    Model("multi_label"),
    Model("one_label", "fp32"),
    Model("values", target="m-profile"),
    Model("mean"),
    Model("cls"),
    Model("max", "fp32", tables="c"),
    Model("mean_sqrt", "fp32"),
    Model("blocks", "w4a8", bits=MIXED),
    Model("blocks", "w7a8", bits=MIXED),
    Model("mean", "w8a8", "m-profile", embedding_bits=4),
    Model("gru/three_layers", "w4a8", "m-profile"),
    Model("distilbert/softmax", "fp32"),
    Model("electra/cls", target="m-profile"),
    Model("convbert/softmax"),
    Model("funnel/softmax"),
    Model("albert/inner_groups", "fp32"),
    Model("mpnet/mean", target="m-profile"),
    Model("deberta-v2/v3", target="m-profile"),
    Model("deberta/near"),
    Model("mobilebert/softmax"),
    Model("roberta/softmax", "fp32"),
    Model("modernbert/softmax", "fp32"),
    Model("t5/mean"),
    Model("t5/gated", "fp32", "m-profile"),
    Model("transformer_encoder/max"),
    Model("transformer_encoder/last", "fp32", "m-profile"),
    Model("bart/regression", target="m-profile"),
    Model("siglip/whole"),
    Model("static_embedding/mean", target="m-profile"),
    Model("qwen3_5_text/long", target="m-profile"),  # a state goes from block to block
]
# What a sample has some of: of each family one in floats and one for boards.
CORE = [
    Model("ten", tables="c"),
    Model("ten", "fp32", tables="c"),
    Model("three_heads"),
    Model("three_tokens", "fp32"),
    Model("three_heads", "w7a8", embedding_bits=4),
    Model("three_heads", "w4a8", embedding_bits=4),
    Model("ten", "w4a8", "m-profile", "c", bits="0.output=8,pooler=8"),
    Model("gru/no_bias"),
    Model("distilbert/mean", target="m-profile"),
    Model("electra/projected", "fp32"),
    Model("convbert/mean", "fp32"),
    Model("convbert/groups", target="m-profile"),
    Model("funnel/repeats", "fp32"),
    Model("funnel/decoded", target="m-profile"),
    Model("canine/softmax"),
    Model("nystromformer/softmax"),
    Model("splinter/mean"),
    Model("nystromformer/plain", "fp32", target="m-profile"),
    Model("fnet/even", target="m-profile"),
    Model("fnet/softmax", "fp32"),
    Model("canine/groups", "fp32"),
    Model("canine/mean", target="m-profile"),
    Model("albert/max", target="m-profile"),
    Model("bert/dense_tanh", "fp32"),
    Model("static_embedding/dense"),
    Model("bert/weighted", target="m-profile"),
    Model("bert/poolings"),
    Model("static_embedding/shared", "w4a8", embedding_bits=4),
    Model("mpnet/long", "fp32"),
    Model("deberta-v2/long", "fp32"),
    Model("deberta/base", target="m-profile"),
    Model("mobilebert/inside", "fp32"),
    Model("mobilebert/mean", target="m-profile"),
    Model("gemma3_text/mean", target="m-profile"),
    Model("qwen3/last", target="m-profile"),
    Model("llama/multi_label", "fp32"),
    Model("lfm2/last", target="m-profile"),
    Model("qwen3_5/labels"),
    Model("qwen3_5_text/last", "fp32"),
    Model("qwen3_next/softmax", target="m-profile"),
    Model("olmo_hybrid/last"),
    Model("mamba2/mean", target="m-profile"),
    Model("granitemoehybrid/mamba"),
    Model("bamba/last", "fp32"),
    Model("falcon_h1/last"),
    Model("roberta/regression", target="m-profile"),
    Model("albert/own_words"),
    Model("xlm-roberta/mean", "fp32"),
    Model("longformer/softmax", target="m-profile"),
    Model("camembert/softmax", target="m-profile"),
    Model("modernbert/pooled", target="m-profile"),
    Model("mt5/mean", "fp32"),
    Model("t5/gated", "w4a8", "m-profile"),
    Model("t5gemma/softmax"),
    Model("t5gemma/mean", "fp32", "m-profile"),
    Model("transformer_encoder/mean", "fp32"),
    Model("transformer_encoder/first", target="m-profile"),
    Model("transformer_encoder/ten_wide"),
]
ALWAYS = [*QUICK, *sampled(CORE, 6, "models of each family")]
RECIPES = ("w8a8", "w7a8", "w4a8", "fp32")
_STORED = ("w8a8", "w4a8", "fp32")  # 7 bits are planned and stored as 8
_OTHER_RECIPES = ("w8a8", "fp32")  # tasks, activations and segments do not know how many bits a weight has
TABLES = ("c", "incbin")
SWEEP = [
    *(Model("ten", "fp32", target, tables) for target in TARGETS for tables in ("c", "incbin")),
    *(
        Model("ten", recipe, target, tables)
        for recipe in ("w8a8", "w7a8", "w4a8")
        for target in TARGETS
        for tables in TABLES
    ),
    *(Model("blocks", recipe, target) for recipe in RECIPES for target in TARGETS),
    *(Model("blocks", "w8a8", target, bits=MIXED) for target in TARGETS),
    *(Model("blocks", recipe, target, max_tokens=150) for recipe in _STORED for target in TARGETS),
    *(Model("three_heads", recipe, target) for recipe in _STORED for target in TARGETS),
    *(Model(shape, recipe) for recipe in _STORED for shape in ("three_tokens", "narrow_heads", "one_head")),
    *(Model("one_head", recipe, "m-profile", "c") for recipe in _STORED),
    *(Model("type_vocab_3", recipe) for recipe in _OTHER_RECIPES),
    *(
        Model(shape, recipe, target)
        for shape in (
            "multi_label",
            "one_label",
            "one_value",
            "values",
            "mean",
            "cls",
            "cls_normalized",
            "max",
            "mean_sqrt",
        )
        for recipe in _OTHER_RECIPES
        for target in TARGETS
    ),
    *(Model(f"act_{name}", recipe) for recipe in _OTHER_RECIPES for name in ACTIVATIONS),
]
RECORDED = sorted(path.name for path in HERE.iterdir() if path.name in {*FRONT_ENDS, "gru"})
SWEEP += [Model(variant, recipe) for family in RECORDED for variant in variants(family) for recipe in _STORED]
QUICK_SET = frozenset(QUICK)
ALWAYS_SET = frozenset(ALWAYS)
MODELS = [*ALWAYS, *(model for model in dict.fromkeys(SWEEP) if model not in ALWAYS_SET)]


def twin_key(model: Model) -> tuple[object, ...]:
    """Models with the same one differ in packing or table form only."""
    return model.shape, model.recipe, model.max_tokens, model.embedding_bits, model.bits


# Of the sweep whole groups of twins, so that a sample has something to compare.
_GROUPS = sampled(list(dict.fromkeys(map(twin_key, MODELS))), 1, "shapes")
TESTED = [model for model in MODELS if model in ALWAYS_SET or twin_key(model) in _GROUPS]


def each(models: list[Model], quick: frozenset[Model] = QUICK_SET) -> pytest.MarkDecorator:
    """These models, those that are not in `quick` in a sweep."""
    marks = {True: (), False: (pytest.mark.sweep,)}
    return pytest.mark.parametrize("model", [pytest.param(m, id=m.name, marks=marks[m in quick]) for m in models])


@dataclass(frozen=True)
class Case:
    """What is known of a model before it is built."""

    checkpoint: Path
    oracle: Reference | Interpreter  # float64
    program: Any  # codegen.ir.program.Program
    max_tokens: int
    row_block: int
    texts: tuple[bytes, ...]
    pairs: tuple[tuple[str, str], ...]


@cache
def checkpoint_of(shape: str, shared: Path) -> Path:
    """The random checkpoint of a shape, written once into the folder that all workers share, or a recorded one."""
    if shape not in SHAPES:
        return recorded(shape)
    path = shared / "checkpoints" / shape
    write = write_tiny_sentence_model if "pooling" in SHAPES[shape] else write_tiny_checkpoint
    once(path.with_suffix(".made"), shape, lambda: write(path, seed=list(SHAPES).index(shape), **SHAPES[shape]))
    return path


@cache
def generated(model: Model, shared: Path, gpu: bool = False) -> Path:
    """The generated folder of a model, made once; with the files for GPUs in another place."""
    out = shared / ("gpu" if gpu else "models") / model.name
    request = pipeline.Request(
        folder=checkpoint_of(model.shape, shared),
        out=out,
        recipe=model.recipe,
        embedding_bits=model.embedding_bits,
        bits=parse_bits(model.bits) if model.bits else {},
        target=model.target,
        tables="c" if model.tables == "c" else "incbin",
        max_tokens=model.max_tokens,
        gpu=gpu,
    )
    once(out.with_suffix(".made"), model.name, lambda: pipeline.generate(request, lambda _: None))
    return out


@cache
def case_of(model: Model, shared: Path) -> Case:
    folder = checkpoint_of(model.shape, shared)
    checkpoint = pipeline.load(folder)
    bits = parse_bits(model.bits) if model.bits else {}
    program = pipeline.lower(checkpoint, model.recipe, model.max_tokens, model.embedding_bits, bits)
    scratch = compile_tokenizer(checkpoint.tokenizer).constants["scratch_bytes"]
    plan = plan_memory(program, TARGETS[model.target], scratch)
    most = program.max_tokens
    words = ["the", "cat", "sat", "on", "mat", "good", "unable", "playing", "berlin", ".", "caf\u00e9", "zzz"]
    texts = [
        "cat",
        "",
        "the " * (most - 2),  # exactly full
        "the " * (most - 1),
        "dogs " * (2 * most),
        "Caf\u00e9 \u4e2d\u56fd \U0001f389 e\u0301 \u00df \u0130 \ufffd",
        "typed [SEP] and [MASK], Berlin!",
        *(" ".join(words[(i * 7 + j * j) % len(words)] for j in range(i)) for i in (2, 7, 23, 24, 25, 48, 130)),
    ]
    if not checkpoint.tokenizer.template.special_ids:  # then there is nothing to compute of no text
        texts.remove("")
    pairs = (("the cat", "a dog"), ("", ""), ("cat " * most, "dog " * most), ("x", "good 1 2"))
    return Case(
        folder,
        Reference(folder) if model.shape in SHAPES else Interpreter(pipeline.to_graph(checkpoint, None)),
        program,
        most,
        plan.row_block,
        tuple(text.encode() for text in texts),
        pairs if program.segments >= 2 else (),
    )
