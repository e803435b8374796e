# SPDX-License-Identifier: Apache-2.0
"""Generative models, generated and built: the emulator's tokens on every kernel, with threads, in steps, and where the
caller has little room. The tokenizer beside graphs without one is that of a tiny checkpoint."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from classify_program import ROOT
from graph_builder import MAX_TOKENS, VOCABULARY
from model_build import build_test
from once import once
from sampling import sampled
from test_generation import graph_of, recorded
from tiny_checkpoint import write_tiny_checkpoint
from tiny_generators import GENERATORS, roomier

from codegen import pipeline
from codegen.emulate.generation import Generation
from codegen.folders.output import write_output
from codegen.frontends.encoder_decoders import bart
from codegen.ir import graph as g
from codegen.ir.search import Restrictions, Sampling
from codegen.load.config import Config
from codegen.load.files import CheckpointFolder
from codegen.load.shards import open_weights
from codegen.lower import lower
from codegen.quantize import RECIPES
from codegen.render.manifest import manifest
from codegen.render.model import render_model

SOURCE = ROOT / "tests" / "end_to_end" / "writing" / "target_of_ids.cpp"

# Both operand kinds and 4 bits, both packings; one layer and several, whose caches lie one behind the other.
RESTRICTED = ", restricted"
ROOMY = ", roomy"  # several texts have room at the same time
ROOM = 70
RESTRICTIONS = Restrictions(1.3, 2, ((5, 6, 7), (8, 9)), (4, 11))
QUICK = [
    ("encoder and decoder", "fp32", "host"),
    ("encoder and decoder, restricted", "w8a8", "host"),
    ("gemma3_text/own", "w8a8", "host"),
    ("llama/tied", "w4a8", "m-profile"),
    ("t5/untied", "w8a8", "host"),
]
LONG = [
    ("t5/untied", "w7a8", "host"),
    ("bart/two_layers", "w8a8", "host"),
    ("decoder only, restricted", "fp32", "m-profile"),
    ("bart/uneven", "w4a8", "host"),
    ("bart/ends", "w8a8", "host"),
    ("decoder only", "w8a8", "host"),
    ("decoder only", "fp32", "m-profile"),
    ("decoder only, one layer", "fp32", "host"),
    ("decoder only, norms behind blocks", "w8a8", "host"),
    ("encoder-decoder/bert", "w8a8", "host"),
    ("encoder-decoder/projected", "w4a8", "m-profile"),
    ("encoder-decoder/roberta", "fp32", "host"),
    ("encoder and decoder", "w8a8", "host"),
    ("encoder and decoder", "w4a8", "m-profile"),
    ("encoder and decoder, one layer", "w4a8", "host"),
    ("gpt2/narrow", "fp32", "host"),
    ("gpt2/two_layers", "w8a8", "host"),
    ("openai-gpt/own", "w8a8", "host"),
    ("bigbird_pegasus/own", "w8a8", "host"),
    ("blenderbot/own", "w8a8", "host"),
    ("blenderbot-small/own", "w8a8", "host"),
    ("bloom/own", "w8a8", "host"),
    ("cohere/head_norms", "w8a8", "host"),
    ("cohere/head_norms", "w4a8", "m-profile"),
    ("cohere2/texts", "w8a8", "host"),
    ("gemma/own", "w8a8", "host"),
    ("gemma2/own", "w8a8", "host"),
    ("glm4/own", "w8a8", "host"),
    ("granite/own", "w8a8", "host"),
    ("granitemoehybrid/own", "w4a8", "host"),
    ("granitemoehybrid/still", "w8a8", "m-profile"),
    ("hyperclovax/own", "w8a8", "host"),
    ("nanochat/own", "w8a8", "m-profile"),
    ("ministral3/own", "fp32", "host"),
    ("jais2/own", "w8a8", "host"),
    ("apertus/own", "w8a8", "host"),
    ("bitnet/own", "w8a8", "host"),
    ("minicpm3/own", "w8a8", "host"),
    ("youtu/halves", "fp32", "m-profile"),
    ("granitemoe/own", "w8a8", "host"),
    ("mixtral/own", "w4a8", "m-profile"),
    ("olmoe/own", "w8a8", "host"),
    ("qwen2_moe/own", "w4a8", "host"),
    ("qwen2_moe/own", "fp32", "m-profile"),
    ("qwen3_moe/own", "w8a8", "host"),
    ("ernie4_5_moe/own", "fp32", "m-profile"),
    ("exaone_moe/own", "w4a8", "host"),
    ("lfm2_moe/own", "w8a8", "host"),
    ("gpt_neo/texts", "w8a8", "host"),
    ("hunyuan_v1_dense/own", "w8a8", "host"),
    ("modernbert-decoder/own", "w8a8", "host"),
    ("nemotron/own", "w8a8", "m-profile"),
    ("olmo/own", "w8a8", "host"),
    ("gpt_neox/one_by_one", "fp32", "host"),
    ("gpt_neox/texts", "w8a8", "m-profile"),
    ("gptj/own", "w8a8", "m-profile"),
    ("opt/projected", "w8a8", "host"),
    ("persimmon/own", "w8a8", "host"),
    ("phi/head_norms", "w8a8", "host"),
    ("phi3/long", "w8a8", "host"),
    ("lfm2/own", "fp32", "host"),
    ("lfm2/texts", "w8a8", "m-profile"),
    ("lfm3/own", "w8a8", "m-profile"),
    ("gemma4_text/own", "w8a8", "host"),
    ("qwen3_5_text/own", "w8a8", "host"),
    ("qwen3_5_text/own", "fp32", "m-profile"),
    ("qwen3_5_text/biased", "w4a8", "host"),
    ("gpt_oss/own", "w8a8", "host"),
    ("granite_swa/own", "fp32", "m-profile"),
    ("qwen3_next/own", "w8a8", "host"),
    ("qwen3_next/dense", "fp32", "m-profile"),
    ("olmo_hybrid/own", "w8a8", "host"),
    ("olmo_hybrid/turned", "fp32", "m-profile"),
    ("mamba2/own", "w8a8", "host"),
    ("mamba2/biased", "fp32", "m-profile"),
    ("granitemoehybrid/mamba", "w8a8", "host"),
    ("granitemoehybrid/mixed", "w4a8", "host"),
    ("bamba/own", "w8a8", "m-profile"),
    ("falcon_h1/own", "w8a8", "host"),
    ("falcon_h1/normed", "fp32", "m-profile"),
    ("llama/tied", "w8a8", "host"),
    ("llama/wide_heads", "fp32", "m-profile"),
    ("llama/scaled", "w8a8", "host"),
    ("marian/opus", "w4a8", "host"),
    ("m2m_100/own", "w8a8", "host"),
    ("mbart/own", "w8a8", "host"),
    ("mvp/own", "w8a8", "host"),
    ("olmo2/own", "w8a8", "host"),
    ("smollm3/own", "w4a8", "m-profile"),
    ("pegasus/own", "w4a8", "host"),
    ("plbart/own", "w8a8", "host"),
    ("stablelm/head_norms", "w8a8", "m-profile"),
    ("stablelm/parallel", "w8a8", "host"),
    ("starcoder2/own", "w8a8", "m-profile"),
    ("transformer/course", "w8a8", "host"),
    ("transformer/pre", "w4a8", "m-profile"),
    ("t5/tied", "fp32", "host"),
    ("t5/tied", "w8a8", "m-profile"),
    ("t5/untied", "w4a8", "host"),
    ("t5gemma/own", "w8a8", "host"),
    ("t5gemma/untied", "fp32", "m-profile"),
    ("umt5/own", "w8a8", "m-profile"),
]


def graph(form: str) -> g.Graph:
    if form.endswith(RESTRICTED):
        made = graph(form.removesuffix(RESTRICTED))
        assert made.target_rules is not None
        return replace(made, target_rules=replace(made.target_rules, restrictions=RESTRICTIONS))
    if form.endswith(ROOMY):
        return roomier(graph(form.removesuffix(ROOMY)), ROOM)
    return GENERATORS[form]() if form in GENERATORS else graph_of(form)


def texts(form: str) -> list[list[int]]:
    form = form.removesuffix(RESTRICTED).removesuffix(ROOMY)
    if form not in GENERATORS:
        return [text["ids"] for text in recorded(form)["outputs"]]
    random = np.random.default_rng(11)
    return [random.integers(0, VOCABULARY, n).tolist() for n in (1, 2, 7, MAX_TOKENS)]


def generate(made: g.Graph, recipe: str, target: str, checkpoint: Path, out: Path) -> None:
    model = pipeline.make_model("form", pipeline.load(checkpoint), made, RECIPES[recipe], target)
    write_output(out, render_model(model, "incbin"), lambda files: manifest(model, "incbin", files))


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tokenizer")
    write_tiny_checkpoint(path)
    return path


def kernels(program: Path) -> list[str]:
    """Those that this CPU can run: scalar, the specification, is the first, the best one the last."""
    listed = subprocess.run([program, "list"], capture_output=True, text=True, check=True).stdout.split()
    assert listed[-1] == "scalar"
    return listed[::-1]


def written(
    program: Path,
    kernel: str,
    workers: int,
    budget: int,
    asked: Sequence[tuple[int, list[int]]],
    beams: int = 0,
    by_token: bool = False,
    sampling: Sampling | None = None,
    together: bool = False,
    most: int = 0,
) -> list[str]:
    """What the program writes for capacities and ids: why it ended, tokens of the text, the score's bits, ids."""
    lines = [" ".join(map(str, (capacity, len(ids), *ids))) for capacity, ids in asked]
    drawn = [] if sampling is None else [sampling.temperature, sampling.top_k, sampling.top_p, sampling.seed]
    mode = 2 if together else int(by_token)
    command = [program, kernel, *map(str, (workers, budget, f"{beams},{most}", mode, *drawn))]
    return subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, check=True
    ).stdout.splitlines()


