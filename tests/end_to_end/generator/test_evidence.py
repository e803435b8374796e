# SPDX-License-Identifier: Apache-2.0
"""`etch evidence`: the page says what the checks said, the SBOM is valid, both are the same again; what
fails is shown."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from classify_program import ROOT
from folder_content import content
from generator_program import etch
from model_build import build_model
from tiny_checkpoint import write_tiny_checkpoint
from tiny_heads import write_encoder, write_head

from codegen.building.stack_report import parse_stack
from codegen.errors import EtchError
from codegen.evidence import collect
from codegen.evidence.flash import TABLES, flash_of

TEXTS = "the cat\n\na <script>alert(1)</script> dog & cat\nthe dog\n"
ROWS = "1,the cat\n2,a dog\n3,on the mat\n1,<b>ran</b>\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("evidence")
    write_tiny_checkpoint(place / "checkpoint")
    (place / "checkpoint/README.md").write_text("---\nlicense: mit\n---\n# <i>A model</i>\n")
    assert etch("generate", place / "checkpoint", "--out", place / "tiny", "--build").code == 0
    (place / "texts.txt").write_text(TEXTS)
    (place / "rows.csv").write_text(ROWS)
    return place


def evidence(place: Path, out: str, *options: str, model: str = "tiny") -> tuple[int, str, str]:
    files = ["--checkpoint", place / "checkpoint", "--texts", place / "texts.txt", "--out", place / out]
    done = etch("evidence", place / model, *files, *options)
    return done.code, done.out.decode(), done.err


class Page(HTMLParser):
    """Texts, and what could load something from elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loads += [tag] if tag in ("script", "link", "img", "iframe", "object", "embed", "form", "i", "b") else []
        self.loads += [name for name, _ in attrs if name in ("src", "href") or name.startswith("on")]
        self.open += [] if tag in ("meta", "line", "rect") else [tag]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page(place: Path) -> None:
    code, printed, error = evidence(place, "report.html", "--evaluate", str(place / "rows.csv"))
    assert (code, error) == (0, "")
    assert "8 of 8 checks hold" in printed
    text = (place / "report.html").read_text()
    page = Page(text)
    assert page.open == []
    assert page.loads == []
    words = "".join(page.words)
    manifest = json.loads((place / "tiny/etch.json").read_text())
    for each in (
        "8 of 8 checks hold",
        "contract     0 with logits other than the contract's, bit for bit",
        "accuracy: ",
        "confusion matrix",
        "--tokenizer-certificate FILE.json",
        '"differences": 0',
        "license: mit",
        manifest["checkpoint_sha256"],
        hashlib.sha256(TEXTS.encode()).hexdigest(),
        hashlib.sha256(ROWS.encode()).hexdigest(),
        hashlib.sha256((place / "checkpoint/model.safetensors").read_bytes()).hexdigest(),
        "exit code 2",
    ):
        assert each in words, each
    assert str(place) not in text
    for name in manifest["arena_buffers"]:
        assert f"<title>{name}: " in text


def test_what_is_linked(place: Path) -> None:
    """Tables as etch.json has them, all bytes that the program's file loads, and the stack that the build computed."""
    manifest = json.loads((place / "tiny/etch.json").read_text())
    program = place / "tiny/build/bin/classify-tiny"
    flash = flash_of(program, manifest)
    assert flash is not None
    tables = {symbol.name.removeprefix("etch_tiny_"): symbol.bytes for symbol in flash.symbols if symbol.part == TABLES}
    assert tables == {name: table["bytes"] for name, table in manifest["table_list"].items()}
    parts = dict(flash.parts())
    assert sum(parts.values()) == flash.bytes
    assert all(size > 0 for size in parts.values())
    counted = subprocess.run(["size", "-A", program], capture_output=True, text=True, check=True).stdout.splitlines()
    loaded = [int(line.split()[1]) for line in counted if line.startswith((".text", ".rodata", ".data"))]
    assert sum(loaded) <= flash.bytes < sum(loaded) * 2
    assert evidence(place, "report.html")[0] == 0
    words = "".join(Page((place / "report.html").read_text()).words)
    (report,) = (place / "tiny/build").rglob("tiny.stack.txt")
    stack = parse_stack(report.read_text())
    assert "size classify-tiny" in words
    for each in (stack.worst.path, f"{stack.worst.bytes:,} bytes", f"{stack.budget:,} bytes", "Encoder::forward"):
        assert each in words, each
    assert stack.budget == manifest["stack_budget"]
    told = report.read_text()
    for other in ("stack of tiny", told.replace(f"budget {stack.budget}", "budget 1")):
        report.write_text(other)
        assert evidence(place, "report.html")[0] == 0
        assert "not checked by this build" in (place / "report.html").read_text()
    report.unlink()
    assert evidence(place, "report.html")[0] == 0
    assert report.read_text() == told


