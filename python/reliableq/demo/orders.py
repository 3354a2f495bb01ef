"""The orders of a shop, as messages, and their sums.

`python -m reliableq.demo.orders URL` is the shop: it pushes them all, and is killed as soon as the last is answered.
"""

import json
import os
import random
import signal
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import reliableq

QUEUE = "orders"
COUNT = 5_000

PRICES = {"bread": 380, "cheese": 720, "coffee": 850, "honey": 640, "olives": 450, "tea": 560}
"""Cents. Whole numbers, so that sums agree to the last of them."""

DEMAND = {"bread": 9, "cheese": 4, "coffee": 6, "honey": 2, "olives": 3, "tea": 4}
HOURS = {7: 3, 8: 7, 9: 6, 10: 4, 11: 5, 12: 9, 13: 7, 14: 4, 15: 4, 16: 6, 17: 10, 18: 12, 19: 7, 20: 3}
"""How often each is chosen, beside the others."""


class Total(NamedTuple):
    """What was ordered of a product in one hour of the day."""

    product: str
    hour: int
    orders: int
    cents: int


def bodies() -> Iterator[bytes]:
    """The same orders each time."""
    chance = random.Random(11)
    products = chance.choices(list(DEMAND), list(DEMAND.values()), k=COUNT)
    hours = chance.choices(list(HOURS), list(HOURS.values()), k=COUNT)
    for number, (product, hour) in enumerate(zip(products, hours, strict=True), 1):
        cents = PRICES[product] * chance.randint(1, 4)
        yield json.dumps({"order": number, "product": product, "hour": hour, "cents": cents}).encode()


def totals(orders: Iterable[bytes]) -> list[Total]:
    """Their sums, computed here, for Spark's to be compared with."""
    sums: dict[tuple[str, int], tuple[int, int]] = {}
    for order in map(json.loads, orders):
        key = order["product"], order["hour"]
        count, cents = sums.get(key, (0, 0))
        sums[key] = count + 1, cents + order["cents"]
    return sorted(Total(*key, *sum) for key, sum in sums.items())


def shop(url: str) -> None:
    """Pushes the orders, and does not live to close the file."""
    rq = reliableq.connect(url)
    rq.queue(QUEUE).push_many(bodies())
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    shop(sys.argv[1])