def meant(recipe: str, made: g.Graph, asked: Sequence[tuple[int, list[int]]], most: int = 0) -> list[str]:
    """The same of the emulator."""
    program, rules = lower(made, RECIPES[recipe]), made.target_rules
    assert rules is not None
    texts = {tuple(ids): Generation(program, ids, [0] * len(ids), most) for _, ids in asked}
    whole = {ids: text.greedy() for ids, text in texts.items()}
    lines = []
    for capacity, ids in asked:
        tokens, logits = whole[tuple(ids)]
        score = texts[tuple(ids)].score(tokens[:capacity], logits[:capacity])
        at_end = len(tokens) <= capacity
        best = rules.best(logits[-1], rules.read_first(ids), tokens[:-1])
        ended = 2 if not at_end else 0 if best in rules.ends else 1
        lines.append(" ".join(map(str, (ended, len(ids), bits(score), *tokens[:capacity]))))
    return lines


def drawn(
    recipe: str, made: g.Graph, asked: Sequence[tuple[int, list[int]]], sampling: Sampling, most: int = 0
) -> list[str]:
    """The same of tokens that are drawn, each text as one of its own."""
    program, rules = lower(made, RECIPES[recipe]), made.target_rules
    assert rules is not None
    lines = []
    longest = most or rules.max_tokens
    for number, (capacity, ids) in enumerate(asked):
        text = Generation(program, ids, [0] * len(ids), most)
        tokens, score, is_end = text.drawn(replace(sampling, text=number), capacity)
        at_end = len(tokens) < capacity or capacity >= longest
        ended = 2 if not at_end else 0 if is_end else 1
        lines.append(" ".join(map(str, (ended, len(ids), bits(score), *tokens))))
    return lines


