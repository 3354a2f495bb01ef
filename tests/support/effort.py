"""How much the random tests try: RELIABLEQ_EFFORT multiplies it."""

import os

EFFORT = float(os.environ.get("RELIABLEQ_EFFORT", "1"))
"""At 1, the default, the random tests repeat the same cases in each run."""


def effort(count: int) -> int:
    """How many cases to try where a plain run tries `count`."""
    return max(1, int(count * EFFORT))
