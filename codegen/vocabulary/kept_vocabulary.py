# SPDX-License-Identifier: Apache-2.0
"""The vocabulary that a generated folder has kept: of `--keep-vocabulary`, and for those that look at such a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import EtchError
from ..folders.manifest import MANIFEST, ids_of, read_manifest
from ..load.checkpoint import Checkpoint
from .pruning import keep_ids, never_dropped


def check_digest(manifest: dict[str, Any], checkpoint: Checkpoint, stage: str) -> None:
    """EtchError of `stage` where a folder was generated from another checkpoint."""
    if checkpoint.digest != manifest["checkpoint_sha256"]:
        raise EtchError(
            "other-checkpoint",
            stage,
            f"the model was generated from another checkpoint: its SHA-256 is {manifest['checkpoint_sha256']}, "
            f"this folder's {checkpoint.digest}",
        )


def with_kept(checkpoint: Checkpoint, manifest: dict[str, Any], stage: str) -> Checkpoint:
    """The checkpoint with what the manifest says is left of its vocabulary: some of what there is, with all that
    tokenizer and settings need. EtchError of `stage` where it is not that."""
    if "kept_ids" not in manifest:
        return checkpoint
    ids, needed = ids_of(manifest["kept_ids"]), never_dropped(checkpoint)
    if not needed.issubset(ids) or ids[-1] > max(len(checkpoint.tokenizer.model.pieces) - 1, *needed):
        raise EtchError("manifest-malformed", stage, "'kept_ids' are not of this vocabulary", file=MANIFEST)
    return keep_ids(checkpoint, ids)


def with_vocabulary_of(checkpoint: Checkpoint, directory: Path | None) -> Checkpoint:
    """`--keep-vocabulary`: the checkpoint with the vocabulary of a folder that was generated from it; as it is where
    none is named."""
    if directory is None:
        return checkpoint
    manifest = read_manifest(directory, "prune")
    check_digest(manifest, checkpoint, "prune")
    if "kept_ids" not in manifest:
        message = f"--keep-vocabulary: {directory} has all of its checkpoint's vocabulary: leave it out"
        raise EtchError("option-conflict", "arguments", message)
    return with_kept(checkpoint, manifest, "prune")
