# SPDX-License-Identifier: Apache-2.0
"""`etch bundle --format`: what each tool takes. The tools' own checks where they are installed (`pip install platformio
idf-component-manager kconfiglib`); the sources compiled as Arduino does it; the example run on an emulated board."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from classify_program import ROOT, tool
from folder_content import content
from generator_program import etch, one_line
from projects import HERE, done
from tiny_checkpoint import write_tiny_checkpoint
from tiny_heads import write_encoder, write_head

from codegen import pipeline
from codegen.bundle import bundle
from codegen.bundle.command import PACKAGE_FORMATS
from codegen.bundle.packages import FORMATS
from codegen.head_folders import HeadFolder

INCLUDED_FROM = {  # by the tool, from the root of a package
    "arduino": ["src"],
    "cmsis-pack": ["include", "runtime", "model"],
    "esp-idf": ["include", "runtime", "model"],
    "platformio": ["include", "runtime", "model"],
    "zephyr": ["include", "runtime", "model"],
}
CPU = ["-mthumb", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"]
BOARD = ["-M", "mps2-an386", "-nographic", "-semihosting", "-kernel"]
FUSED = re.compile(r"\tvfn?m[as]\.")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small one for microcontrollers."""
    folder = tmp_path_factory.mktemp("packaged")
    write_tiny_checkpoint(folder / "checkpoint")
    request = pipeline.Request(folder / "checkpoint", folder / "tiny", max_tokens=16, target="m-profile")
    pipeline.generate(request, lambda _: None)
    return folder / "tiny"


