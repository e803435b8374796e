# SPDX-License-Identifier: Apache-2.0
"""Trains a GRU on a frozen encoder: `python gru.py --help`, and README.md beside this file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))  # common
sys.path.insert(2, str(Path(__file__).resolve().parents[3]))  # codegen, the generator
sys.path.insert(3, str(Path(__file__).resolve().parents[1] / "finetune"))  # tables, labels, the new folder

from refusal import Refused

from codegen.errors import EtchError


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        prog="gru", description=__doc__, allow_abbrev=False, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    add = made.add_argument
    add("encoder", type=Path, metavar="ENCODER", help="Hugging Face folder of an encoder; its head is not used")
    add("--train", type=Path, required=True, metavar="FILE", help="labelled rows: .csv or .tsv, also .gz")
    add("--test", type=Path, metavar="FILE", help="rows measured once, after training")
    add("--out", type=Path, required=True, metavar="DIR", help="folder to make")
    add("--label-column", required=True, metavar="C", help="its name, or its number from 1")
    add("--text-columns", required=True, metavar="C,…", help="joined by a space")
    add("--header", action="store_true", help="the first row names the columns (implied by a name)")
    add("--rows", type=int, default=1 << 30, metavar="N", help="of the training file at most so many, evenly spaced")
    add("--features", type=Path, metavar="DIR", help="keeps what the encoder made of the texts, for the next run")
    add("--held-out", type=float, default=0.1, metavar="SHARE", help="of the training rows, to choose the epoch by")
    add("--write-held-out", type=Path, metavar="FILE.csv", help="label and text of these rows, for --evaluate")
    add("--max-tokens", type=int, default=128, metavar="N", help="longest text; longer ones are cut")
    add("--hidden", type=int, default=128, metavar="N", help="width of a direction's states")
    add("--layers", type=int, default=1, choices=range(1, 5), metavar="N", help="1 to 4")
    add("--one-direction", action="store_true", help="forward only")
    add("--dropout", type=float, default=0.25, metavar="P", help="between layers and before the linear")
    add("--epochs", type=int, default=6, metavar="N", help="of which the best is kept")
    add("--batch", type=int, default=32, metavar="N", help="rows a step")
    add("--rate", type=float, default=1e-3, metavar="R", help="of AdamW, rising and falling as a cosine")
    add("--seed", type=int, default=0, metavar="N", help="of everything random")
    add("--threads", type=int, metavar="N", help="PyTorch's choice where not given")
    return made


def main() -> int:
    """Exit codes: 0 done, 1 refused, 2 wrong use."""
    asked = parser().parse_args()
    try:
        from gru_training import run  # PyTorch takes seconds to import

        print(run(asked))
        return 0
    except (Refused, EtchError) as error:
        print(f"gru: {error}", file=sys.stderr)
    except ImportError as error:
        print(f"gru: {error}; install tools/train/requirements.txt", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
