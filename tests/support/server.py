"""A private redis-server with the module: its own folder, port, configuration and life."""

import os
import shlex
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from tests.support.client import Client, CommandError
from tests.support.clock import Clock
from tests.support.wait import DEADLINE, wait_until

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "servers"

SETTINGS = {
    "bind": "127.0.0.1",
    "save": '""',
    "appendonly": "no",
    "enable-debug-command": "yes",
    "enable-module-command": "yes",
    "repl-diskless-sync-delay": "0",
    "repl-ping-replica-period": "1",
    "shutdown-timeout": "0",
    "daemonize": "no",
    "logfile": '""',
}
"""What each server is started with, unless a test says otherwise."""

WRECKAGE = ("panicked at", "crashed by signal", "ASSERTION FAILED", "=== REDIS BUG REPORT", "Guru Meditation")
"""Words in a log that no test may leave behind."""


GIVEN_UP = "Unrecoverable error, aborting now"
"""What a server says that will not start. It may never end, though: where a file is cut within a
module's value, the file checker of Redis 7.0, which is called then, reads on for ever."""


class ServerExited(Exception):
    """The server ended while it was starting."""

    def __init__(self, returncode: int, log: str) -> None:
        self.returncode = returncode
        self.log = log
        super().__init__(f"the server ended with {returncode} while it was starting:\n{log[-4000:]}")


def server_command() -> list[str]:
    """The server to test on: RELIABLEQ_SERVER, or the oldest that is supported."""
    if chosen := os.environ.get("RELIABLEQ_SERVER"):
        return shlex.split(chosen)
    if TOOL.exists():
        return named_command("redis-7.0")
    found = shutil.which("redis-server")
    if found is None:
        raise RuntimeError("no redis-server: install one, or name it in RELIABLEQ_SERVER")
    return [found]


def named_command(name: str) -> list[str]:
    """One of the supported servers, whichever the tests run on."""
    done = subprocess.run([TOOL, name], check=True, stdout=subprocess.PIPE, text=True)
    return [done.stdout.splitlines()[0]]


