"""Run all benchmarks, or those named: `python -m benchmarks [NAME …] [--write]`."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import benchmarks


def main() -> int:
    flags = [word for word in sys.argv[1:] if word.startswith("--")]
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    known = [module.name for module in pkgutil.iter_modules(benchmarks.__path__) if not module.name.startswith("_")]
    failed = []
    for name in names or known:
        print(f"\n# {name}\n", flush=True)
        # A process each: nobody inherits another one's memory, caches or threads.
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *flags], check=False).returncode:
            failed.append(name)
    if failed:
        print(f"\nFailed: {', '.join(failed)}")
    return len(failed)


if __name__ == "__main__":
    raise SystemExit(main())
