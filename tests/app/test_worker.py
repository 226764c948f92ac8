"""The worker process: progress, answers, errors, and its end."""

import asyncio
import json
import subprocess
import sys
import time

import pytest

from anonset.app.work import Running, Work, Works
from anonset.app.worker import described
from anonset.data.errors import OutcomeError, ParameterError

TABLE = "transaction,item\n1,a\n1,b\n2,a\n2,b\n3,<img src=x onerror=alert(1)>\n"


@pytest.fixture
def work(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(TABLE)
    made = Work("w", "v", tmp_path)
    made.take(str(path), "data.csv")
    return made


def test_an_answer_is_kept_and_progress_heard(work):
    async def way():
        answer = await work.run("open")
        assert answer["summary"]["transactions"] == 3
        assert work.answers["open"] == answer
        assert answer["first"][2] == ["<img src=x onerror=alert(1)>"]
        running = Running("risk")
        await work.worker.ask("risk", work.setup, {}, running)
        assert running.stage == "attack"
        await work.cancel()

    asyncio.run(way())


def test_an_error_is_a_problem_in_words_and_the_next_task_works(work, tmp_path):
    async def way():
        right = work.source
        work.take(str(tmp_path / "none.csv"), "none.csv")
        assert await work.run("open") is None
        assert work.problems["open"]["kind"] in ("InputError", "DataError")
        assert "none.csv" in work.problems["open"]["message"]
        work.take(right, "data.csv")
        assert await work.run("open") is not None
        assert work.problems == {}
        await work.cancel()

    asyncio.run(way())


def test_a_cancelled_task_ends_within_a_second_and_says_so(work, tmp_path):
    from anonset.generate import generate_quest
    from anonset.io import save

    large = tmp_path / "large.dat"
    save(generate_quest(100_000, items=2000, seed=1), large)

    async def way():
        work.take(str(large), "large.dat")
        await work.run("open")
        running = asyncio.create_task(work.run("risk"))
        await asyncio.sleep(0.3)
        assert work.running is not None
        begun = time.monotonic()
        await work.cancel()
        assert await running is None
        assert time.monotonic() - begun < 1
        assert work.problems["risk"]["kind"] == "Cancelled"
        assert work.running is None
        assert (await work.run("open"))["summary"]["transactions"] == 100_000
        await work.cancel()

    asyncio.run(way())


def test_a_worker_that_dies_is_a_problem_and_the_next_task_has_a_new_one(work):
    async def way():
        await work.run("open")
        task = asyncio.create_task(work.run("risk"))
        await asyncio.sleep(0)
        work.worker._process.kill()
        assert await task is None
        assert work.problems["risk"]["kind"] == "Crashed"
        assert (await work.run("risk"))["rows"]
        await work.cancel()

    asyncio.run(way())


def test_the_worker_of_a_closed_tab_ends_and_the_next_task_reads_again(work, tmp_path, monkeypatch):
    monkeypatch.setattr("anonset.app.work.IDLE", 0.0)

    async def way():
        works = Works(tmp_path)
        works.all["w"] = work
        await work.run("open")
        process = work.worker._process
        await works.rest()
        assert process.returncode is not None
        assert "open" in work.answers
        assert (await work.run("risk"))["rows"]
        await work.cancel()

    asyncio.run(way())


def test_an_answer_to_former_data_is_not_kept(work):
    async def way():
        task = asyncio.create_task(work.run("open"))
        await asyncio.sleep(0)
        work.sensitive = ["a"]
        await task
        assert "open" not in work.answers
        await work.cancel()

    asyncio.run(way())


def test_only_one_task_runs_at_a_time(work):
    async def way():
        first = asyncio.create_task(work.run("open"))
        await asyncio.sleep(0)
        assert await work.run("risk") is None
        assert await first is not None
        assert "risk" not in work.problems
        await work.cancel()

    asyncio.run(way())


def test_the_worker_ends_when_nobody_listens(work):
    process = subprocess.Popen(
        [sys.executable, "-m", "anonset.app.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    line = json.dumps({"id": 1, "task": "open", "setup": work.setup, "args": {}})
    out, _ = process.communicate(line + "\n", timeout=60)
    assert process.returncode == 0
    assert all(json.loads(line)["id"] == 1 for line in out.splitlines())


def test_errors_are_told_without_the_text_of_what_nobody_foresaw():
    with pytest.raises(KeyError) as caught:
        {}["Ann has diabetes"]
    assert "Ann" not in json.dumps(described(caught.value))
    said = described(OutcomeError("Nothing is left.", ["loss"]))
    assert said["accept"] == ("loss",)
    said = described(ParameterError("k", "be at least 2", 1, "Choose a larger value."))
    assert said["hint"] == "Choose a larger value."


def test_work_belongs_to_its_visitor_and_too_much_of_it_is_dropped(tmp_path):
    async def way():
        works = Works(tmp_path)
        mine = await works.new("me", "en")
        assert works.of(mine.name, "me") is mine
        assert works.of(mine.name, "somebody else") is None
        mine.source = "data.csv"
        for _ in range(40):
            await works.new("me", "en")
        assert len(works.all) == 30
        assert works.of(mine.name, "me") is mine  # what holds data is dropped last
        assert len(list(tmp_path.iterdir())) == 30
        await works.close()
        assert list(tmp_path.iterdir()) == []

    asyncio.run(way())
