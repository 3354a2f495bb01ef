"""A queue read as a frame."""

from datetime import UTC, datetime, timedelta

import pyspark
import pytest
import redis
import reliableq
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession
from reliableq.spark.reader import MOST_LISTED

from tests.spark.conftest import Read


def test_columns(read: Read) -> None:
    columns = [
        ("id", "string"),
        ("value", "binary"),
        ("enqueued_at", "timestamp"),
        ("deliveries", "bigint"),
        ("state", "string"),
        ("queue", "string"),
        ("priority", "int"),
        ("token", "binary"),
        ("headers", "array<struct<name:string,value:binary>>"),
        ("failures", "bigint"),
        ("consumer", "string"),
        ("last_delivery", "timestamp"),
        ("deadline", "timestamp"),
        ("due", "timestamp"),
        ("died", "timestamp"),
        ("reason", "string"),
    ]
    assert read().dtypes == columns


def test_rows_show_messages_in_each_state(read: Read, queue: reliableq.Queue) -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)
    ids = queue.push_many([b"again", b"\x00\xff", b"taken", b"gone"])
    taken = queue.pop_many(4)
    assert taken[3].ack()
    assert [message.id for message in queue.recover(1, elapsed=0)] == [ids[0]]
    last = queue.push(b"waits")
    rows = {row.id: row for row in read().collect()}
    assert list(rows) == [*ids[:3], last]
    assert [bytes(row.value) for row in rows.values()] == [b"again", b"\x00\xff", b"taken", b"waits"]
    assert [row.deliveries for row in rows.values()] == [2, 1, 1, 0]
    assert [row.state for row in rows.values()] == ["delivered", "delivered", "delivered", "waiting"]
    assert {row.queue for row in rows.values()} == {"q"}
    # Spark gives the machine's own time.
    times = [row.enqueued_at.astimezone(UTC) for row in rows.values()]
    assert all(before < moment < datetime.now(UTC) for moment in times)
    assert [moment.timestamp() * 1000 for moment in times] == [int(id.partition("-")[0]) for id in rows]


def fill(queue: reliableq.Queue) -> dict[str, str]:
    """A message in each state; returns their IDs by state."""
    headers = [("trace", b"2"), ("trace", b"\xff")]
    dead = queue.push(b"dead", retries=0)
    letter = queue.pop(consumer="ann")
    assert letter is not None and letter.nack(reason="no ink")
    delivered = queue.push(b"delivered", headers=headers, token=b"\xff", priority=9)
    assert queue.pop(lease=3600, consumer="bob") is not None
    return {
        "dead": dead,
        "delivered": delivered,
        "scheduled": queue.push(b"scheduled", delay=3600),
        "waiting": queue.push(b"waiting"),
    }


def moment(row: Row, name: str) -> datetime | None:
    # Spark gives the machine's own time.
    return None if row[name] is None else row[name].astimezone(UTC)


def test_rows_tell_all_of_a_message(read: Read, queue: reliableq.Queue) -> None:
    ids = fill(queue)
    rows = {row.state: row for row in read().collect()}
    assert {state: row.id for state, row in rows.items()} == ids
    shown = {message.state: message for message in queue.range()}
    for state, row in rows.items():
        message = shown[state]
        assert bytes(row.value) == state.encode()
        assert (row.priority, row.failures, row.deliveries) == (message.priority, message.failures, message.deliveries)
        for name in ("last_delivery", "deadline"):
            assert moment(row, name) == getattr(message, name)
    assert [(pair.name, bytes(pair.value)) for pair in rows["delivered"].headers] == [
        ("trace", b"2"),
        ("trace", b"\xff"),
    ]
    assert bytes(rows["delivered"].token) == b"\xff" and rows["delivered"].priority == 9
    assert rows["waiting"].headers == [] and rows["waiting"].token is None
    assert {state: row.consumer for state, row in rows.items() if row.consumer} == {"dead": "ann", "delivered": "bob"}
    assert {state: moment(row, "due") for state, row in rows.items() if row.due} == {
        "scheduled": queue.scheduled()[0].due
    }
    assert {state: moment(row, "died") for state, row in rows.items() if row.died} == {"dead": queue.dead()[0].died}
    assert {state: row.reason for state, row in rows.items() if row.reason} == {"dead": "no ink"}
    assert rows["dead"].failures == 1


def test_texts_that_are_no_utf8_are_shown(read: Read, queue: reliableq.Queue) -> None:
    queue.push(b"x", headers=[(b"\xff", b"1")])
    message = queue.pop(consumer="\udcff")
    assert message is not None and message.nack(dead=True, reason="\udcff")
    (row,) = read().collect()
    assert (row.headers[0].name, row.consumer, row.reason) == ("\ufffd", "\ufffd", "\ufffd")


@pytest.mark.parametrize(
    ("asked", "states"),
    [
        ("all", ["dead", "delivered", "scheduled", "waiting"]),
        ("dead", ["dead"]),
        ("scheduled", ["scheduled"]),
        ("waiting, delivered", ["delivered", "waiting"]),
    ],
)
def test_states_can_be_chosen(read: Read, queue: reliableq.Queue, asked: str, states: list[str]) -> None:
    fill(queue)
    assert sorted(row.state for row in read(state=asked).collect()) == states


