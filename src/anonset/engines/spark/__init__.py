"""The same methods on Apache Spark, for transactions that one machine cannot hold.

Precondition   a frame, a path or a table that Spark can read; Java, and the extra `spark`.
Steps          read the sets · cut their Gray order into ranges by exact counts, each large enough for the promise ·
               run the method on every range, as on one machine · write what it makes into a private snapshot · shuffle
               it into the files of the release · check these files · compare them with the snapshot · publish.
Postcondition  the same transactions, parameters and seed give the same release, on any cluster. Groups lie inside of
               ranges, so every promise that holds for each range holds for the whole; the check counts over all files.
"""

from __future__ import annotations

from anonset.engines.spark.engine import METHODS_ON_SPARK, SparkResult, anonymize

__all__ = ["METHODS_ON_SPARK", "SparkResult", "anonymize"]
