"""`python -m tests.fuzz TARGET --seconds 60`: fuzz one target, several (`csv,link`), or all.

`all` takes them in turn, each in a process of its own; `together` is one process in which the first byte of an input
says which target it is for: much less of each, and no starting.

With `--keep FOLDER` a finding does not end the run: the input is saved under the name of what went wrong, once.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
Target = Callable[[bytes], None]


def main() -> int:
    """Fuzz one target in this process, or all of them in processes of their own."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("target")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--keep", type=Path, help="go on after a finding and save its input here")
    parser.add_argument("--work", type=Path, help="where new inputs are collected; default: nowhere")
    given = parser.parse_args()
    if given.target == "all" or "," in given.target:
        return _several(given)
    _fuzz(given.target, given.seconds, given.keep, given.work)
    return 0


def _several(given: argparse.Namespace) -> int:
    from tests.fuzz.targets import TARGETS

    failed = []
    for name in TARGETS if given.target == "all" else given.target.split(","):
        command = [sys.executable, "-m", "tests.fuzz", name, "--seconds", str(given.seconds)]
        command += ["--keep", str(given.keep)] if given.keep else []
        command += ["--work", str(given.work)] if given.work else []
        print(f"== {name}", flush=True)
        failed += [name] if _fails(command) else []
    print(f"failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


def _fails(command: list[str]) -> bool:
    """Whether a target found something."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="anonset-fuzz-", dir=memory) as folder:
        environment = {**os.environ, "TMPDIR": folder}
        return subprocess.run(command, check=False, env=environment).returncode != 0


def _fuzz(name: str, seconds: int, keep: Path | None, work: Path | None) -> None:
    import atheris

    with atheris.instrument_imports(include=["anonset"]):
        from tests.fuzz.common import share_database
        from tests.fuzz.targets import TARGETS, together
    share_database()
    whole = together if name == "together" else TARGETS[name]
    target = whole if keep is None else _keeping(whole, name, keep)
    seeds = CORPUS / name if name != "together" else _all_seeds(list(TARGETS))
    folders = [*([str(work / name)] if work is not None else []), str(seeds)]
    for folder in folders:
        Path(folder).mkdir(parents=True, exist_ok=True)
    limits = ["-timeout=60", "-rss_limit_mb=4096", "-max_len=8192", "-verbosity=0"]
    if keep is not None:
        limits.append(f"-artifact_prefix={keep}/{name}-")
    # Without a place of their own new inputs would go into the repository's corpus.
    places = folders if work is not None else ["-runs=-1", *_read_only(folders)]
    atheris.Setup([sys.argv[0], *limits, *places], _timed(target, seconds))
    atheris.Fuzz()


def _all_seeds(names: list[str]) -> Path:
    """The seeds of all targets, each behind the number of its target."""
    folder = Path(tempfile.mkdtemp(prefix="anonset-fuzz-"))
    for number, name in enumerate(names):
        for seed in (CORPUS / name).iterdir():
            (folder / f"{name}-{seed.name}").write_bytes(bytes([number]) + seed.read_bytes())
    return folder


def _timed(target: Target, seconds: int) -> Target:
    """The target until its time is over. Then the process ends at once: at an orderly exit Arrow's threads may hang."""
    end, count = time.monotonic() + seconds, 0

    def timed(data: bytes) -> None:
        nonlocal count
        if time.monotonic() > end:
            print(f"{count:,} inputs in {seconds} seconds", flush=True)
            os._exit(0)
        count += 1
        target(data)

    return timed


def _read_only(folders: list[str]) -> list[str]:
    """The corpus behind an empty folder: libFuzzer writes only into the first one."""
    return [tempfile.mkdtemp(prefix="anonset-fuzz-"), *folders]


def _keeping(target: Target, name: str, keep: Path) -> Target:
    keep.mkdir(parents=True, exist_ok=True)
    seen: set[str] = set()

    def kept(data: bytes) -> None:
        try:
            target(data)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # libraries written in Rust raise panics that are no Exception
            frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/fuzz/" not in frame.filename]
            last = next((frame for frame in reversed(frames) if "anonset" in frame.filename), None)
            where = f"{Path(last.filename).stem}-{last.lineno}" if last else "unknown"
            signature = f"{name}-{type(error).__name__}-{where}"
            if signature not in seen:
                seen.add(signature)
                (keep / signature).write_bytes(data)
                (keep / f"{signature}.txt").write_text("".join(traceback.format_exception(error)))
                print(f"FINDING {signature}", flush=True)

    return kept


if __name__ == "__main__":
    sys.exit(main())
