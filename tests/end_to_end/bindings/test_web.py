# SPDX-License-Identifier: Apache-2.0
"""`etch web`: the page and the ES module give the program's lines, in Chromium from a file and in Node; what the page
may do; what is refused. What is built is built once for the sweep, the rest needs no compiler."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from browser import Page, needs_chromium
from classify_program import ROOT, built
from folder_content import content
from generator_program import etch, one_line
from web_modules import NODE, needs_wasm

from codegen.errors import EtchError
from codegen.tasks import verbs
from codegen.web import site

MODEL = ROOT / "generated" / "agnews"
TEXTS = ROOT / "tests" / "golden" / "texts.txt"
GOLDEN = TEXTS.read_text("utf-8").split("\n")[:-1]
MODULE = b"\0asm\1\0\0\0"
FILES = ["agnews.d.ts", "agnews.mjs", "agnews.wasm", "agnews_terms.txt"]
FILES += ["etch.json", "index.html", "package.json", "worker.mjs"]
ASK = """
import { readFileSync } from "node:fs";
const { load } = await import(process.argv[2]);
const model = await load();
model.selfTest();
const texts = JSON.parse(readFileSync(0, "utf8"));
const lines = texts.map((text) => model.classifyJSON(text).trimEnd());
const { truncated } = model.classify("x ".repeat(1 << 22)); // the memory grows meanwhile
console.log(JSON.stringify([lines, model.classify(texts[0]), model.encode(texts[0]), model.info, truncated]));
"""
ASK_WORKER = """
import { readFileSync } from "node:fs";
const { loadInWorker } = await import(process.argv[2]);
try {
  const model = await loadInWorker();
  await model.selfTest();
  const lines = await Promise.all(JSON.parse(readFileSync(0, "utf8")).map((text) => model.classifyJSON(text)));
  const under_way = model.classify("x");
  model.close();
  console.log(JSON.stringify([lines.map((line) => line.trimEnd()), await under_way.catch((error) => error.message)]));
} catch (error) {
  console.log(JSON.stringify(error.message));
}
"""

# A model of stand-ins for the module's functions: its answer is the bytes that lie in the place of the first text.
NO_TEXTS = """
const { Model } = await import(process.argv[2]);
const memory = new WebAssembly.Memory({ initial: 1 });
let bytes = 0;
const line = (text) => { bytes = new TextEncoder().encodeInto(text, new Uint8Array(memory.buffer)).written; return 0; };
const model = new Model({ exports: {
  memory,
  _initialize() {},
  etch_describe: () => line("{}"),
  etch_input: (index, size) => { if (index === 0) bytes = size; return index * 100; },
  etch_answer: () => 0,
  etch_output: () => 0,
  etch_output_bytes: () => bytes,
} });
const told = (call) => { try { return call(); } catch (error) { return `${error.name}: ${error.message}`; } };
const calls = [["1"], [], ["2", undefined], [undefined, "3"], [null], ["4", null], [5], [Symbol()]];
console.log(JSON.stringify(calls.map((texts) => told(() => model.classifyJSON(...texts)))));
"""

WAIT = """
(async () => {  // how often this thread had a turn while a long text was answered
  let turns = 0;
  let over = false;
  const end = model.classify("x ".repeat(1 << 20)).then(() => { over = true; });
  while (!over) {
    await new Promise((go) => setTimeout(go, 1));
    ++turns;
  }
  await end;
  return turns;
})()
"""


@pytest.fixture
def without_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The site over a module that is none."""
    (tmp_path / "module").write_bytes(MODULE)
    monkeypatch.setattr(site, "build_web", lambda *_: tmp_path / "module")
    site.make_site(MODEL, tmp_path / "site", lambda _: None)
    return tmp_path / "site"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("web")
    shutil.copytree(MODEL, place / "agnews", ignore=shutil.ignore_patterns("build"))
    out = place / "site"
    done = etch("web", place / "agnews", "--out", out, timeout=900)
    assert done.code == 0, done.err
    return out


@pytest.fixture
def page(whole: Path, tmp_path: Path) -> Iterator[Page]:
    with Page(f"{(whole / 'index.html').as_uri()}#the%20first%20text", tmp_path) as opened:
        opened.wait("document.readyState === 'complete' && document.getElementById('json').textContent !== ''")
        yield opened


