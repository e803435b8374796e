# SPDX-License-Identifier: Apache-2.0
"""`etch wheel`: Python threads, forks and signals around the calls of a model, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from generator_program import etch
from tiny_sentence import write_tiny_sentence_model
from wheels import imported

SETUP = """
import os, signal, threading, time
import numpy as np
import tiny

model = tiny.Model(2)
few = ["the cat", "a dog sat on the mat", ""]
wanted = model.embed(few)
signal.alarm(60)  # of what hangs
signal.signal(signal.SIGINT, signal.default_int_handler)  # who is started in the background ignores it
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("threads")
    write_tiny_sentence_model(place / "checkpoint")
    out = etch("generate", place / "checkpoint", "--out", place / "tiny")
    assert out.code == 0, out.err
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(place / "site"))
        imported(place / "tiny", place / "site", patch)
    return place / "site"


def check(site: Path, program: str) -> None:
    command = [sys.executable, "-c", SETUP + program]
    environment = os.environ | {"PYTHONPATH": str(site)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)


def test_texts_that_ask_the_model(site: Path) -> None:
    check(
        site,
        """
def texts():
    for text, vector in zip(few, wanted):
        assert np.array_equal(model.embed(text)[0], vector)
        yield text

assert np.array_equal(model.embed(texts()), wanted)
""",
    )


def test_texts_that_wait_for_another_thread(site: Path) -> None:
    check(
        site,
        """
begun, answered = threading.Event(), threading.Event()

def texts():
    begun.set()
    answered.wait()
    yield from few

found = []
thread = threading.Thread(target=lambda: found.append(model.embed(texts())))
thread.start()
begun.wait()
assert np.array_equal(model.embed(few), wanted)
answered.set()
thread.join()
assert np.array_equal(found[0], wanted)
""",
    )


def test_a_fork_while_another_thread_is_in_a_call(site: Path) -> None:
    check(
        site,
        """
session, under_way = model._session, threading.Event()
call = session.call

def tell_and_call(*arguments):
    under_way.set()
    call(*arguments)

session.call = tell_and_call
many = few * 100_000
found = []
thread = threading.Thread(target=lambda: found.append(model.embed(many)))
thread.start()
under_way.wait()
time.sleep(0.01)
child = os.fork()
if child == 0:
    signal.alarm(30)
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(model.embed(few))) for _ in range(4)]
    [one.start() for one in threads]
    [one.join() for one in threads]
    os._exit(0 if all(np.array_equal(answer, wanted) for answer in answers) and model.threads == 2 else 1)
assert not found, "the call was over before the fork"
assert os.waitpid(child, 0)[1] == 0
thread.join()
assert np.array_equal(found[0], np.tile(wanted, (100_000, 1)))
""",
    )


def test_an_interrupt_during_a_call(site: Path) -> None:
    """Ctrl-C ends it behind a part of the texts, and the model answers on."""
    check(
        site,
        """
counts = []
call = model._session.call

def count_and_call(first, second, begin, count, outputs):
    counts.append(count)
    if len(counts) == 3:
        os.kill(os.getpid(), signal.SIGINT)
    call(first, second, begin, count, outputs)

model._session.call = count_and_call
try:
    model.embed(few * 10_000)
    raise SystemExit("it went on")
except KeyboardInterrupt:
    assert len(counts) <= 4 and sum(counts) <= 4096, counts
assert np.array_equal(model.embed(few * 1000), np.tile(wanted, (1000, 1)))
assert min(counts[4:-1]) >= 1024, counts
""",
    )