@pytest.fixture(scope="module")
def packages(model: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Its packages by format."""
    folder = tmp_path_factory.mktemp("packages")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)  # hundreds of files
        for form in FORMATS:
            bundle.bundle(model, folder / form, lambda _: None, form)
    return {form: folder / form for form in FORMATS}


def sources_of(package: Path) -> list[Path]:
    """What the tool compiles into the library."""
    folders = [package / name for name in ("src", "model", "runtime")]
    return sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in (".cpp", ".S"))


def test_the_option_knows_them_all() -> None:
    assert sorted(FORMATS) == list(PACKAGE_FORMATS)


@pytest.mark.parametrize("form", FORMATS)
def test_a_package_is_whole(form: str, packages: dict[str, Path]) -> None:
    package = packages[form]
    roots = [package / name for name in INCLUDED_FROM[form]]
    assert len(sources_of(package)) > 50
    for path in package.rglob("*"):
        if path.suffix in (".cpp", ".hpp", ".h", ".inl", ".ino"):
            text = path.read_text(encoding="utf-8")
            assert str(ROOT) not in text
            for name in re.findall(r'#include (?:"([^"]+)"|<(etch/[^>]+|tiny\.hpp)>)', text):
                found = [folder for folder in (path.parent, *roots) if (folder / (name[0] or name[1])).is_file()]
                assert found, f"{path}: {name}"
    says_flags = all(path.read_text().startswith("#if defined(__clang__)") for path in package.rglob("status.cpp"))
    assert says_flags != FORMATS[form].has_flags
    if FORMATS[form].has_flags:
        texts = [path.read_text() for path in package.iterdir() if path.name in ("CMakeLists.txt", "library.json")]
        assert re.search(r"-fno-fast-math\W+-ffp-contract=off\W+-fno-math-errno", "".join(texts))
    readme = (package / "README.txt").read_text(encoding="utf-8")
    assert f"It was not built with {FORMATS[form].tool} itself" in readme


def test_the_same_input_gives_the_same_package(
    packages: dict[str, Path], model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    bundle.bundle(model, tmp_path / "again", lambda _: None, "arduino")
    assert content(tmp_path / "again") == content(packages["arduino"])


def test_a_cmsis_pack_names_its_files(packages: dict[str, Path]) -> None:
    package = packages["cmsis-pack"]
    root = ElementTree.parse(package / "Etch.tiny.pdsc").getroot()
    assert (root.findtext("vendor"), root.findtext("name")) == ("Etch", "tiny")
    named = {file.attrib["name"] for file in root.iter("file")}
    assert {path.relative_to(package).as_posix() for path in sources_of(package)} <= named
    assert all((package / name).exists() for name in named)
    for component in root.iter("component"):  # of several models' packs one has the runtime
        sources = [file.attrib["name"] for file in component.iter("file") if file.attrib["category"] == "sourceCpp"]
        of_runtime = [name.startswith("runtime/") for name in sources]
        assert all(of_runtime) if component.attrib["Cgroup"] == "etch runtime" else not any(of_runtime)


def test_an_arduino_library_has_what_its_specification_asks_for(packages: dict[str, Path]) -> None:
    lines = (packages["arduino"] / "library.properties").read_text().splitlines()
    fields = dict(line.split("=", 1) for line in lines)
    wanted = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures"}
    assert wanted <= fields.keys()
    assert re.fullmatch(r"[A-Za-z0-9][\w .-]{0,62}", fields["name"])
    assert (packages["arduino"] / "src" / fields["includes"]).is_file()


def test_cpp17_is_asked_for(packages: dict[str, Path]) -> None:
    """By the tool's own means where it has some, and in words by all of them."""
    for form, package in packages.items():
        words = " ".join((package / "README.txt").read_text().split())
        assert f"Its sources, and all that includes its headers, are C++17: {FORMATS[form].language}" in words
    library = json.loads((packages["platformio"] / "library.json").read_text())
    assert "-std=gnu++17" in library["build"]["flags"] and "-std=gnu++11" in library["build"]["unflags"]
    assert "!STD_CPP98 && !STD_CPP11 && !STD_CPP14" in (packages["zephyr"] / "Kconfig").read_text()


def test_a_package_says_whose_terms_hold_for_what(packages: dict[str, Path]) -> None:
    """No field calls the tables Apache-2.0, which the code alone is; no address is invented."""
    rights = "The code is Apache-2.0, the tables are under the terms of their checkpoint: see README.txt."
    described = {
        "arduino": "library.properties",
        "cmsis-pack": "Etch.tiny.pdsc",
        "esp-idf": "idf_component.yml",
        "platformio": "library.json",
    }
    for form, name in described.items():
        text = (packages[form] / name).read_text()
        assert rights in text, form
        assert not re.search(r"^ *\"?license\"?:", text, re.MULTILINE) and "example.invalid" not in text, form
    assert "\nurl=\n" in (packages["arduino"] / "library.properties").read_text()


@pytest.mark.parametrize("form", ["esp-idf", "zephyr"])
def test_generator_expressions_are_single_words(form: str, packages: dict[str, Path]) -> None:
    """CMake splits one that is not quoted at its spaces."""
    lines = (packages[form] / "CMakeLists.txt").read_text().splitlines()
    found = [word for line in lines if "$<" in line for word in re.findall(r'"[^"]*"|[^\s()]+', line) if "$<" in word]
    assert found
    assert all(word.count("<") == word.count(">") and " " not in word for word in found), found


def test_the_sketch_prints_to_the_serial_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a model with several heads, too; what std::printf prints nobody sees there."""
    heads = tuple(HeadFolder(f"of_{kind}", write_head(tmp_path / kind, kind)) for kind in ("single", "tags"))
    request = pipeline.Request(
        write_encoder(tmp_path / "encoder"), tmp_path / "tiny", max_tokens=16, target="m-profile", heads=heads
    )
    pipeline.generate(request, lambda _: None)
    monkeypatch.setattr(os, "fsync", lambda _: None)
    bundle.bundle(tmp_path / "tiny", tmp_path / "package", lambda _: None, "arduino")
    sketch = (tmp_path / "package/examples/ask/ask.ino").read_text()
    assert 'say("%u tokens, answered by %u heads\\n"' in sketch and "std::printf" not in sketch
    examples = sorted((ROOT / "codegen/templates/tasks").glob("*.example.j2"))
    assert len(examples) > 8
    assert [path.name for path in examples if "printf" in path.read_text()] == []


def packager(name: str) -> str:
    """A program of a tool, in the folder that ETCH_PACKAGERS names or on the path."""
    found = shutil.which(name, path=os.environ.get("ETCH_PACKAGERS")) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def test_compote_packs_the_component(packages: dict[str, Path], tmp_path: Path) -> None:
    program = packager("compote")
    folder = shutil.copytree(packages["esp-idf"], tmp_path / "component")
    done(program, "component", "pack", "--name", "etch_tiny", "--dest-dir", tmp_path, cwd=folder)
    assert list(tmp_path.glob("etch_tiny_*.tgz"))


def test_esp_idf_reads_the_component_as_a_script(packages: dict[str, Path], tmp_path: Path) -> None:
    """As its component_get_requirements.cmake does with every component, before there is a project."""
    program = tool("cmake")
    (tmp_path / "requirements.cmake").write_text(
        "macro(idf_component_register)\n"
        '  cmake_parse_arguments(component "" "" "SRCS;INCLUDE_DIRS;PRIV_INCLUDE_DIRS" ${ARGN})\n'
        "  set(registered ${component_SRCS} PARENT_SCOPE)\n"
        "  return()\n"
        "endmacro()\n"
        "function(component folder)\n"
        "  include(${folder}/CMakeLists.txt)\n"
        "endfunction()\n"
        f'component("{packages["esp-idf"]}")\n'
        f'file(WRITE "{tmp_path}/sources" "${{registered}}")\n'
    )
    done(program, "-P", "requirements.cmake", cwd=tmp_path)
    registered = (tmp_path / "sources").read_text().split(";")
    assert sorted(map(Path, registered)) == sources_of(packages["esp-idf"])


def test_pio_packs_the_library(packages: dict[str, Path], tmp_path: Path) -> None:
    program = packager("pio")
    folder = shutil.copytree(packages["platformio"], tmp_path / "library")
    manifest = json.loads((folder / "library.json").read_text())
    assert "license" not in manifest  # no identifier says both; pio would ask the network for the list of those
    environment = os.environ | {"PLATFORMIO_CORE_DIR": str(tmp_path / "core")}
    command = [program, "pkg", "pack", folder, "-o", tmp_path / "library.tar.gz"]
    outcome = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert outcome.returncode == 0, outcome.stderr
    assert (tmp_path / "library.tar.gz").is_file()


def test_kconfig_takes_the_sample(packages: dict[str, Path], tmp_path: Path) -> None:
    if importlib.util.find_spec("kconfiglib") is None:
        pytest.skip("kconfiglib is not installed")
    import kconfiglib

    own = "".join(
        f'config {name}\n\tbool "{name}"\n' for name in ("CPP", "REQUIRES_FLOAT_PRINTF", "REQUIRES_FULL_LIBCPP")
    )
    own += 'choice STD_CPP\n\tprompt "C++"\n\tdefault STD_CPP11\n'
    own += (
        "".join(f'config STD_CPP{year}\n\tbool "{year}"\n' for year in ("98", "11", "14", "17", "20")) + "endchoice\n"
    )
    (tmp_path / "Kconfig").write_text(f'{own}source "{packages["zephyr"] / "Kconfig"}"\n')
    zephyr = kconfiglib.Kconfig(str(tmp_path / "Kconfig"))
    zephyr.syms["CPP"].set_value("y")
    zephyr.load_config(str(packages["zephyr"] / "samples/ask/prj.conf"))
    assert zephyr.syms["ETCH_TINY"].str_value == "y"
    prints_floats = "%.9g" in (packages["zephyr"] / "samples/ask/src/main.cpp").read_text()
    assert prints_floats and zephyr.syms["REQUIRES_FLOAT_PRINTF"].str_value == "y"
    for year, chosen in (("11", "n"), ("20", "y")):
        zephyr.syms[f"STD_CPP{year}"].set_value("y")
        assert zephyr.syms["ETCH_TINY"].str_value == chosen


def test_refusals(tmp_path: Path) -> None:
    message = one_line(etch("bundle", "generated/agnews", "--out", tmp_path / "out", "--format", "zephyr"), 1)
    assert message.startswith(
        "etch: error[target-not-for-boards] bundle: generated/agnews was generated for --target h"
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.sweep
@pytest.mark.long_case("a package on an emulated board")
def test_the_line_of_the_page(model: Path, tmp_path: Path) -> None:
    """Of a plain bundle, in generated/README.md; with newlib's calls of an emulator in the place of none."""
    compiler, emulator = tool("arm-none-eabi-g++"), tool("qemu-system-arm")
    page = (ROOT / "generated/README.md").read_text(encoding="utf-8")
    [line] = re.findall(r"^```sh\narm-none-eabi-g\+\+ (.*?)^```$", page, re.DOTALL | re.MULTILINE)
    folder = tmp_path / "plain"
    bundle.bundle(model, folder, lambda _: None)
    (folder / "main.cpp").write_text(
        "#include <tiny.hpp>\n#include <cstdio>\n\nstatic etch::tiny::Workspace workspace;\n\nint main() {\n"
        "    etch::tiny::Result result;\n"
        "    const bool well = etch::tiny::self_test(workspace) == etch::Status::ok &&\n"
        '                      etch::tiny::classify(workspace, "a text", result) == etch::Status::ok;\n'
        '    std::puts(well ? "well" : "failed");\n}\n'
    )
    shutil.copy(HERE / "package/board.ld", folder)
    done(tool("arm-none-eabi-gcc"), *CPU, "-c", HERE / "package/reset.c", "-o", "start.o", cwd=folder)
    done("sh", "-c", f"{compiler} {line.replace('nosys', 'rdimon')}", cwd=folder)
    assert done(emulator, *BOARD, "firmware.elf", cwd=folder) == "well\n"


@pytest.mark.sweep
@pytest.mark.long_case("a package on an emulated board")
def test_the_sketch_runs(packages: dict[str, Path], tmp_path: Path) -> None:
    """Compiled by the line of Arduino's cores for a Cortex-M4: no product is contracted, and its self test passes."""
    compiler, emulator = tool("arm-none-eabi-g++"), tool("qemu-system-arm")
    package = packages["arduino"]
    line = [compiler, "-std=gnu++17", "-fno-exceptions", "-fno-rtti", "-ffunction-sections", *CPU, "-Os"]
    line += [f"-I{package / 'src'}"]
    rules = ["all:\n"]
    for index, source in enumerate(sources_of(package)):
        words = line if source.suffix == ".cpp" else [line[0], *CPU, f"-I{package / 'src'}"]
        rules.append(f"all: {index}.o\n{index}.o:\n\t{' '.join(words)} -c {source} -o {index}.o\n")
    (tmp_path / "Makefile").write_text("".join(rules))
    done(tool("make"), f"-j{os.cpu_count()}", cwd=tmp_path)
    objects = sorted(path.name for path in tmp_path.glob("*.o"))
    assert not FUSED.search(done(tool("arm-none-eabi-objdump"), "-d", *objects, cwd=tmp_path))
    done(tool("arm-none-eabi-gcc"), *CPU, "-c", HERE / "package/reset.c", "-o", "reset.o", cwd=tmp_path)
    sketch = ["-include", HERE / "package/Arduino.h", "-x", "c++", package / "examples/ask/ask.ino", "-x", "none"]
    link = ["reset.o", *objects, "--specs=rdimon.specs", "-Wl,--gc-sections", "-T", HERE / "package/board.ld"]
    done(*line, *sketch, *link, "-o", "sketch.elf", cwd=tmp_path)
    assert done(emulator, *BOARD, "sketch.elf", cwd=tmp_path).startswith("self test: ok\n")


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("form", "example", "more"),
    [
        ("esp-idf", "examples/ask/main/main.cpp", HERE / "package/app_main.cpp"),
        ("zephyr", "samples/ask/src/main.cpp", ""),
    ],
)
@pytest.mark.long_case("a package on an emulated board")
def test_its_cmake_makes_the_example(
    form: str, example: str, more: Path | str, packages: dict[str, Path], model: Path, tmp_path: Path
) -> None:
    """With stand-ins for the functions of the tool's own CMake: the flags are the package's.

    In Zephyr with another model's package beside it.
    """
    compiler, emulator = tool("arm-none-eabi-g++"), tool("qemu-system-arm")
    built = [packages[form]]
    if form == "zephyr":
        request = pipeline.Request(
            model.parent / "checkpoint", tmp_path / "generated", name="other", max_tokens=16, target="m-profile"
        )
        pipeline.generate(request, lambda _: None)
        bundle.bundle(tmp_path / "generated", tmp_path / "other", lambda _: None, form)
        built.append(tmp_path / "other")
    settings = {
        "CMAKE_SYSTEM_NAME": "Generic",
        "CMAKE_TRY_COMPILE_TARGET_TYPE": "STATIC_LIBRARY",
        "CMAKE_C_COMPILER": tool("arm-none-eabi-gcc"),
        "CMAKE_CXX_COMPILER": compiler,
        "PACKAGES": ";".join(map(str, built)),
        "EXAMPLE": packages[form] / example,
        "MORE": more,
        "CONFIG_ETCH_TINY": "ON",
        "CONFIG_ETCH_OTHER": "ON",
    }
    options = [f"-D{name}={value}" for name, value in settings.items()]
    done(tool("cmake"), "-S", HERE / "package", "-B", "build", *options, cwd=tmp_path)
    done(tool("cmake"), "--build", "build", "--parallel", str(os.cpu_count()), cwd=tmp_path)
    libraries = list(tmp_path.glob("build/packages/*/lib*.a"))
    assert len(libraries) == (3 if form == "zephyr" else 1)
    assert not FUSED.search(done(tool("arm-none-eabi-objdump"), "-d", *libraries, cwd=tmp_path))
    assert done(emulator, *BOARD, "build/example", cwd=tmp_path).startswith("self test: ok\n")