@pytest.mark.sweep
@pytest.mark.minutes(2)
@pytest.mark.long_case("times in a report")
def test_times(place: Path, tmp_path: Path) -> None:
    """The program's, and those by op of a benchmark that CMake builds, whatever the folder is called."""
    shutil.copytree(place, tmp_path / "timed", ignore=shutil.ignore_patterns("*.html", "*.cdx.json"))
    (tmp_path / "timed/tiny").rename(tmp_path / "timed/other")
    code, printed, error = evidence(tmp_path / "timed", "report.html", "--latency", model="other")
    assert (code, error) == (0, "")
    words = "".join(Page((tmp_path / "timed/report.html").read_text()).words)
    assert "median ms" in words
    if Path("/usr/include/benchmark/benchmark.h").is_file():
        assert "9 of 9 checks hold" in printed
        assert "/all" in words.partition("time per op, tiny/")[2]
        assert "match" not in words  # of the library, which knows nothing of ops
    else:
        assert "no time by op: " in printed


def test_the_same_again(place: Path) -> None:
    names = ("first.html", "second.html")
    for name in names:
        assert evidence(place, name)[0] == 0
    first, second = ((place / name).read_text().replace(name, "") for name in names)
    assert first == second
    boms = [(place / name).with_suffix(".cdx.json").read_bytes() for name in names]
    assert boms[0] == boms[1]


