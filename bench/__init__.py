"""The project's benchmark: reliableq beside Redis Streams, Lists, and the floor of any command.

Run it from the root of the repository with `make bench`, or `python -m bench --help`.

Every figure comes from a private server on a free loopback port with a directory of its own, and
peers take turns within a measure. Trust the figures in this order: bytes per message and user-space
instructions, which repeat; ratios of the best of many CPU times; medians.

`peer` says which commands a queue is made of, `load` sends them, `server` runs the server, `meter`
and `callgrind` count what it spent. `instructions`, `cpu`, `memory`, `growth`, `recovery` and
`blocked` are the measures; each yields `result.Row`s. `verdict` holds the limits, `table` and
`picture` show the outcome.
"""