def test_details_of_many_messages(read: Read, queue: reliableq.Queue) -> None:
    """In several replies, between messages of other states, and with bodies that fill several lists."""
    for number in range(20):
        queue.push_many([bytes(1 << 20)], delay=3600 + number)
        queue.push_many([b"small"] * 300)
        queue.push_many([b"later"] * 300, delay=7200)
    frame = read(partitions=2, state="scheduled")
    rows = frame.selectExpr("length(value) AS size", "unix_millis(due) - unix_millis(enqueued_at) AS wait").collect()
    assert [row.wait for row in rows if row["size"] == 1 << 20] == [(3600 + number) * 1000 for number in range(20)]
    assert [row.wait for row in rows if row["size"] == 5] == [7_200_000] * 6000


def test_details_of_too_many_messages_are_left_out(read: Read, queue: reliableq.Queue) -> None:
    """Those of each state by itself."""
    queue.push(b"x", retries=0)
    message = queue.pop()
    assert message is not None and message.nack()
    queue.push_many([b""] * (MOST_LISTED + 1), delay=3600)
    row = read(partitions=2).selectExpr("count(id)", "count(due)", "count(died)", "first(reason, true)").first()
    assert tuple(row or ()) == (MOST_LISTED + 2, 0, 1, "nack")


def test_nothing_is_consumed(read: Read, queue: reliableq.Queue) -> None:
    queue.push_many([b"a", b"b"])
    queue.pop()
    before = queue.info()
    assert read().count() == read().count() == 2
    after = queue.info()
    assert before is not None and after is not None
    assert {**before, "age": 0} == {**after, "age": 0}


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_parts_hold_every_message_once(read: Read, queue: reliableq.Queue, parts: int) -> None:
    ids = queue.push_many(b"%d" % number for number in range(10_000))
    frame = read(partitions=parts)
    assert frame.rdd.getNumPartitions() == parts
    found = frame.selectExpr("id", "spark_partition_id() AS part").collect()
    assert [row.id for row in found] == ids
    sizes = [sum(row.part == part for row in found) for part in range(parts)]
    assert sum(sizes) == 10_000 and min(sizes) > 0


def test_few_messages_are_read_in_few_parts(read: Read, queue: reliableq.Queue) -> None:
    queue.push(b"one")
    assert read().rdd.getNumPartitions() == 1
    assert [bytes(row.value) for row in read(partitions=5).collect()] == [b"one"]


def test_large_queue_is_read_in_parts_by_itself(read: Read, queue: reliableq.Queue) -> None:
    queue.push_many([b""] * 120_000)
    frame = read()
    assert frame.rdd.getNumPartitions() == 3
    assert frame.count() == 120_000


def test_large_bodies_are_read_in_parts_by_themselves(read: Read, queue: reliableq.Queue) -> None:
    """Replies end early, too, so that each part takes several."""
    queue.push_many([bytes(1 << 20)] * 100)
    frame = read()
    assert frame.rdd.getNumPartitions() > 2
    assert frame.selectExpr("sum(length(value)) AS total").first()["total"] == 100 << 20  # type: ignore[index]


@pytest.mark.parametrize("was_there", [False, True])
def test_queue_that_holds_nothing_has_no_rows(read: Read, queue: reliableq.Queue, was_there: bool) -> None:
    if was_there:
        queue.push(b"gone")
        message = queue.pop()
        assert message is not None and message.ack()
    assert read().collect() == []
    assert read(partitions=4).count() == 0


def test_what_is_pushed_after_planning_is_not_read(read: Read, queue: reliableq.Queue) -> None:
    ids = queue.push_many([b"a", b"b", b"c"])
    frame = read(partitions=2)
    assert frame.rdd.getNumPartitions() == 2  # it is planned now
    queue.push_many([b"later"] * 10)
    assert [row.id for row in frame.collect()] == ids
    # Frames made from it share its plan, but on Spark 4.0, which plans each by itself.
    assert frame.where("state = 'waiting'").count() == (13 if pyspark.__version__.startswith("4.0.") else 3)
    assert read().count() == 13


def test_what_is_acknowledged_after_planning_is_missing(read: Read, queue: reliableq.Queue) -> None:
    """And nothing else: also when it was the bound of a part."""
    ids = queue.push_many(b"%d" % number for number in range(1000))
    frame = read(partitions=4)
    assert frame.rdd.getNumPartitions() == 4
    gone = queue.ack([message for message in queue.pop_many(1000) if int(message.body) % 10 in (0, 9)])
    assert len(gone) == 200
    assert [row.id for row in frame.collect()] == [id for id in ids if id not in set(gone)]


def test_queue_that_ended_after_planning_has_no_rows(read: Read, queue: reliableq.Queue) -> None:
    queue.push_many([b"a", b"b"])
    frame = read(partitions=2)
    assert frame.rdd.getNumPartitions() == 2
    queue.ack(queue.pop_many(2))
    assert frame.collect() == []


def test_read_and_write_go_together(spark: SparkSession, read: Read, rq: reliableq.Connection, url: str) -> None:
    """A pipeline: messages are read, counted, and the counts pushed into another queue."""
    rq.queue("q").push_many(b"%d" % (number % 3) for number in range(300))
    counts = read().selectExpr("CAST(value AS STRING) AS word").groupBy("word").count()
    texts = counts.selectExpr("concat(word, ':', count) AS value")
    texts.write.format("reliableq").options(url=url, queue="counts").mode("append").save()
    assert sorted(message.body for message in rq.queue("counts").inspect()) == [b"0:100", b"1:100", b"2:100"]


def test_key_of_another_type_is_refused(read: Read, rq: reliableq.Connection, url: str) -> None:
    with redis.Redis.from_url(url) as client:
        client.set("q", "text")
    with pytest.raises(PySparkException, match="WrongType"):
        read().collect()
