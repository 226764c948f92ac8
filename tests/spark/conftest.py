"""One real Spark for all tests: two executor processes of their own, as on a cluster."""

import os
import shutil
import sys

import pytest

MASTER = "local-cluster[2,1,1024]"
CONF = {
    "spark.sql.shuffle.partitions": "4",
    "spark.default.parallelism": "4",
    "spark.task.maxFailures": "8",
    "spark.executorEnv.PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
}


@pytest.fixture(scope="session")
def spark():
    """A session; the tests are skipped where Spark or Java is not there."""
    pytest.importorskip("pyspark", reason="needs the extra 'spark'")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("needs Java 17")
    from anonset.engines.spark.session import session

    started = session(None, MASTER, CONF)
    yield started
    started.stop()