def test_the_page_may_do_nothing_but_run_what_it_holds(without_compiler: Path) -> None:
    assert sorted(content(without_compiler)) == FILES
    html = (without_compiler / "index.html").read_text("utf-8")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    script = re.search(r"<script>(.*?)</script>", html, re.DOTALL)
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert policy and script and style
    script_hash, style_hash = (
        base64.b64encode(hashlib.sha256(part[1].encode()).digest()).decode() for part in (script, style)
    )
    assert policy[1] == (
        f"default-src 'none'; script-src 'sha256-{script_hash}' 'wasm-unsafe-eval'; style-src 'sha256-{style_hash}'; "
        "worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert base64.b64encode(MODULE).decode() in html
    assert not re.search(r"https?://|fetch\(|XMLHttpRequest|import\(", html)
    assert "/work" not in html
    assert str(ROOT) not in html


def test_its_package_has_the_terms(without_compiler: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the model has some: npm packs what `files` names, and no more."""
    module = {"agnews.d.ts", "agnews.mjs", "agnews.wasm", "worker.mjs"}
    assert set(json.loads((without_compiler / "package.json").read_text())["files"]) == module | {"agnews_terms.txt"}
    manifest = json.loads((MODEL / "etch.json").read_text()) | {"files": {}}
    monkeypatch.setattr(site, "read_manifest", lambda *_: manifest)
    site.make_site(MODEL, tmp_path / "other", lambda _: None)
    assert set(json.loads((tmp_path / "other/package.json").read_text())["files"]) == module


def test_the_same_model_gives_the_same_bytes(without_compiler: Path) -> None:
    before = content(without_compiler)
    site.make_site(MODEL, without_compiler, lambda _: None)
    assert content(without_compiler) == before


def test_each_task_has_a_page_or_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "module").write_bytes(MODULE)
    monkeypatch.setattr(site, "build_web", lambda *_: tmp_path / "module")
    masks = tmp_path / "masks"  # whose mask the page's text has
    masks.mkdir()
    (masks / "agnews.hpp").write_text('inline constexpr std::string_view kMask = {"[MASK]", 6};\n')
    for task, verb in verbs().items():
        manifest = json.loads((MODEL / "etch.json").read_text()) | {"task": task, "files": {}}
        monkeypatch.setattr(site, "read_manifest", lambda *_, manifest=manifest: manifest)
        if verb in site.VERBS:
            site.make_site(masks if task == "fill_mask" else MODEL, tmp_path / task, lambda _: None)
            assert f"{verb}(text: string, second?: string): Answer;" in (tmp_path / task / "agnews.d.ts").read_text()
            assert (ROOT / "tools" / "cli" / "tasks" / f"{verb}_json.cpp").exists()
        else:
            with pytest.raises(EtchError) as refused:
                site.make_site(MODEL, tmp_path / task, lambda _: None)
            assert (refused.value.code, refused.value.stage) == ("task-not-supported", "web")


@pytest.mark.skipif(NODE is None, reason="no node")
def test_the_first_text_is_that_of_the_address(without_compiler: Path, tmp_path: Path) -> None:
    """Also one that is no percent encoding, or not all of it, or not UTF-8."""
    html = (without_compiler / "index.html").read_text("utf-8")
    function = re.search(r"^function textOf\(.*?^}$", html, re.DOTALL | re.MULTILINE)
    assert function
    assert 'part("first").value = textOf(location.hash) || ' in html
    hashes = {"": "", "#": "", "#the%20first%20text": "the first text", "#50% off": "50% off", "#50%%20off": "50% off"}
    hashes |= {"#%C3%A9t%c3%a9 %FF": "été %FF", "#100%": "100%", "#a+b#c": "a+b#c"}
    told = f"console.log(JSON.stringify({json.dumps(list(hashes))}.map(textOf)));"
    (tmp_path / "ask.mjs").write_text(f"{function[0]}\n{told}\n")
    assert NODE is not None
    done = subprocess.run([NODE, tmp_path / "ask.mjs"], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout) == list(hashes.values())


@pytest.mark.skipif(NODE is None, reason="no node")
def test_what_is_no_text_is_refused(without_compiler: Path, tmp_path: Path) -> None:
    """Else the answer would be that of the text before."""
    (tmp_path / "ask.mjs").write_text(NO_TEXTS)
    assert NODE is not None
    asked = [NODE, tmp_path / "ask.mjs", without_compiler / "agnews.mjs"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=60)
    refused = [
        f"TypeError: agnews: a text is a string, not {value}"
        for value in ("undefined", "undefined", "null", "null", "number", "symbol")
    ]
    assert json.loads(done.stdout) == ["1", refused[0], "2", *refused[1:]]


def test_a_model_called_like_a_file_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its module would be in the place of the worker's."""
    (tmp_path / "module").write_bytes(MODULE)
    monkeypatch.setattr(site, "build_web", lambda *_: tmp_path / "module")
    for name in ("worker", "index", "package"):
        manifest = json.loads((MODEL / "etch.json").read_text()) | {"name": name, "files": {}}
        monkeypatch.setattr(site, "read_manifest", lambda *_, manifest=manifest: manifest)
        if name != "worker":
            site.make_site(MODEL, tmp_path / name, lambda _: None)
            continue
        with pytest.raises(EtchError, match=r"worker\.mjs .*another --name") as refused:
            site.make_site(MODEL, tmp_path / name, lambda _: None)
        assert (refused.value.code, refused.value.stage) == ("name-taken", "web")
        assert not (tmp_path / name).exists()


def test_refusals(tmp_path: Path) -> None:
    message = one_line(etch("web", tmp_path, "--out", tmp_path / "site"), 1)
    assert "error[not-generated] web: " in message
    done = etch("web", MODEL, "--out", MODEL)
    assert (done.code, "error[target-is-a-model] web: " in done.err) == (1, True), done.err
    bare, path = tmp_path / "bare", tmp_path / "path"
    bare.mkdir()
    path.mkdir()
    for name, script in (("clang++", "echo 'no such target' >&2\nexit 1"), ("llvm-ar", "exit 0")):
        (path / name).write_text(f"#!/bin/sh\n{script}\n")
        (path / name).chmod(0o755)
    missing = ["clang++: No such file or directory", "llvm-ar: not found"]
    for folder, said in ((path, ["no such target"]), (bare, missing)):
        done = etch("web", MODEL, "--out", tmp_path / "site", environment={"PATH": str(folder)})
        assert done.code == 1
        *problem, last = done.err.splitlines()
        assert problem == said
        assert last.startswith(
            "etch: error[web-compiler-missing] build: clang cannot make WebAssembly here: apt-get install "
        )
        assert not (tmp_path / "site").exists()
    changed = tmp_path / "changed"  # which is said before what the machine lacks
    shutil.copytree(MODEL, changed)
    (changed / "agnews_c.cpp").write_text("")
    message = one_line(etch("web", changed, "--out", tmp_path / "site", environment={"PATH": str(bare)}), 1)
    assert message.startswith("etch: error[model-changed] build: 'agnews_c.cpp' is not what etch generated")


@needs_wasm
@pytest.mark.sweep
@pytest.mark.minutes(3)
def test_the_module_in_node(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "ask.mjs").write_text(ASK)
    assert NODE is not None
    asked = [NODE, tmp_path / "ask.mjs", whole / "agnews.mjs"]
    done = subprocess.run(asked, input=json.dumps(GOLDEN), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines, first, tokens, info, truncated = json.loads(done.stdout)
    assert lines == built("classify").well("--json", "--file", TEXTS).lines
    assert first == json.loads(lines[0])
    assert tokens == built("classify").well("--tokens", "--", GOLDEN[0]).objects[0]
    assert (info["kernel"], info["labels"]) == ("wasm_simd", ["World", "Sports", "Business", "Sci/Tech"])
    assert truncated
    assert (whole / "agnews.wasm").stat().st_size <= info["table_bytes"] + 250_000


@needs_wasm
@pytest.mark.sweep
@pytest.mark.minutes(3)
def test_the_module_in_a_thread_of_node(whole: Path, tmp_path: Path) -> None:
    lines, closed = asked_worker(whole, tmp_path)
    assert lines == built("classify").well("--json", "--file", TEXTS).lines
    assert closed == "agnews: the worker is closed"


def constant_module(output: bytes) -> bytes:
    """A module of WebAssembly with the functions of a model's, whose output is always this one."""

    def section(number: int, *parts: bytes) -> bytes:
        content = bytes([len(parts)]) + b"".join(parts)
        return bytes([number, len(content) & 127 | 128, len(content) >> 7]) + content

    zero = ("_initialize", "etch_describe", "etch_answer", "etch_encode", "etch_self_test", "etch_output")
    exported = {"memory": b"\2\0", "etch_output_bytes": b"\0\1", "etch_input": b"\0\2", **dict.fromkeys(zero, b"\0\0")}
    constants = (0, len(output), 60)  # what the three functions return; texts are put behind the output
    assert len(output) < constants[2] < 64  # one byte, as these are written
    return b"".join(
        (
            b"\0asm\1\0\0\0",
            section(1, b"\x60\0\1\x7f"),  # () -> i32
            section(3, *(b"\0" for _ in constants)),
            section(5, b"\0\1"),
            section(7, *(bytes([len(name)]) + name.encode() + place for name, place in exported.items())),
            section(10, *(bytes([4, 0, 0x41, value, 0x0B]) for value in constants)),
            section(11, b"\0\x41\0\x0b" + bytes([len(output)]) + output),
        )
    )


@pytest.mark.skipif(NODE is None, reason="no node")
def test_a_thread_of_node_answers(without_compiler: Path, tmp_path: Path) -> None:
    (without_compiler / "agnews.wasm").write_bytes(constant_module(b'{"label": "Sports"}\n'))
    assert asked_worker(without_compiler, tmp_path) == [
        ['{"label": "Sports"}'] * len(GOLDEN),
        "agnews: the worker is closed",
    ]


@pytest.mark.skipif(NODE is None, reason="no node")
def test_nodes_threads_say_what_is_wrong(without_compiler: Path, tmp_path: Path) -> None:
    """Where no Worker is global: of a module that has no model, of none, and of no file for the thread."""
    assert "_initialize is not a function" in asked_worker(without_compiler, tmp_path)
    (without_compiler / "agnews.wasm").unlink()
    assert "ENOENT" in asked_worker(without_compiler, tmp_path)
    (without_compiler / "worker.mjs").unlink()
    assert "Cannot find module" in asked_worker(without_compiler, tmp_path)


def asked_worker(folder: Path, tmp_path: Path) -> Any:
    (tmp_path / "ask.mjs").write_text(ASK_WORKER)
    assert NODE is not None
    asked = [NODE, tmp_path / "ask.mjs", folder / "agnews.mjs"]
    done = subprocess.run(asked, input=json.dumps(GOLDEN), capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def served(whole: Path, tmp_path: Path) -> Iterator[Page]:
    """A page of somebody's own, on a server of this machine; the module is beside it, and in `broken` not all of it."""
    shutil.copytree(whole, tmp_path / "www")
    shutil.copytree(whole, tmp_path / "www/broken")
    (tmp_path / "www/broken/agnews.wasm").unlink()
    (tmp_path / "www/own.html").write_text("<!doctype html><title>own</title>")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "www"))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with Page(f"http://127.0.0.1:{server.server_port}/own.html", tmp_path / "profile") as opened:
                opened.wait("document.readyState === 'complete' && document.title === 'own'")
                yield opened
        finally:
            server.shutdown()
            thread.join()


@needs_wasm
@needs_chromium
@pytest.mark.sweep
@pytest.mark.minutes(3)
def test_the_module_in_a_worker_of_chromium(served: Page) -> None:
    """`loadInWorker`: calls that are made at once are answered in their order, beside the page's own thread."""
    lines = built("classify").well("--json", "--file", TEXTS).lines
    served.value("import('/agnews.mjs').then(async (etch) => { window.model = await etch.loadInWorker(); })")
    got = served.value(f"Promise.all({json.dumps(GOLDEN)}.map((text) => model.classifyJSON(text)))")
    assert [line.rstrip("\n") for line in got] == lines
    assert served.value(f"model.classify({json.dumps(GOLDEN[0])})") == json.loads(lines[0])
    tokens = built("classify").well("--tokens", "--", GOLDEN[0]).objects[0]
    assert served.value(f"model.encode({json.dumps(GOLDEN[0])})") == tokens
    assert served.value("model.info.kernel") == "wasm_simd"
    assert served.value("model.selfTest().then((value) => value === undefined)")
    refused = "(error) => error.message"
    assert served.value(f"import('/broken/agnews.mjs').then((etch) => etch.loadInWorker()).catch({refused})") == (
        served.value("`agnews: ${new URL('/broken/agnews.wasm', location.href)} cannot be read: 404`")
    )
    assert served.value(WAIT) > 1
    under_way = "const call = model.classify('x'); model.close(); return call"
    late = "new Promise((go) => setTimeout(() => go('waits'), 5000))"
    for call in (under_way, "return model.classify('x')"):
        ended = f"(() => {{ {call}; }})().then(() => 'answered', {refused})"
        assert served.value(f"Promise.race([{ended}, {late}])") == "agnews: the worker is closed"


@needs_wasm
@needs_chromium
@pytest.mark.sweep
@pytest.mark.minutes(3)
def test_the_page_in_chromium(page: Page) -> None:
    lines = built("classify").well("--json", "--file", TEXTS).lines
    got = []
    page.value("document.getElementById('json').textContent = ''")
    for text in GOLDEN:
        page.value(f"first.value = {json.dumps(text)}; first.dispatchEvent(new Event('input'))")
        page.wait("document.getElementById('json').textContent !== ''")
        got.append(page.value("document.getElementById('json').textContent").rstrip("\n"))
        page.value("document.getElementById('json').textContent = ''")
    assert got == lines
    page.value("test.click()")
    page.wait("test.textContent === 'every table and golden text is right'")
    assert page.value("tokens.children.length") == json.loads(lines[-1])["tokens"]
    assert page.value("document.querySelector('.bar div').style.width.endsWith('%')")
    assert page.value("tokens.firstChild.style.background !== ''")
    assert page.said == []
