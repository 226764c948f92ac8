import threading
import time

import pytest

from anonset import CancelledError, Job, ParameterError


def test_stages_are_timed_and_reported():
    seen = []
    job = Job(seed=1, progress=lambda *step: seen.append(step))
    with job.stage("sort", total=4):
        time.sleep(0.01)
    assert job.seconds["sort"] >= 0.01
    assert seen == [("sort", 0, 4), ("sort", 4, 4)]


def test_a_cancelled_job_stops_at_the_next_stage():
    job = Job(seed=1)
    threading.Thread(target=job.cancel).start()
    time.sleep(0.05)
    with pytest.raises(CancelledError), job.stage("sort"):
        pass


def test_an_error_inside_a_cancelled_stage_is_the_cancellation():
    job = Job(seed=1)

    def fail_after_cancelling():
        with job.stage("sort"):
            job.cancel()
            raise RuntimeError

    with pytest.raises(CancelledError):
        fail_after_cancelling()


def test_each_purpose_has_its_own_random_numbers():
    one, two = Job(seed=5), Job(seed=5)
    one.random("shuffle").integers(100)
    assert one.random("groups").integers(1 << 40) == two.random("groups").integers(1 << 40)
    assert one.random("a").integers(1 << 40) != one.random("b").integers(1 << 40)


def test_without_a_seed_every_job_draws_its_own():
    assert len({Job().seed for _ in range(10)}) == 10


@pytest.mark.parametrize(("name", "arguments"), [("seed", {"seed": -1}), ("threads", {"threads": -2})])
def test_bad_arguments_are_refused(name, arguments):
    with pytest.raises(ParameterError, match=name):
        Job(**arguments)
