"""Lets Spark find the source: it looks for `DefaultSource` in every module that is named `pyspark_...`."""

from reliableq.spark.source import Source as DefaultSource

__all__ = ["DefaultSource"]
