# SPDX-License-Identifier: Apache-2.0
"""One vocabulary for both languages: SentencePiece's Unigram, with ids as Marian has them."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import sentencepiece

END, UNKNOWN, PAD = "</s>", "<unk>", "<pad>"
END_ID, UNKNOWN_ID = 0, 1  # the padding's is the last
_UNKNOWN_PIECE = 0  # SentencePiece's own id


def write_pieces(folder: Path, texts: list[str], size: int) -> None:
    """source.spm, target.spm (the same file twice) and vocab.json, of `size` tokens in all."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=model,
        vocab_size=size - 2,  # the end and the padding are no pieces of its own
        model_type="unigram",
        character_coverage=1.0,
        unk_id=_UNKNOWN_PIECE,
        bos_id=-1,
        eos_id=-1,
        num_threads=1,
        minloglevel=1,
    )
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(model.getvalue())
    read = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    pieces = [read.id_to_piece(i) for i in range(read.vocab_size()) if i != _UNKNOWN_PIECE]
    ids = {piece: i for i, piece in enumerate([END, UNKNOWN, *pieces, PAD])}
    (folder / "vocab.json").write_text(json.dumps(ids, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


def copy_pieces(source: Path, folder: Path) -> None:
    """The three files of `write_pieces`."""
    for name in ("source.spm", "target.spm", "vocab.json"):
        shutil.copyfile(source / name, folder / name)


def encode(folder: Path, texts: list[str]) -> list[list[int]]:
    """Ids of texts, the end included."""
    read = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.spm"))
    ids: dict[str, int] = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    return [[*(ids.get(piece, UNKNOWN_ID) for piece in row), END_ID] for row in read.encode(texts, out_type=str)]
