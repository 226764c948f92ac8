"""The threads that kernels share: borrowed again and again, by several callers at once, and after a fork."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import anonset
from anonset.generate import generate_quest

DATA = generate_quest(2_000, seed=1)
TASKS = Path("/proc/self/task")


def release(threads: int) -> list[list[str]]:
    return anonset.anonymize(DATA, method="pta", k=5, seed=1, threads=threads).release.transactions.to_lists()


EXPECTED = release(1)


@pytest.mark.skipif(not TASKS.exists(), reason="the system does not list a process's threads")
def test_threads_are_lent_again_not_started_anew():
    release(3)
    before = {task.name for task in TASKS.iterdir()}
    for _ in range(20):
        release(3)
    assert {task.name for task in TASKS.iterdir()} <= before


def test_callers_at_once_do_not_disturb_each_other():
    with ThreadPoolExecutor(4) as callers:
        for found in callers.map(release, [1, 2, 3, 4] * 3):
            assert found == EXPECTED


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_starts_its_own_threads():
    release(3)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(60)  # it would wait for ever for threads that it does not have
        os._exit(0 if release(3) == EXPECTED else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
