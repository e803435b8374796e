# SPDX-License-Identifier: Apache-2.0
"""`verify --tokenizer-certificate`: what a built model makes of a user's texts beside the folder's own tokenizer, token
by token, as a JSON file that says what was compared with what."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers

from .. import __version__
from ..building.built_program import Echo, ProgramError, json_lines, program_of
from ..errors import EtchError, printable
from ..files.digest import sha256_of
from ..files.one_file import check_place, write_file
from ..files.texts import lines_of
from ..folders.generated_folder import check_folder
from ..head_folders import HeadFolder
from ..ir.character_models import CodePointsModel
from ..ir.tokenizer_spec import TokenizerSpec
from ..library_tokenizer.composed_tokenizer import ComposedEncoding
from ..library_tokenizer.decoded import decoded
from ..library_tokenizer.own_tokenizer import OwnTokenizer, own_tokenizer
from ..library_tokenizer.wheel_tokenizer import WheelEncoding, encode_batch, text_tokenizer
from ..load.checkpoint import Checkpoint
from ..load.tokenizer_files.moses_library import library_version
from ..pipeline import to_graph
from ..vocabulary.prunable import unknown_ids
from .verify import load_generated, pairs_of, takes_pairs

_AT_ONCE = 10_000  # texts that are held in memory
_SHOWN = 10  # differences
_FILES = (  # of a folder, that say what its tokenizer does
    "tokenizer.json", "tokenizer_config.json", "vocab.txt", "vocab.json", "merges.txt", "added_tokens.json",
    "special_tokens_map.json", "sentence_bert_config.json", "config.json", "spm.model", "spiece.model",
    "sentencepiece.bpe.model", "tokenizer.model", "source.spm", "target.spm", "word_shape.json",
    "word_pronunciation.json", "vocab-src.json", "vocab-tgt.json",
)  # fmt: skip


@dataclass
class Counts:
    """Of the texts compared so far."""

    texts: int = 0
    pairs: int = 0
    tokens: int = 0
    unknown: int = 0
    truncated: int = 0
    different: int = 0
    shown: list[str] = field(default_factory=list)  # the first ones that differ

    def add(
        self,
        lines: tuple[bytes, ...],
        answer: dict[str, Any],
        own: WheelEncoding,
        begins: Sequence[Sequence[int]],
        unknown: set[int],
    ) -> None:
        """A text or a pair; `begins` are for each text the bytes at which its characters begin. To some pieces
        `sentencepiece` counts no characters, and `sacremoses` tells none: such offsets are not compared."""
        self.texts += len(lines) == 1
        self.pairs += len(lines) == 2
        self.tokens += len(own.ids)
        self.unknown += sum(i in unknown for i in own.ids)
        self.truncated += bool(own.overflowing)
        expected: dict[str, Any] = {"ids": own.ids, "truncated": bool(own.overflowing)}
        if not isinstance(own, ComposedEncoding):
            which = [number or 0 for number in own.sequence_ids]
            expected["offsets"] = [
                [begins[i][begin], begins[i][end]] for i, (begin, end) in zip(which, own.offsets, strict=True)
            ]
        wrong = [key for key, value in expected.items() if answer.get(key) != value]
        if wrong:
            self.different += 1
            if len(self.shown) < _SHOWN:
                place = f"text {self.texts}" if len(lines) == 1 else f"pair {self.pairs}"
                shown = printable(", ".join(map(repr, lines))[:200])
                self.shown.append(f"{place}: other {' and '.join(wrong)}: {shown}")


def certify(
    directory: Path,
    checkpoint: Path,
    texts: Path | None,
    out: Path,
    echo: Echo,
    find_program: Callable[[Path, Echo], Path] = program_of,
    heads: Sequence[HeadFolder] = (),
) -> int:
    """Writes the certificate to `out`; 0 where no text differs, else 1. Where the model takes pairs, each text is also
    compared with the one after it as a pair, but for those of two chunks. EtchError (stage verify) for wrong use and
    where there is nothing to compare with."""
    if texts is None:
        raise EtchError("option-incomplete", "verify", "--tokenizer-certificate needs --texts, what to compare")
    check_place(out, "verify")
    manifest = check_folder(directory, "verify")
    loaded = load_generated(manifest, checkpoint, heads)
    own = _own(checkpoint, loaded, manifest)
    try:
        program = find_program(directory, echo)
        counts, digest = _counted(program, texts, own, loaded, manifest["max_tokens"])
    except ProgramError as error:
        echo(f"the built program failed: {printable(str(error))}")
        return 1
    digests = {
        "texts": digest,
        "program": sha256_of(program),
        "checkpoint": manifest["checkpoint_sha256"],
        **{name: sha256_of(checkpoint / name) for name in _FILES if (checkpoint / name).is_file()},
    }
    certificate = _certificate(manifest, loaded.tokenizer, own, counts, digests)
    write_file(out, (json.dumps(certificate, indent=1, ensure_ascii=False) + "\n").encode(), "verify")
    for line in _report(certificate):
        echo(line)
    return 1 if counts.different else 0


def _own(folder: Path, loaded: Checkpoint, manifest: dict[str, Any]) -> OwnTokenizer:
    """What the model's tokens are compared with."""
    spec, max_tokens, is_pruned = loaded.tokenizer, manifest["max_tokens"], "kept_ids" in manifest
    if is_pruned or not spec.is_of_wheel:
        return _as_specified(spec, max_tokens, is_pruned)
    own = own_tokenizer(folder, max_tokens, spec.template, loaded.asked_languages)
    if isinstance(own, str):
        raise EtchError("nothing-to-compare", "verify", own)
    return own