def bits(score: np.float32) -> str:
    return f"{score.view(np.uint32):08x}"


SAMPLINGS = (Sampling(1.0, seed=7), Sampling(1.7, 12, 0.9, (1 << 40) + 1))
SAMPLE = sampled(LONG, 3, "generative models")


@pytest.mark.parametrize(
    ("form", "recipe", "target"), [*QUICK, *(pytest.param(*case, marks=pytest.mark.sweep) for case in SAMPLE)]
)
def test_the_emulators_tokens(
    form: str, recipe: str, target: str, checkpoint: Path, shared: Path, tmp_path: Path
) -> None:
    made = graph(form)
    name = f"{form}_{recipe}_{target}".replace(", ", "_").replace(" ", "_").replace("/", "_")
    folder = shared / "writers" / name / "form"
    once(folder.parent / "made", form, lambda: generate(made, recipe, target, checkpoint, folder))
    program = build_test(folder, SOURCE, tmp_path / "program")
    assert made.target_rules is not None
    most = made.target_rules.max_tokens
    asked = [(capacity, ids) for ids in texts(form) for capacity in (most, 0, 1, most - 1)]
    expected = meant(recipe, made, asked)
    assert len({line.split()[0] for line in expected}) > 1
    names = kernels(program)
    assert len(names) > 1
    for kernel in names:
        assert written(program, kernel, 1, 0, asked) == expected, kernel
    assert written(program, names[-1], 3, 0, asked) == expected
    for budget in (1, 1000, 1 << 40):
        assert written(program, names[-1], 1, budget, asked) == expected, budget
    for workers, budget in ((3, 0), (1, 1), (2, 5000)):
        assert written(program, names[-1], workers, budget, asked, by_token=True) == expected, budget
    few = most // 2
    fewer = meant(recipe, made, asked, few)
    assert fewer != expected
    for kernel in (names[0], names[-1]):
        assert written(program, kernel, 1, 0, asked, most=few) == fewer
    for budget, by_token in ((1000, False), (0, True)):
        assert written(program, names[-1], 1, budget, asked, by_token=by_token, most=few) == fewer, budget
    assert written(program, names[-1], 1, 0, asked, most=most + 1) == expected
    whole = [(most, ids) for ids in texts(form) for _ in range(3)]
    for budget in (0, 1000):
        found = written(program, names[-1], 1, budget, whole, sampling=SAMPLINGS[0], together=True, most=few)
        assert found == drawn(recipe, made, whole, SAMPLINGS[0], few)
    for sampling in SAMPLINGS:
        found = written(program, names[-1], 3, 0, whole, sampling=sampling)
        assert found == drawn(recipe, made, whole, sampling)
        assert len({line.split(maxsplit=3)[3] for line in found}) > len(found) // 2
        for kernel in names:
            assert written(program, kernel, 1, 0, whole, by_token=True, sampling=sampling) == found, kernel
        assert written(program, names[-1], 1, 1000, whole, sampling=sampling) == found
        for budget in (0, 1000):
            assert written(program, names[-1], 1, budget, whole, sampling=sampling, together=True) == found


