# SPDX-License-Identifier: Apache-2.0
"""The program of a model that embeds, over the stub model, whose embedding is the text's words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from classify_program import Program, build_stub
from correlations import pearson, spearman
from evaluation_report import evaluated
from stub_tables import table


@pytest.fixture(scope="module")
def stub(stub_objects: Path) -> Program:
    return build_stub(stub_objects, "-DSTUB_EMBEDDING", "-DSTUB_PAIRS")


@pytest.fixture(scope="module")
def prompted(stub_objects: Path) -> Program:
    return build_stub(stub_objects, "-DSTUB_EMBEDDING", "-DSTUB_PAIRS", "-DSTUB_PROMPTS=-1")


@pytest.fixture(scope="module")
def with_usual(stub_objects: Path) -> Program:
    """Of a model whose texts come behind `two` where nothing is said."""
    return build_stub(stub_objects, "-DSTUB_EMBEDDING", "-DSTUB_PAIRS", "-DSTUB_PROMPTS=1")


# --- embeddings ----------------------------------------------------------------------------------------------------


def test_plain_lines_give_the_floats_back(stub: Program) -> None:
    lines = stub.well("0.1 -2 0.333333333", "7").lines
    assert lines == ["0.100000001 -2 0.333333343", "7 0 0"]
    read = np.array([float(word) for word in lines[0].split(" ")], np.float32)
    assert read.tolist() == np.array([0.1, -2, 0.333333333], np.float32).tolist()


def test_json_lines(stub: Program) -> None:
    outcome = stub.well("--json", "0.1 -2 3", "1 2 3 4")
    assert outcome.objects == [
        {"embedding": [0.100000001, -2, 3], "tokens": 5, "truncated": False},
        {"embedding": [1, 2, 3], "tokens": 5, "truncated": True},
    ]
    assert list(outcome.objects[0]) == ["embedding", "tokens", "truncated"]
    assert outcome.err == "embed-stub: text '1 2 3 4': text cut to 5 tokens\n"


def test_texts_come_as_in_classify(stub: Program, tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("1 2\n3\n\n")
    assert stub.well("--file", path).lines == stub.well(stdin=path.read_bytes()).lines == ["1 2 0", "3 0 0", "0 0 0"]
    assert stub.well("--pair", "1", "2").lines == stub.well("--pairs", stdin=b"1\t2\n").lines == ["2 0 0"]
    assert stub.well("--tokens", "1 2").objects[0]["ids"] == [1, 3, 3, 2]
    assert [line.split()[0] for line in stub.well("--latency").lines[2:]] == ["5"]
    assert "golden" in stub.refused(1, "--self-test")
    assert stub.refused(1, "fail").startswith("text 'fail': ")


def test_help(stub: Program) -> None:
    text = stub.well("--help").out.decode()
    assert text.startswith("usage: embed-stub ")
    assert text.endswith("model: stub, 5 tokens at most, embeddings of 3 components\n")
    assert "\n--similarity A B " in text
    for option in ("--top", "--labels"):
        assert option not in text


# --- prompts -------------------------------------------------------------------------------------------------------


def test_texts_behind_a_prompt(prompted: Program) -> None:
    assert prompted.well("7").lines == prompted.well("--as-written", "7").lines == ["7 0 0"]
    for name, expected in (("one", "1 7 0"), ("two", "2 7 0"), ("none", "7 0 0"), ("one,two", "3 7 0")):
        assert prompted.well("--prompt", name, "7").lines == [expected]
        many = b"".join(b"%d\n" % number for number in range(300))
        assert prompted.well("--prompt", name, stdin=many).lines[7] == expected
    assert prompted.well("--prompt", "one", "--json", "--", "7").objects[0]["tokens"] == 4
    assert prompted.well("--prompt", "one", "--tokens", "--", "7").objects[0]["ids"] == [1, 3, 3, 2]


def test_prompts_of_two_texts_that_are_compared(prompted: Program, tmp_path: Path) -> None:
    def similarity(*arguments: str) -> float:
        return float(prompted.well(*arguments, "--similarity", "0", "1").lines[0])

    assert similarity() == 0
    assert similarity("--prompt", "one") == pytest.approx(0.5**0.5)
    assert similarity("--prompt", "one,none") == pytest.approx(1)
    assert similarity("--prompt", "none,two") == 0
    rows = table(tmp_path, "1,0 0,1\n2,0 2,1\n3,0 9,1\n")
    lines = prompted.well("--evaluate", rows, "--prompt", "one,none").lines
    assert lines[1] == "Spearman: -1"


def test_usual_prompt(with_usual: Program, tmp_path: Path) -> None:
    assert with_usual.well("7").lines == ["2 7 0"]
    assert with_usual.well("--as-written", "7").lines == ["7 0 0"]
    assert with_usual.well("--prompt", "none", "7").lines == ["7 0 0"]
    assert with_usual.well("--pair", "1", "7").lines == ["7 0 0"]
    assert float(with_usual.well("--similarity", "0", "1").lines[0]) == pytest.approx(2 / 5**0.5)
    assert float(with_usual.well("--as-written", "--similarity", "0", "1").lines[0]) == 0


def test_prompts_in_the_help(prompted: Program, stub: Program) -> None:
    text = prompted.well("--help").out.decode()
    assert text.endswith("embeddings of 3 components, prompts: one, two, none, one,two\n")
    assert "\n  --prompt NAME " in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--prompt", "three", "1"], "--prompt: the model has no prompt 'three': it has one, two, none, one,two"),
        (["--prompt", "one,three", "1"],
         "--prompt: the model has no prompt 'one,three': it has one, two, none, one,two"),
        (["--prompt", "two,one", "1"],
         "--prompt: one for each of two texts only goes with --similarity and --evaluate"),
        (["--prompt", "one", "--as-written", "1"], "--prompt and --as-written cannot be used together"),
        (["--prompt", "one", "--pairs"], "--prompt and --pairs cannot be used together"),
        (["--prompt", "one", "--pair", "1", "2"], "--prompt and --pair cannot be used together"),
        (["--prompt", "one", "--latency"], "--prompt does not go with --latency"),
    ],
)  # fmt: skip
def test_wrong_use_of_prompts(prompted: Program, arguments: list[str], message: str) -> None:
    assert prompted.refused(2, *arguments) == message


def test_a_model_without_prompts(stub: Program) -> None:
    assert stub.refused(2, "--prompt", "one", "1") == "--prompt: the model has no prompt 'one', it has none"


# --- similarity ----------------------------------------------------------------------------------------------------

PAIRS = [("1 0 0", "1 0 0", 1), ("1 0 0", "0 2 0", 0), ("1 1 0", "0 3 0", 0.5**0.5), ("1 2 3", "-2 -4 -6", -1),
         ("0 0 0", "1 2 3", 0), ("", "", 0)]  # fmt: skip


def test_similarity(stub: Program) -> None:
    arguments = [word for first, second, _ in PAIRS for word in ("--similarity", first, second)]
    plain = stub.well(*arguments)
    assert [float(line) for line in plain.lines] == pytest.approx([cosine for *_, cosine in PAIRS], abs=1e-6)
    as_json = stub.well(*arguments, "--json").objects
    assert [np.float32(answer["similarity"]) for answer in as_json] == [np.float32(line) for line in plain.lines]
    assert list(as_json[0]) == ["similarity", "tokens", "truncated"]
    assert (as_json[0]["tokens"], as_json[0]["truncated"]) == ([5, 5], [False, False])


def test_similarity_of_cut_and_refused_texts(stub: Program) -> None:
    outcome = stub.well("--similarity", "1", "1 2 3 4", "--json")
    assert (outcome.objects[0]["tokens"], outcome.objects[0]["truncated"]) == ([3, 5], [False, True])
    assert outcome.err == "embed-stub: text '1 2 3 4': text cut to 5 tokens\n"
    for texts in (("1", "fail"), ("fail", "1")):
        assert stub.refused(1, "--similarity", *texts).startswith(f"texts of '{texts[0]}': ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--similarity"], "--similarity needs two values"),
        (["--similarity", "a"], "--similarity needs two values"),
        (["--similarity", "a", "--json"], "--similarity needs two values"),
        (["--similarity=a", "b"], "--similarity takes its two values as separate arguments"),
        (["--similarity", "a", "b", "c"], "unexpected text 'c': --similarity takes no texts"),
        (["--similarity", "a", "b", "--tokens"], "--tokens does not go with --similarity"),
        (["--similarity", "a", "b", "--pair", "a", "b"], "--pair does not go with --similarity"),
        (["--similarity", "a", "b", "--file", "f"], "--file does not go with --similarity"),
        (["--similarity", "a", "b", "--latency"], "--similarity and --latency cannot be used together"),
        (["--similarity", "a", "b", "--limit", "3"], "--limit does not go with --similarity"),
        (["--top", "2", "text"], "--top does not go with model 'stub', which embeds texts"),
        (["--labels=0", "--evaluate", "rows.csv"], "--labels does not go with model 'stub', which embeds texts"),
        (["--pairs", "--evaluate", "rows.csv"],
         "--pairs does not go with --evaluate here: the two texts of a row are embedded one by one"),
    ],
)  # fmt: skip
def test_wrong_use(stub: Program, arguments: list[str], message: str) -> None:
    assert stub.refused(2, *arguments) == message


# --- evaluation ----------------------------------------------------------------------------------------------------


def cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return (first * second).sum(1) / np.linalg.norm(first, axis=1) / np.linalg.norm(second, axis=1)


def test_report(stub: Program, tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    first, second = np.round(random.normal(0, 1, (2, 50, 3)), 2)
    scores = np.round(cosines(first, second) + random.normal(0, 0.4, 50), 1)  # with ties
    rows = "".join(
        f"{' '.join(map(str, a))},{' '.join(map(str, b))},{score}\n"
        for a, b, score in zip(first, second, scores, strict=True)
    )
    lines = evaluated(stub, table(tmp_path, rows), "--label-column", "3")[0].lines
    expected = [pearson(scores, cosines(first, second)), spearman(scores, cosines(first, second))]
    assert [line.split(": ")[0] for line in lines[:2]] == ["Pearson", "Spearman"]
    assert [float(line.split(": ")[1]) for line in lines[:2]] == pytest.approx(expected, abs=6e-6)
    assert lines[2:] == ["rows: 50, mean tokens: 5.0, cut to 5 tokens: 0"]


def test_columns(stub: Program, tmp_path: Path) -> None:
    path = table(tmp_path, "id,a,b,score\n7,1,1,5\n8,1,1 1,3\n9,1,0 1,-0.5\n")
    lines = stub.well("--evaluate", path, "--label-column", "score", "--text-columns", "b,a").lines
    assert lines[1] == "Spearman: 1"
    message = "--evaluate needs two text columns, there are 3: choose with --text-columns A,B"
    assert stub.refused(2, "--evaluate", path, "--label-column", "score") == message
    assert "one column only" in stub.refused(2, "--evaluate", table(tmp_path, "1\n"))


def test_scores_that_are_no_numbers(stub: Program, tmp_path: Path) -> None:
    table(tmp_path, "1,a,b\nhigh,a,b\n")
    assert stub.refused(1, "--evaluate", "rows.csv", cwd=tmp_path) == (
        "'rows.csv': line 2: expected a score, which is a number, got 'high'"
    )
    table(tmp_path, "1,a,b\n2,fail,b\n")
    assert stub.refused(1, "--evaluate", "rows.csv", cwd=tmp_path).startswith("row 2: ")