def _as_specified(spec: TokenizerSpec, max_tokens: int, is_pruned: bool) -> OwnTokenizer:
    """By what was made of the folder: a pruned model numbers other pieces, and of SentencePiece's models it is not the
    library that knows the ids."""
    library = f"tokenizers {tokenizers.__version__}"
    if spec.sentencepiece is not None:
        library = f"sentencepiece {version('sentencepiece')}"
    elif isinstance(spec.model, CodePointsModel):
        library = "code points of Python's characters"
    elif not spec.is_of_wheel:
        library = f"{library_version()}, {library}"
    pruned = " with the pruned vocabulary, as etch renumbered it" if is_pruned else ""
    return OwnTokenizer(text_tokenizer(spec, max_tokens), f"{library}{pruned}")


def _counted(program: Path, texts: Path, own: OwnTokenizer, loaded: Checkpoint, max_tokens: int) -> tuple[Counts, str]:
    """How what the built program makes of the texts compares, and their SHA-256."""
    spec, graph = loaded.tokenizer, to_graph(loaded, max_tokens)
    counts, digest, unknown = Counts(), hashlib.sha256(), set(unknown_ids(spec.model))
    in_pairs = takes_pairs(graph.task, graph.segments, spec)
    for lines in _chunks(texts):
        for line in lines:
            digest.update(line + b"\n")
        singles = [(line,) for line in lines]
        _compare(counts, own, singles, json_lines(program, lines, "--tokens"), unknown, spec.prefix)
        if in_pairs and (pairs := pairs_of(lines, own.tokenizer)):
            joined = [b"\t".join(pair) for pair in pairs]
            _compare(counts, own, pairs, json_lines(program, joined, "--tokens", "--pairs"), unknown)
    return counts, digest.hexdigest()


def _chunks(texts: Path) -> Iterator[list[bytes]]:
    lines = lines_of(texts, "verify")
    while chunk := list(islice(lines, _AT_ONCE)):
        yield chunk


def _compare(
    counts: Counts,
    own: OwnTokenizer,
    inputs: Sequence[tuple[bytes, ...]],
    answers: list[dict[str, Any]],
    unknown: set[int],
    prefix: str = "",
) -> None:
    """`inputs` are texts, or pairs. Of a prefix that is read before each, all characters begin where the text does."""
    read = [[decoded(line) for line in lines] for lines in inputs]
    texts = [tuple(prefix + text for text, _ in one) for one in read]
    encodings = encode_batch(own.tokenizer, [text if len(text) == 2 else text[0] for text in texts])
    for lines, answer, encoding, one in zip(inputs, answers, encodings, read, strict=True):
        counts.add(
            lines, answer, encoding, [[0] * len(prefix) + np.asarray(begins).tolist() for _, begins in one], unknown
        )


def _certificate(
    manifest: dict[str, Any], spec: TokenizerSpec, own: OwnTokenizer, counts: Counts, digests: dict[str, str]
) -> dict[str, Any]:
    return {
        "model": manifest["name"],
        "tokenizer": spec.summary,
        "max_tokens": manifest["max_tokens"],
        "compared_with": own.read_by,
        "texts": counts.texts,
        "pairs": counts.pairs,
        "tokens": counts.tokens,
        "unknown_share": round(counts.unknown / max(counts.tokens, 1), 6),
        "truncated_texts": counts.truncated,
        "differences": counts.different,
        "first_differences": counts.shown,
        "etch": __version__,
        "generated_by": manifest["generator"],
        "sha256": digests,
    }


def _report(certificate: dict[str, Any]) -> list[str]:
    return [
        f"tokenizer    {certificate['tokenizer']}, at most {certificate['max_tokens']} tokens",
        f"compared     with {certificate['compared_with']}",
        f"texts        {certificate['texts']:,} and {certificate['pairs']:,} pairs, "
        f"{certificate['truncated_texts']:,} of them cut",
        f"tokens       {certificate['tokens']:,}, {100 * certificate['unknown_share']:.2f} % unknown",
        f"differences  {certificate['differences']:,} in ids, offsets or cutting",
        *(f"  {line}" for line in certificate["first_differences"]),
    ]
