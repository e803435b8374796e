# SPDX-License-Identifier: Apache-2.0
"""What `--task` and `--pooling` may ask for. `--help` lists it, which waits for nothing that is slow to import."""

ZERO_SHOT, SUMMARIZE, SPARSE = TASKS = ("zero-shot", "summarize", "sparse")
POOLINGS = ("mean", "cls", "max", "last")