WORDS: list[tuple[str, list[int], list[int]]] = json.loads(
    (ROOT / "tests" / "codegen" / "generation" / "bart_g2p_us.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(
    ("recipe", "most"),
    [("w8a8", 3), *(pytest.param(*case, marks=pytest.mark.sweep) for case in (("fp32", 0), ("w4a8", len(WORDS))))],
)
def test_a_trained_model(recipe: str, most: int, checkpoint: Path, shared: Path, tmp_path: Path) -> None:
    """Words to phonemes: the emulator's tokens, with threads that share ops, too, and nearly always the library's."""
    models = os.environ.get("ETCH_MODELS")
    if models is None:
        pytest.skip("ETCH_MODELS is not set")
    files = CheckpointFolder(Path(models) / "bart_g2p_us")
    made = bart.FAMILY.graph_of(Config.from_json(files.read_json("config.json")), open_weights(files)[0], 64, 63)
    folder = shared / "writers" / f"bart_g2p_us_{recipe}" / "form"
    once(folder.parent / "made", recipe, lambda: generate(made, recipe, "host", checkpoint, folder))
    program = build_test(folder, SOURCE, tmp_path / "program")
    asked = [(63, ids) for _, ids, _ in WORDS]
    *others, best = kernels(program)
    found = written(program, best, 1, 0, asked)
    assert found[:4] == meant(recipe, made, asked[:4])
    for workers, budget in ((3, 0), (1, 1), (1, 100_000)):
        assert written(program, best, workers, budget, asked) == found
    for kernel in others:
        assert written(program, kernel, 1, 0, asked[:4]) == found[:4], kernel
    ours = [list(map(int, line.split()[3:])) for line in found]
    assert sum(one != theirs for one, (_, _, theirs) in zip(ours, WORDS, strict=True)) <= most
