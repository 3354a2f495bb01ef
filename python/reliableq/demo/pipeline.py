"""From a queue in a file through Spark to Parquet and a second queue. It checks itself as it goes."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import reliableq
from reliableq import Queue
from reliableq.demo import chart, orders
from reliableq.demo.orders import COUNT, Total
from reliableq.demo.output import Output, shown
from reliableq.demo.session import NoSpark, check, session
from reliableq.demo.telling import Steps, expect, fill

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TAKEN = 200
"""So many orders are being worked on while Spark reads."""

PARTS = 4
"""In so many the queue is read."""


def main(folder: Path) -> None:
    """Shows the pipeline; ends the process with an error when it does not go as told."""
    print("A pipeline. The orders of a shop wait in a queue, Spark sums them up, and")
    print("the sums go to Parquet and into a second queue. Both queues are in a file.")
    output = Output(folder)
    shop = subprocess.run([sys.executable, "-m", "reliableq.demo.orders", output.url])
    expect(shop.returncode == -signal.SIGKILL, "the shop pushed its orders and was killed")
    # This process owns the file from here on, and those of Spark are its clients.
    with reliableq.connect(output.url) as rq:
        pipeline = Pipeline(rq, output)
        pipeline.begin()
        totals = pipeline.sum_up()
        pipeline.show(totals)


class Pipeline:
    """Tells what happens to the two queues, with their lengths after each step."""

    def __init__(self, rq: reliableq.Connection, output: Output) -> None:
        self._orders, self._totals = rq.queue(orders.QUEUE), rq.queue("totals")
        self._output = output
        self._steps = Steps()

    def begin(self) -> None:
        """The orders are there though the shop died, and work on them begins."""
        text = f"PUSH. The shop pushed {COUNT:,} orders, and was killed. What was answered is in the file:"
        self._tell(text, waiting=COUNT)
        taken = self._orders.pop_many(TAKEN, lease=0)  # they stay delivered, however long this takes
        expect(len(taken) == TAKEN, f"{TAKEN} orders were delivered")
        self._tell(f"POP. A consumer takes {TAKEN} of them, and is not done yet.", waiting=COUNT - TAKEN)

    def sum_up(self) -> list[Total]:
        """The sums: by Spark, or without it where it can't run."""
        computed = orders.totals(bodies(self._orders))
        before = self._orders.dump()
        try:
            self._through_spark(len(computed))
        except NoSpark as reason:
            print("\n" + fill(f"Spark is left out: {reason}", "   "))
            self._tell(f"READ, without Spark. The orders give {len(computed)} sums.", waiting=COUNT - TAKEN)
            return computed
        expect(self._orders.dump() == before, "reading left the first queue as it was, byte for byte")
        arrived = sorted(Total(**json.loads(body)) for body in bodies(self._totals))
        expect(arrived == computed, "the sums in the second queue are those of the orders")
        return arrived

    def show(self, totals: list[Total]) -> None:
        """Shows the sums, and where to look for more."""
        self._steps.tell("LOOK. Sales by product:")
        print("\n".join(chart.lines(totals)))
        count, cents = sum(total.orders for total in totals), sum(total.cents for total in totals)
        expect(count == COUNT, "every order was counted once")
        print(f"\n{count:,} orders, {cents / 100:,.2f} EUR: nothing was lost, and nothing counted twice.\n")
        if chart.draw(totals, self._output.picture):
            print(f"  a picture   {shown(self._output.picture)}")
        else:
            print("  a picture   is drawn where matplotlib is: pip install matplotlib")
        if self._output.parquet.exists():
            print(f"  the sums    {shown(self._output.parquet)}")
        program = Path(sys.executable).with_name("reliableq")
        print(f"  the queues  {shown(program)} --url file:{shown(self._output.file)} status")

    def _through_spark(self, sums: int) -> None:
        check()
        print("\n   Spark starts; its first query takes ten seconds or more ...", flush=True)
        with session(self._output.log) as spark:
            self._write(self._read(spark), sums)
            self._push(spark)

    def _read(self, spark: "SparkSession") -> "DataFrame":
        url, queue = self._output.url, self._orders.name
        frame = spark.read.format("reliableq").options(url=url, queue=queue, partitions=PARTS).load()
        states = {row["state"]: row["count"] for row in frame.groupBy("state").count().collect()}
        expect(states == {"waiting": COUNT - TAKEN, "delivered": TAKEN}, "Spark saw every order once")
        text = f"READ. Spark reads all {COUNT:,} in {PARTS} parts, and takes none: it is a snapshot."
        self._tell(text, waiting=COUNT - TAKEN)
        return frame

    def _write(self, frame: "DataFrame", sums: int) -> None:
        from pyspark.sql.functions import count, from_json, sum

        order = from_json(frame.value.cast("string"), "product STRING, hour INT, cents BIGINT").alias("order")
        grouped = frame.select(order).groupBy("order.product", "order.hour")
        totals = grouped.agg(count("*").alias("orders"), sum("order.cents").alias("cents"))
        totals.write.parquet(str(self._output.parquet))
        text = f"SUM and WRITE. By product and hour there are {sums} sums, now in Parquet."
        self._tell(text, waiting=COUNT - TAKEN)

    def _push(self, spark: "SparkSession") -> None:
        totals = spark.read.parquet(str(self._output.parquet))
        messages = totals.selectExpr("to_json(struct(*)) AS value")
        url, queue = self._output.url, self._totals.name
        messages.write.format("reliableq").options(url=url, queue=queue).mode("append").save()
        text = "PUSH. Spark's tasks push the sums to the second queue, a message for each."
        self._tell(text, waiting=COUNT - TAKEN, sums=totals.count())

    def _tell(self, text: str, waiting: int, sums: int = 0) -> None:
        """Tells a step and shows how long the queues are, which must be as given."""
        self._steps.tell(text)
        for queue in (self._orders, self._totals):
            info = queue.info()
            if info is not None:
                print(f"     {queue.name:>9} | {info['waiting']:,} waiting, {info['delivered']:,} delivered")
        expect(lengths(self._orders) == (waiting, COUNT - waiting), f"{waiting} orders wait, the others are delivered")
        expect(lengths(self._totals) == (sums, 0), f"{sums} sums wait")


def lengths(queue: Queue) -> tuple[int, int]:
    """How many wait, and how many are delivered."""
    info = queue.info()
    return (0, 0) if info is None else (info["waiting"], info["delivered"])


def bodies(queue: Queue) -> Iterator[bytes]:
    """All that a queue holds, in the order of IDs. Nothing is taken."""
    first = None
    while messages := queue.range(first):
        yield from (message.body for message in messages)
        first = f"({messages[-1].id}"
