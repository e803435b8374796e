# SPDX-License-Identifier: Apache-2.0
"""The folder: what is missing, what is in another format, links that escape, the digest, the default length."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from malformed import (
    CONFIG,
    SENTENCE,
    TOKENIZER,
    TOKENIZER_CONFIG,
    WEIGHTS,
    Case,
    both,
    cased,
    check_refused,
    drop,
    edit,
    load_and_take,
    parametrize,
    put,
    raw,
    remove,
)
from tiny_checkpoint import write_tiny_checkpoint

from codegen.errors import EtchError
from codegen.load.folder import load_checkpoint

NO_WEIGHTS = remove(WEIGHTS)
LFS_POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'ab' * 32}\nsize 90868376\n".encode()


def link(name: str, target: Callable[[Path], str | Path]) -> Callable[[Path], None]:
    """Replace a file by a symbolic link."""

    def apply(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).symlink_to(target(folder))

    return apply


def move_out(name: str) -> Callable[[Path], None]:
    """Replace a file by a link to where it now lies, beside the folder."""

    def apply(folder: Path) -> None:
        shutil.move(folder / name, folder.parent / name)
        (folder / name).symlink_to(Path("..") / name)

    return apply


def beside(name: str) -> Callable[[Path], None]:
    return both(NO_WEIGHTS, raw(name, b"\x80\x04."))


def f(name: str, change: Callable[[Path], object], code: str, file: str | None = None, words: str = "") -> Case:
    return Case(name, change, code, file, None, words)


CASES = [
    f("no folder", shutil.rmtree, "not-a-folder", None, "/model' does not exist; a checkpoint is a folder"),
    f("pointer to weights", raw(WEIGHTS, LFS_POINTER), "lfs-pointer", WEIGHTS, "git lfs pull"),
    f("pointer to a tokenizer", raw(TOKENIZER, LFS_POINTER), "lfs-pointer", TOKENIZER),
    f("no config", remove(CONFIG), "config-file-missing", None, "the folder has no config.json; a checkpoint is"),
    f("generated", both(remove(CONFIG), raw("etch.json", b"{}")), "not-a-checkpoint", "etch.json", "codegen bundle /"),
    f("no weights", NO_WEIGHTS, "weights-missing", None, f"the folder has neither {WEIGHTS} nor "),
    f("no tokenizer", remove(TOKENIZER), "tokenizer-missing"),
    f("config a folder", both(remove(CONFIG), lambda p: (p / CONFIG).mkdir()), "not-a-regular-file", CONFIG),
    f("config a pipe", both(remove(CONFIG), lambda p: os.mkfifo(p / CONFIG)), "not-a-regular-file", CONFIG),
    f("weights a folder", both(NO_WEIGHTS, lambda p: (p / WEIGHTS).mkdir()), "not-a-regular-file", WEIGHTS),
    f("pickle", beside("pytorch_model.bin"), "pickle-refused", "pytorch_model.bin"),
    f("pickle .pt", beside("model.pt"), "pickle-refused", "model.pt", "convert"),
    f(
        "pickles in parts",
        both(beside("pytorch_model-00001-of-00002.bin"), raw("pytorch_model.bin.index.json", b"{}")),
        "pickle-refused",
        "pytorch_model-00001-of-00002.bin",
        "convert",
    ),
    f("adapter", put("adapter_config.json", peft_type="LORA"), "adapter-not-supported", "adapter_config.json"),
    f("pickle .pth", beside("weights.pth"), "pickle-refused", "weights.pth"),
    f("pickle .ckpt", beside("last.ckpt"), "pickle-refused", "last.ckpt"),
    f("pickle that is named like a command", beside("'); x('.bin"), "format-not-supported", "'); x('.bin"),
    f("keras", beside("tf_model.h5"), "format-not-supported", "tf_model.h5"),
    f("flax", beside("flax_model.msgpack"), "format-not-supported", "flax_model.msgpack"),
    f("onnx", beside("model.onnx"), "format-not-supported", "model.onnx"),
    f("config linked away", move_out(CONFIG), "symlink-escapes", CONFIG, "cp -rL"),
    f("weights linked away", move_out(WEIGHTS), "symlink-escapes", WEIGHTS),
    f("tokenizer linked away", move_out(TOKENIZER), "symlink-escapes", TOKENIZER),
    f("link to /etc/passwd", link(CONFIG, lambda p: "/etc/passwd"), "symlink-escapes", CONFIG),
    f("link to /dev/zero", link(WEIGHTS, lambda p: "/dev/zero"), "symlink-escapes", WEIGHTS),
    f("link to the folder", link(CONFIG, lambda p: "."), "symlink-escapes", CONFIG),
    f("dangling link", link(CONFIG, lambda p: "gone.json"), "file-unreadable", CONFIG),
    f("link to itself", link(CONFIG, lambda p: CONFIG), "not-a-regular-file", CONFIG),
    f("max_seq_length too short", put(SENTENCE, max_seq_length=2), "max-tokens-out-of-range", SENTENCE, "3..32"),
    f("max_seq_length true", put(SENTENCE, max_seq_length=True), "config-type", SENTENCE),
    f("max_seq_length text", put(SENTENCE, max_seq_length="32"), "config-type", SENTENCE),
    f("max_seq_length negative", put(SENTENCE, max_seq_length=-1), "config-type", SENTENCE),
    f("sentence lower-casing", both(cased, put(SENTENCE, do_lower_case=True)), "sentence-lowercase", SENTENCE),
    f("sentence config malformed", raw(SENTENCE, b"{"), "json-malformed", SENTENCE),
    f("model_max_length 0", put(TOKENIZER_CONFIG, model_max_length=0), "config-type", TOKENIZER_CONFIG),
    f("model_max_length 2.5", put(TOKENIZER_CONFIG, model_max_length=2.5), "config-type", TOKENIZER_CONFIG),
    f("model_max_length 2", put(TOKENIZER_CONFIG, model_max_length=2), "max-tokens-out-of-range", TOKENIZER_CONFIG),
    f("model_max_length 1", put(TOKENIZER_CONFIG, model_max_length=1), "max-tokens-out-of-range", TOKENIZER_CONFIG),
    f("one position", put(CONFIG, max_position_embeddings=1), "max-tokens-out-of-range", CONFIG),
]


@parametrize(CASES)
def test_refused(case: Case, tmp_path: Path) -> None:
    check_refused(case, tmp_path / "model")


@pytest.mark.parametrize("name", ["model", "it's a $(model)", "mo\tdel", "m" * 200], ids=repr)
def test_pickle_message_tells_how_to_convert(name: str, tmp_path: Path) -> None:
    """By a line that a shell takes: of a folder whose name it cannot show, the user has to say it."""
    case = f("pickle", beside("pytorch_model.bin"), "pickle-refused", "pytorch_model.bin")
    write_tiny_checkpoint(tmp_path / name)
    case.change(tmp_path / name)
    with pytest.raises(EtchError) as caught:
        load_checkpoint(tmp_path / name)
    _, _, command = str(caught.value).partition("convert the folder with: ")
    folder = str(tmp_path / name)
    shown = [folder, "--out", f"{folder}-safetensors"] if len(name) < 20 and name.isprintable() else None
    assert shlex.split(command) == ["python3", "-m", "codegen", "convert", *(shown or ["FOLDER", "--out", "FOLDER"])]


@pytest.mark.parametrize("path", ["a\0b", "", "/dev/null", "."], ids=repr)
def test_odd_paths(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EtchError) as caught:
        load_checkpoint(path)
    assert caught.value.code == ("config-file-missing" if path in ("", ".") else "not-a-folder")
    assert ("is not a folder" in str(caught.value)) is (path == "/dev/null")
    assert str(caught.value).isprintable()


def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tiny_checkpoint(tmp_path)

    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(EtchError) as caught:
        load_checkpoint(tmp_path)
    assert (caught.value.code, caught.value.file) == ("file-unreadable", CONFIG)
    assert "Permission denied" in str(caught.value)


def test_folder_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tiny_checkpoint(tmp_path)
    (tmp_path / WEIGHTS).unlink()

    def refuse(_: object) -> list[str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(EtchError, match="folder-unreadable"):
        load_checkpoint(tmp_path)


def test_hub_cache_links_are_followed(tmp_path: Path) -> None:
    cache = tmp_path / "models--someone--tiny"
    snapshot = cache / "snapshots" / "0123abcd"
    write_tiny_checkpoint(tmp_path / "plain")
    snapshot.mkdir(parents=True)
    (cache / "blobs").mkdir()
    for i, file in enumerate(sorted((tmp_path / "plain").iterdir())):
        shutil.copy(file, cache / "blobs" / f"blob{i}")
        (snapshot / file.name).symlink_to(Path("../../blobs") / f"blob{i}")
    assert load_and_take(snapshot).digest == load_checkpoint(tmp_path / "plain").digest

    (cache / "elsewhere").mkdir()
    for outside in (cache / "secret", cache / "elsewhere" / "secret", cache / "blobs" / ".." / "secret"):
        shutil.copy(tmp_path / "plain" / CONFIG, outside)
        (snapshot / CONFIG).unlink()
        (snapshot / CONFIG).symlink_to(outside)
        with pytest.raises(EtchError) as caught:
            load_checkpoint(snapshot)
        assert caught.value.code == "symlink-escapes"


def test_blobs_beside_any_other_folder_are_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "download" / "snapshots" / "0123abcd"
    write_tiny_checkpoint(folder)
    (tmp_path / "download" / "blobs").mkdir()
    shutil.move(folder / CONFIG, tmp_path / "download" / "blobs" / "x")
    (folder / CONFIG).symlink_to(Path("../../blobs/x"))
    with pytest.raises(EtchError, match="symlink-escapes"):
        load_checkpoint(folder)


def test_links_inside_the_folder_and_to_it_are_followed(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path / "model")
    plain = load_checkpoint(tmp_path / "model").digest
    (tmp_path / "model" / "files").mkdir()
    shutil.move(tmp_path / "model" / WEIGHTS, tmp_path / "model" / "files" / "w")
    (tmp_path / "model" / WEIGHTS).symlink_to("files/w")
    (tmp_path / "alias").symlink_to("model")
    assert load_and_take(tmp_path / "alias").digest == plain


def test_digest_follows_the_files_that_are_used(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path / "a")
    write_tiny_checkpoint(tmp_path / "b" / "elsewhere")
    a, b = tmp_path / "a", tmp_path / "b" / "elsewhere"
    first = load_checkpoint(a).digest
    assert first == load_checkpoint(b).digest
    assert len(first) == 64
    (b / "README.md").write_text("not used")
    (b / "training_args.bin").write_bytes(b"\x80\x04.")
    assert first == load_checkpoint(b).digest
    seen = {first}
    changes = [
        edit(CONFIG, lambda values: values.update(comment="x")),
        raw(SENTENCE, b'{"max_seq_length": 32}'),
        put(TOKENIZER_CONFIG, model_max_length=31),
        lambda folder: write_tiny_checkpoint(folder, seed=1),
    ]
    for change in changes:
        change(b)
        digest = load_checkpoint(b).digest
        assert digest not in seen
        seen.add(digest)


@pytest.mark.parametrize(
    ("change", "expected", "source"),
    [
        (lambda p: None, 32, "config.json max_position_embeddings"),
        (remove(TOKENIZER_CONFIG), 32, "config.json max_position_embeddings"),
        (put(TOKENIZER_CONFIG, model_max_length=20), 20, "tokenizer_config.json model_max_length"),
        (put(TOKENIZER_CONFIG, model_max_length=20.0), 20, "tokenizer_config.json model_max_length"),
        (put(TOKENIZER_CONFIG, model_max_length=512), 32, "config.json max_position_embeddings"),
        (put(TOKENIZER_CONFIG, model_max_length=10**30), 32, "config.json max_position_embeddings"),
        (put(TOKENIZER_CONFIG, model_max_length=1e30), 32, "config.json max_position_embeddings"),
        (put(TOKENIZER_CONFIG, model_max_length=None), 32, "config.json max_position_embeddings"),
        (
            both(drop(TOKENIZER_CONFIG, "model_max_length"), put(TOKENIZER_CONFIG, max_len=9)),
            9,
            "tokenizer_config.json max_len",
        ),
        (
            both(put(SENTENCE, max_seq_length=24, do_lower_case=False), put(TOKENIZER_CONFIG, model_max_length=16)),
            24,
            "sentence_bert_config.json max_seq_length",
        ),
        (put(SENTENCE, max_seq_length=32), 32, "sentence_bert_config.json max_seq_length"),
        (
            put(SENTENCE, max_seq_length=34),
            32,
            "config.json max_position_embeddings, less than sentence_bert_config.json max_seq_length 34",
        ),
        (put(SENTENCE, max_seq_length=None), 32, "config.json max_position_embeddings"),
    ],
)
def test_default_max_tokens(change: Callable[[Path], object], expected: int, source: str, tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    change(tmp_path)
    checkpoint = load_checkpoint(tmp_path)
    assert (checkpoint.default_max_tokens, checkpoint.max_tokens_source) == (expected, source)


def test_truncation_in_the_tokenizer_is_only_a_note(tmp_path: Path) -> None:
    write_tiny_checkpoint(tmp_path)
    put(TOKENIZER, truncation={"max_length": 7}, padding={"strategy": "BatchLongest"})(tmp_path)
    checkpoint = load_checkpoint(tmp_path)
    assert checkpoint.default_max_tokens == 32
    assert checkpoint.notes == (
        "tokenizer.json truncates at 7 tokens: not used",
        "tokenizer.json asks for padding: not used",
    )


def test_files_that_were_read_are_named(tmp_path: Path) -> None:
    """With their SHA-256, links of a Hugging Face cache as what they lead to; what lies beside them was not read."""
    write_tiny_checkpoint(tmp_path / "whole")
    (tmp_path / "whole" / "README.md").write_text("---\nlicense: mit\n---\n")
    (tmp_path / "whole" / "flax_model.msgpack").write_bytes(b"other weights")
    blobs, snapshot = tmp_path / "models--a--b" / "blobs", tmp_path / "models--a--b" / "snapshots" / "1"
    for folder in (blobs, snapshot):
        folder.mkdir(parents=True)
    for path in (tmp_path / "whole").iterdir():
        name = hashlib.sha256(path.read_bytes()).hexdigest()
        shutil.copyfile(path, blobs / name)
        (snapshot / path.name).symlink_to(Path("..", "..", "blobs", name))
    read = (CONFIG, WEIGHTS, TOKENIZER, TOKENIZER_CONFIG, "README.md")
    expected = {name: hashlib.sha256((tmp_path / "whole" / name).read_bytes()).hexdigest() for name in read}
    assert load_checkpoint(tmp_path / "whole").files == expected
    assert load_checkpoint(snapshot).files == expected
