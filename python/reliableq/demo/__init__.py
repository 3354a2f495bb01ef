"""What the package does, shown and checked: `python -m reliableq.demo`, or `make demo` in a clone.

The story is the life of a message on a queue in memory. The pipeline goes from a queue in a file through Spark to
Parquet and a second queue; where Spark can't run it says why, and shows the rest.
"""
