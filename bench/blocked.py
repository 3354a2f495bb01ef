"""A push while many clients wait on the key: what each waiting client costs that push.

One client is served per push; the server asks all others in vain, and that must be cheap.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from bench.callgrind import CallgrindMeter, CallgrindServer
from bench.connection import Connection, encode
from bench.environment import Environment, Missing, raise_file_limit
from bench.load import D1, Load
from bench.meter import CpuMeter, Meter
from bench.peer import Peer
from bench.plan import Plan
from bench.result import Result, Row, progress
from bench.server import Server

PUSHES = 20
SPARE_FILES = 200


def measure(environment: Environment, plan: Plan, peers: tuple[Peer, ...], result: Result) -> Iterator[Row]:
    """CPU and instructions of a push with few and with many clients waiting, and the slope."""
    few, many = plan.blocked_clients
    allowed = raise_file_limit(many + SPARE_FILES) - SPARE_FILES
    if allowed < many:
        result.leave_out(f"blocked: {many:,} clients; the limit of open files allows {allowed:,}")
        many = allowed
    for peer in peers:
        try:
            counted = [_instructions(environment, plan, peer, clients, many) for clients in (few, many)]
            yield from _rows(peer, (few, many), counted, "instructions")
        except Missing as missing:
            result.leave_out(f"blocked in instructions: {missing}")
        spent = [_cpu(environment, plan, peer, clients, many) for clients in (few, many)]
        yield from _rows(peer, (few, many), spent, "CPU microseconds")


def _rows(peer: Peer, clients: tuple[int, int], costs: list[float], unit: str) -> Iterator[Row]:
    for count, cost in zip(clients, costs, strict=True):
        yield Row("blocked", peer.name, "push", f"{unit} per push", cost, count=count)
    slope = (costs[1] - costs[0]) / (clients[1] - clients[0])
    unit = f"{unit} per waiting client"
    yield Row("blocked", peer.name, "each client", unit, slope, count=clients[1])


def _options(limit: int) -> tuple[str, ...]:
    return ("--maxclients", str(limit + SPARE_FILES // 2))


def _instructions(environment: Environment, plan: Plan, peer: Peer, clients: int, limit: int) -> float:
    progress(f"blocked: instructions, {peer.name}, {clients:,} clients")
    options = _options(limit)
    with (
        CallgrindServer(environment, module=peer.needs_module, options=options) as server,
        Load(server, peer, D1, plan.main_size) as load,
        _waiting(server, peer, clients),
    ):
        return _push(load, CallgrindMeter(server))


def _cpu(environment: Environment, plan: Plan, peer: Peer, clients: int, limit: int) -> float:
    progress(f"blocked: cpu, {peer.name}, {clients:,} clients")
    with (
        Server(environment, module=peer.needs_module, options=_options(limit)) as server,
        Load(server, peer, D1, plan.main_size) as load,
        _waiting(server, peer, clients),
    ):
        return _push(load, CpuMeter(server)) / 1000


def _push(load: Load, meter: Meter) -> float:
    meter.lap()
    load.push(PUSHES)
    return meter.lap() / PUSHES


@contextlib.contextmanager
def _waiting(server: Server, peer: Peer, clients: int) -> Iterator[None]:
    """Connections that wait on the queue, all of them known to the server as blocked."""
    assert peer.blocking_pop is not None
    command = encode(peer.blocking_pop.split())
    with contextlib.ExitStack() as stack:
        for _ in range(clients):
            stack.enter_context(Connection(server.port)).send(command)
        watch = stack.enter_context(Connection(server.port))
        for _ in range(3000):
            if server.info(watch, "clients", "blocked_clients") == clients:
                break
            time.sleep(0.02)
        else:
            raise RuntimeError(f"{clients} clients did not block")
        yield