def module_path() -> Path:
    """The module to test: RELIABLEQ_MODULE, or what `make build` leaves."""
    default = ROOT / "target" / "release" / "librq_module.so"
    path = Path(os.environ.get("RELIABLEQ_MODULE", default)).resolve()
    if not path.exists():
        raise RuntimeError(f"no module at {path}: run `make build`, or name it in RELIABLEQ_MODULE")
    return path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A server that can be stopped, killed and started again on the same files."""

    def __init__(
        self, command: list[str], module: Path, folder: Path, clock: Clock | None = None, **settings: str
    ) -> None:
        self.folder = folder
        self.port = 0
        self._command = command
        self._module = module
        self._clock = clock
        self._settings = dict(SETTINGS)
        self.reconfigure(**settings)
        self._process: subprocess.Popen[bytes] | None = None
        self._seen = 0
        folder.mkdir(parents=True, exist_ok=True)

    # Life and death.

    def start(self) -> "Server":
        """Starts the server and waits until it has loaded its data."""
        attempts = 5
        while True:
            try:
                self._start()
                return self
            except ServerExited as ended:
                attempts -= 1
                if "Address already in use" not in ended.log or not attempts:
                    raise
                self.port = 0

    def _start(self) -> None:
        self.port = self.port or free_port()
        settings = self._settings | {"port": str(self.port), "dir": str(self.folder)}
        if settings.get("cluster-enabled") == "yes":
            settings["cluster-port"] = str(free_port())
        lines = [f"{name} {value}" for name, value in settings.items()]
        configuration = self.folder / "redis.conf"
        configuration.write_text("\n".join([*lines, f"loadmodule {self._module}", ""]))
        environment = dict(os.environ) | (self._clock.environment if self._clock else {})
        start = len(self.log())
        with self._log_path.open("ab") as log:
            self._process = subprocess.Popen(
                [*self._command, str(configuration)],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )
        wait_until("the server answers", lambda: self._answers(start))

    def _answers(self, log_start: int) -> bool:
        assert self._process is not None
        if (code := self._process.poll()) is not None:
            self._process = None
            raise ServerExited(code, self.log()[log_start:])
        if GIVEN_UP in (log := self.log()[log_start:]):
            self.kill()
            raise ServerExited(0, log)
        try:
            with Client(self.port, patience=1) as client:
                return bool(client.call("PING") == b"PONG")
        except (redis.ConnectionError, redis.TimeoutError):  # among them that of a server that still loads
            return False
        except CommandError as error:
            if error.code == "LOADING":
                return False
            raise

    def stop(self) -> None:
        """Asks the server to end, as a service manager does."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the server without a warning."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        if self._process.poll() is None:
            os.killpg(self._process.pid, how)
        try:
            self._process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            raise AssertionError("the server did not end when asked") from None
        finally:
            self._process = None

    def restart(self, kill: bool = False) -> None:
        """Ends the server and starts it on what it left on disk."""
        self.kill() if kill else self.stop()
        self.start()

    def reconfigure(self, **settings: str) -> None:
        """Changes what the server is started with the next time."""
        self._settings |= {name.replace("_", "-"): value for name, value in settings.items()}

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    # Health.

    @property
    def _log_path(self) -> Path:
        return self.folder / "log"

    def log(self) -> str:
        return self._log_path.read_text(errors="replace") if self._log_path.exists() else ""

    def check_health(self) -> None:
        """Fails if the server ended by itself, or its log tells of a crash or a panic since the last
        check."""
        log = self.log()
        news, self._seen = log[self._seen :], len(log)
        found = [word for word in WRECKAGE if word in news]
        assert not found, f"the server's log says {found}:\n{news[-6000:]}"
        ended = self._process is not None and self._process.poll() is not None
        assert not ended, f"the server has ended:\n{news[-6000:]}"

    # Talking to it.

    def client(self, protocol: int = 2, db: int = 0, user: str | None = None) -> Client:
        return Client(self.port, protocol, db, user)

    def wait_for_time(self, milliseconds: int) -> None:
        """Waits until the server has noticed, to the second, that its clock was set. Valkey 9 looks at
        it in each cron only."""
        with self.client() as client:
            wait_until(
                "the server has seen its clock",
                lambda: abs(int(client.call("TIME")[0]) - milliseconds // 1000) <= 1,
            )

    @contextmanager
    def configured(self, **settings: str) -> Iterator[None]:
        """Changes settings of the running server, and changes them back."""
        with self.client() as client:
            before = {}
            for name, value in settings.items():
                option = name.replace("_", "-")
                reply = client.call("CONFIG", "GET", option)
                before[option] = reply[1]
                client.call("CONFIG", "SET", option, value)
            try:
                yield
            finally:
                for option, old in before.items():
                    client.call("CONFIG", "SET", option, old)

    # Replication and persistence.

    def follow(self, primary: "Server") -> None:
        """Becomes a replica, anew if it is one, and waits until it has the primary's data."""
        with self.client() as client:
            client.call("REPLICAOF", "NO", "ONE")
            client.call("REPLICAOF", "127.0.0.1", primary.port)
        self.catch_up(primary)

    def catch_up(self, primary: "Server") -> None:
        """Waits until this replica has applied all that its primary has propagated."""
        with primary.client() as source, self.client() as copy:
            goal = int(source.info("replication")["master_repl_offset"])

            def reached() -> bool:
                state = copy.info("replication")
                linked = state.get("master_link_status") == "up"
                return linked and int(state["slave_repl_offset"]) >= goal

            wait_until("the replica has caught up", reached)

    def promote(self) -> None:
        """Makes a replica a primary."""
        with self.client() as client:
            client.call("REPLICAOF", "NO", "ONE")

    def rewrite_aof(self) -> None:
        """Rewrites the append-only file and waits for the end of it."""
        with self.client() as client:
            self._wait_for_children(client)
            before = self.log().count("Background AOF rewrite finished successfully")
            client.call("BGREWRITEAOF")
            wait_until(
                "the append-only file is rewritten",
                lambda: self.log().count("Background AOF rewrite finished successfully") > before,
            )
            self._wait_for_children(client)

    @staticmethod
    def _wait_for_children(client: Client) -> None:
        def idle() -> bool:
            state = client.info("persistence")
            busy = ("aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress")
            return all(state[name] == "0" for name in busy)

        wait_until("no background save is under way", idle)