def test_the_bill_of_materials(place: Path) -> None:
    assert evidence(place, "report.html")[0] == 0
    bill = json.loads((place / "report.cdx.json").read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    manifest = json.loads((place / "tiny/etch.json").read_text())
    files = {part["name"]: part["hashes"][0]["content"] for part in bill["components"] if part["type"] == "file"}
    assert files == manifest["files"]
    references = ["model", *(part["bom-ref"] for part in bill["components"])]
    assert len(set(references)) == len(references)
    assert {one["ref"] for one in bill["dependencies"]} == set(references)
    assert bill["metadata"]["component"]["licenses"] == [{"license": {"id": "MIT"}}]
    validation = pytest.importorskip("cyclonedx.validation.json", reason="no cyclonedx-python-lib[json-validation]")
    schema = pytest.importorskip("cyclonedx.schema")
    assert validation.JsonStrictValidator(schema.SchemaVersion.V1_5).validate_str(json.dumps(bill)) is None


def test_a_model_of_other_files_than_its_checkpoint(tmp_path: Path) -> None:
    """Heads of other folders, texts to smooth and to calibrate by; as the page says it, the same model comes of them
    again."""
    write_encoder(tmp_path / "CHECKPOINT")
    for head, kind in (("TOPIC", "single"), ("NAMES", "tags")):
        write_head(tmp_path / head, kind)
    (tmp_path / "texts.txt").write_text(TEXTS)
    (tmp_path / "own.csv").write_text("a,the cat sat on the mat\nb,a dog ran\n")
    heads = ["--head", "topic=TOPIC", "--head", "names=NAMES"]
    calibrate = ["--calibrate", "own.csv", "--calibrate-columns", "2"]
    smooth = ["--smooth", "texts.txt"]
    options = ["--recipe", "w4a8", "--embedding-bits", "4", "--max-tokens", "19", *heads, *smooth, *calibrate]
    assert etch("generate", "CHECKPOINT", "--out", "MODEL", "--name", "several", *options, **there(tmp_path)).code == 0
    build_model(tmp_path / "MODEL")
    files = ["MODEL", "--checkpoint", "CHECKPOINT", "--texts", "texts.txt", "--out", "report.html"]
    done = etch("evidence", *files, *heads, *smooth, *calibrate, **there(tmp_path))
    assert done.code == 0, done.err
    page = "".join(Page((tmp_path / "report.html").read_text()).words)
    for file in ("TOPIC/model.safetensors", "own.csv"):
        assert hashlib.sha256((tmp_path / file).read_bytes()).hexdigest() in page
    printed = page.partition("To repeat it")[2]
    commands = [line for line in printed.splitlines() if line.startswith(("etch", "diff"))]
    assert [command.split()[:2] for command in commands] == [["etch", "generate"], ["diff", "-r"], ["etch", "evidence"]]
    assert etch(*shlex.split(commands[0])[1:], **there(tmp_path)).code == 0
    subprocess.run(shlex.split(commands[1]), cwd=tmp_path, check=True)
    assert content(tmp_path / "AGAIN").keys() > {"etch.json", "several.tables"}
    before = (tmp_path / "report.html").read_bytes()
    assert etch(*shlex.split(commands[2])[1:], **there(tmp_path)).code == 0
    assert (tmp_path / "report.html").read_bytes() == before
    for left_out, words in ((heads, "error[other-heads] verify: the model has the heads topic, names: "),
                            (calibrate, "error[calibration-missing]"),
                            (smooth, "error[smoothing-missing]")):  # fmt: skip
        others = [option for option in [*heads, *smooth, *calibrate] if option not in left_out]
        done = etch("evidence", *files, *others, **there(tmp_path))
        assert (done.code, words in done.err) == (2, True), done.err


def there(folder: Path) -> dict[str, Any]:
    """Of a command that runs in a folder."""
    return {"cwd": folder, "environment": {"PYTHONPATH": str(ROOT)}}


def test_what_fails_is_shown(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place, tmp_path / "broken")
    assert evidence(tmp_path / "broken", "report.html")[0] == 0  # builds it at its new place
    program = tmp_path / "broken/tiny/build/bin/classify-tiny"
    program.unlink()
    program.write_text('#!/bin/sh\ncase "$1" in --self-test) echo "a table differs"; exit 1;; esac\n'
                       f'exec {place}/tiny/build/bin/classify-tiny "$@"\n')  # fmt: skip
    program.chmod(0o755)
    code, printed, error = evidence(tmp_path / "broken", "report.html")
    assert (code, error) == (1, "")
    assert (
        "failed       Self test: the CRC of every table, then the golden texts bit for bit: a table differs / exit"
        in printed
    )
    page = (tmp_path / "broken/report.html").read_text()
    assert "binutils could not read the program" in page
    assert "6 of 7 checks hold" in page
    assert "a table differs\nexit code 1" in page


def test_no_other_tokenizer(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then there is no certificate, and the comparison says why."""

    def nothing(*_: Any, **__: Any) -> int:
        raise EtchError("nothing-to-compare", "verify", "the folder has none")

    monkeypatch.setattr(collect, "certify", nothing)
    lines: list[str] = []
    out = place / "bare.html"
    request = collect.Request(place / "tiny", place / "checkpoint", (), place / "texts.txt", None, (), False, out)
    assert collect.collect(request, lines.append) == 0
    assert "6 of 6 checks hold" in lines[-1]
    assert "Certificate" not in out.read_text()


@pytest.mark.parametrize(
    ("out", "options", "code", "words"),
    [
        ("report.txt", [], 2, "error[output-kind] arguments: --out: expected a name that ends in .html"),
        ("report.html", ["--labels", "0"], 2, "error[option-incomplete] arguments: --labels needs --evaluate"),
        (
            "report.html",
            ["--calibrate", "/none"],
            2,
            "error[option-conflict] arguments: --calibrate: this model ",
        ),
        ("report.html", ["--smooth", "/none"], 2, "error[option-conflict] arguments: --smooth: this model "),
        ("report.html", ["--texts", "/none"], 2, "error[texts-unreadable]"),
        ("report.html", ["--evaluate", __file__], 2, "error[program-refused] arguments: classify-tiny: --evaluate: "),
    ],
)
def test_refused(place: Path, tmp_path: Path, *, out: str, options: list[str], code: int, words: str) -> None:
    shutil.copytree(place, tmp_path / "again", ignore=shutil.ignore_patterns("*.html", "*.cdx.json"))
    found = evidence(tmp_path / "again", out, *options)
    assert (found[0], words in found[2]) == (code, True), found
    assert not list((tmp_path / "again").glob("report.*"))


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--checkpoint", "/none", "error[not-a-folder]"),
        ("--checkpoint", "other", "error[other-checkpoint]"),
        ("--evaluate", "/none", "error[texts-unreadable]"),
    ],
)
def test_refused_before_it_builds(place: Path, tmp_path: Path, option: str, value: str, words: str) -> None:
    shutil.copytree(place, tmp_path / "again", ignore=shutil.ignore_patterns("*.html", "*.cdx.json", "build"))
    write_tiny_checkpoint(tmp_path / "other", seed=2)
    code, printed, error = evidence(tmp_path / "again", "report.html", option, str(tmp_path / value))
    assert (code, printed, words in error) == (2, "", True), error
    assert not (tmp_path / "again/tiny/build").exists()
