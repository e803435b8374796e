# SPDX-License-Identifier: Apache-2.0
"""Downloads a repository with huggingface_hub, file by file, and checks each against what the Hub says of it."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import EtchError, printable
from ..folders.checkpoint_folder import publish
from ..folders.output import prepare_target
from ..load.folder import ADAPTER_FILE
from ..load.hub_name import HubName
from ..load.pickles import pickled_names
from ..load.safetensors import MAX_FILE_BYTES
from ..process.command_line import etch_command
from .chosen import chosen

_CHUNK = 4 << 20


def fetch(name: HubName, out: Path, echo: Callable[[str], None]) -> None:
    """The repository -> `out`, all or nothing."""
    prepare_target(out, echo)
    hub = _import_hub()
    about = _asked(name, lambda: hub.HfApi().model_info(name.repository, revision=name.revision, files_metadata=True))
    files = {file.rfilename: file for file in about.siblings or ()}
    wanted = chosen(files)
    if not {"config.json", "modules.json", ADAPTER_FILE} & set(wanted):
        message = f"{name} has no config.json, modules.json or {ADAPTER_FILE} among its {len(files)} files"
        raise _refuse("hub-no-checkpoint", message)
    too_large = [file for file in wanted if (files[file].size or 0) > MAX_FILE_BYTES]
    if too_large:
        raise _refuse("hub-too-large", f"{too_large[0]} has more than {MAX_FILE_BYTES} bytes, the most that is read")
    echo(f"repository   {name.repository}, commit {printable(str(about.sha))}")
    with tempfile.TemporaryDirectory(prefix="etch-fetch-") as place:
        for file in wanted:
            _asked(
                name,
                partial(hub.hf_hub_download, name.repository, file, revision=about.sha, local_dir=place),
            )
            _check(Path(place) / file, files[file])
        shutil.rmtree(Path(place) / ".cache", ignore_errors=True)  # huggingface_hub's own notes
        hashes = publish(Path(place), out, {"fetched": name.repository, "revision": str(about.sha)})
    for file, sha256 in hashes.items():
        echo(f"sha256       {sha256}  {(out / file).stat().st_size:>13,}  {file}")
    echo(f"wrote {out}")
    if ADAPTER_FILE in wanted:
        command = etch_command("merge", out, "BASE", "--out", out.with_name(f"{out.name}-merged"))
        echo(f"an adapter; next, with the folder of what it was trained beside: {command}")
    elif pickled_names([Path(file).name for file in wanted]):
        converted = out.with_name(f"{out.name}-safetensors")
        echo(f"its weights are pickled; next: {etch_command('convert', out, '--out', converted)}")
    else:
        echo(f"next: {etch_command('generate', out, '--out', Path('generated') / 'NAME', '--build')}")


def _import_hub() -> Any:
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    if not sys.stderr.isatty():
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    try:
        import huggingface_hub
    except ImportError as error:
        raise _refuse("hub-client-missing", f"{error}: pip install 'huggingface_hub>=1.0'") from None
    return huggingface_hub


def _asked(name: HubName, ask: Callable[[], Any]) -> Any:
    """An answer of the Hub; EtchError where there is none."""
    from huggingface_hub import errors

    try:
        return ask()
    except errors.GatedRepoError:
        raise _refuse("hub-gated", f"{name.repository} is for those who accepted its terms: hf auth login") from None
    except errors.RevisionNotFoundError:
        raise _refuse("hub-revision-missing", f"{name.repository} has no revision '{name.revision}'") from None
    except errors.RepositoryNotFoundError:
        message = f"the Hub has no repository {name.repository}, or shows it to others only: hf auth login"
        raise _refuse("hub-repository-missing", message) from None
    except Exception as error:  # of the HTTP client, whichever it is
        first = (str(error).splitlines() or ["no answer"])[0]
        raise _refuse("hub-unreachable", f"the Hub was asked for {name.repository}: {first}") from None


def _check(path: Path, file: Any) -> None:
    """Size and hash as the Hub told them: SHA-256 of large files, Git's own of the others."""
    size = path.stat().st_size
    large = file.lfs is not None
    digest = hashlib.sha256() if large else hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    with path.open("rb") as content:
        while part := content.read(_CHUNK):
            digest.update(part)
    told = file.lfs.sha256 if large else file.blob_id
    if (file.size is not None and size != file.size) or (told is not None and digest.hexdigest() != told):
        raise _refuse("hub-other-content", f"{printable(file.rfilename)} is not what the Hub says of it")


def _refuse(code: str, message: str) -> EtchError:
    return EtchError(code, "fetch", message)
