"""A user's program: appends to the queue `q` and reads it, on a cluster. Run by test_cluster.py.

    driver.py MASTER URL NOTES SETTINGS-AS-JSON

Prints what it read, and which extensions the executors had loaded for each, as they noted.
"""

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession


def taken(notes: Path) -> list[str]:
    """What was noted since the last call."""
    files = list(notes.iterdir())
    lines = [line for file in files for line in file.read_text().splitlines()]
    for file in files:
        file.unlink()
    return lines


def main(master: str, url: str, notes: Path, settings: dict[str, str]) -> None:
    builder = SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    frame = spark.range(0, 10, numPartitions=2).selectExpr("CAST(id AS STRING) AS value")
    frame.write.format("reliableq").options(url=url, queue="q").mode("append").save()
    result = {"loaded by write": taken(notes)}
    rows = spark.read.format("reliableq").options(url=url, queue="q", partitions=2).load().collect()
    result |= {"loaded by read": taken(notes), "rows": sorted(bytes(row.value).decode() for row in rows)}
    print(json.dumps(result))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), json.loads(sys.argv[4]))
