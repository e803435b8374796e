# SPDX-License-Identifier: Apache-2.0
"""`--task`: what a model is to answer with where that is another thing than its folder says."""

from __future__ import annotations

from dataclasses import replace

from .asked import SPARSE, SUMMARIZE, ZERO_SHOT
from .errors import EtchError
from .ir.graph import Graph, Head
from .ir.task import Task
from .load.checkpoint import Checkpoint
from .load.splade import SparsePooling
from .tasks.sparse_embedding import SparseEmbedding
from .tasks.summarization import Summarization
from .tasks.zero_shot import ZeroShot

ASKED: dict[str, type[Task]] = {ZERO_SHOT: ZeroShot, SUMMARIZE: Summarization, SPARSE: SparseEmbedding}


def asked_by(name: str) -> str | None:
    """What `--task` was, by the task's name in etch.json."""
    return next((asked for asked, task in ASKED.items() if name in task.task_names), None)


def params_of(task: str | None) -> str | None:
    """Whose of config.json's settings of single tasks count."""
    return Summarization.task_names[0] if task == SUMMARIZE else None


def with_task(checkpoint: Checkpoint, task: str | None) -> Checkpoint:
    """The checkpoint with what the task changes of it: a hypothesis is never cut, weights of words are pooled as SPLADE
    does it where the folder says nothing else."""
    if task == SPARSE:
        checkpoint = replace(checkpoint, sparse=checkpoint.sparse or SparsePooling())
    if task == ZERO_SHOT:
        template = replace(checkpoint.tokenizer.template, cuts_first=True)
        checkpoint = replace(checkpoint, tokenizer=replace(checkpoint.tokenizer, template=template))
    return replace(checkpoint, asked_task=task)


def graph_of_task(checkpoint: Checkpoint, graph: Graph) -> Graph:
    """The graph with the task that was asked for. EtchError where its head or its tokenizer cannot be that."""
    if checkpoint.asked_task is None:
        return graph
    if checkpoint.asked_task == SUMMARIZE:
        return replace(graph, heads=(Head(Summarization.of_writer(graph.task), graph.heads[0].value),))
    if checkpoint.asked_task == SPARSE:
        if not isinstance(graph.task, SparseEmbedding):
            message = f"--task sparse: weights of words beside others are not supported, got {graph.task.name}"
            raise EtchError("option-conflict", "arguments", message)
        return graph
    task = ZeroShot.of_classifier(graph.task)
    if checkpoint.tokenizer.template.segments > graph.segments:
        message = "--task zero-shot: a text goes with a hypothesis, the model takes single texts only"
        raise EtchError("option-conflict", "arguments", message)
    return replace(graph, heads=(Head(task, graph.heads[0].value),))
