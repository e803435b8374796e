# SPDX-License-Identifier: Apache-2.0
"""A shorter text for a text: a model that is asked for it by `--task summarize`. It writes as a translator does, by
what config.json says of this task (`load/task_params.py`)."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import EtchError
from ..ir.task import Task
from .translation import Translation


@dataclass(frozen=True)
class Summarization(Translation):
    """As `Translation`, under another name."""

    task_names = ("summarization",)
    verb = "summarize"

    @classmethod
    def of_writer(cls, task: Task) -> Summarization:
        """EtchError where the model writes no text for a text."""
        if not isinstance(task, Translation):
            message = f"--task summarize is for a sequence-to-sequence model, not for {task.name}"
            raise EtchError("option-conflict", "arguments", message)
        return cls(task.vocabulary, task.max_tokens)


TASK = Summarization
