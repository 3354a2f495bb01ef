"""Queues in Spark: `format("reliableq")` reads a snapshot of one and appends to one. See docs/spark.md.

Importing this needs no Spark, so that `reliableq spark-archive` works where there is none.
"""
