"""Ctrl-C while a pop waits. Each story runs in a process of its own, since signals go to its main thread."""

import subprocess
import sys

PROLOGUE = """
import os, signal, sys, threading, time
import reliableq

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.setswitchinterval(1000)  # a thread goes on until it waits for something
rq = reliableq.connect("memory:")
queue = rq.queue("q")
main = threading.main_thread()

def wait_until_asleep(thread):
    "Returns when the thread is in pop() and sleeps."
    while True:
        time.sleep(0.001)
        frame = sys._current_frames().get(thread.ident)
        with open(f"/proc/self/task/{thread.native_id}/stat") as stat:
            asleep = stat.read().rpartition(")")[2].split()[0] == "S"
        if frame is not None and frame.f_code.co_name == "_pop_within" and asleep:
            return

def interrupted():
    "Waits in the main thread; whether it was interrupted."
    try:
        queue.pop(timeout=None)
    except KeyboardInterrupt:
        return True
    return False
"""


def run(story: str) -> None:
    """Runs a story, which asserts for itself."""
    subprocess.run([sys.executable, "-c", PROLOGUE + story], check=True, timeout=60)


def test_a_wait_answers_ctrl_c() -> None:
    run("""
def interrupt():
    wait_until_asleep(main)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
assert interrupted()
assert queue.push(b"a") and queue.pop().body == b"a"
""")


def test_an_interrupted_pop_takes_nothing() -> None:
    run("""
def push_and_interrupt():
    wait_until_asleep(main)
    queue.push(b"a")  # wakes the main thread, which has to wait for its turn
    os.kill(os.getpid(), signal.SIGINT)

for _ in range(20):
    thread = threading.Thread(target=push_and_interrupt)
    thread.start()
    assert interrupted()
    thread.join()
    assert [message.deliveries for message in queue.inspect()] == [0]
    assert queue.inspect(pending=True) == []
    assert queue.pop().ack()
""")


def test_who_else_waits_gets_what_an_interrupted_pop_left() -> None:
    run("""
def push_and_interrupt():
    wait_until_asleep(main)
    wait_until_asleep(other)
    queue.push(b"a")
    os.kill(os.getpid(), signal.SIGINT)

for _ in range(20):
    other = threading.Thread(target=lambda: queue.pop(timeout=None).ack(), daemon=True)
    threading.Thread(target=push_and_interrupt).start()
    other.start()
    assert interrupted()
    other.join(30)
    assert not other.is_alive()
    assert len(queue) == 0
""")


def test_a_handler_that_returns_lets_the_wait_go_on() -> None:
    run("""
handled = []
signal.signal(signal.SIGUSR1, lambda *_: handled.append(True))

def signal_then_push():
    wait_until_asleep(main)
    os.kill(os.getpid(), signal.SIGUSR1)
    while not handled:
        time.sleep(0.001)
    queue.push(b"a")

threading.Thread(target=signal_then_push).start()
assert queue.pop(timeout=None).body == b"a"
assert handled == [True]
""")


def test_a_process_ends_while_a_daemon_thread_waits() -> None:
    run("""
thread = threading.Thread(target=queue.pop, args=(None,), daemon=True)
thread.start()
wait_until_asleep(thread)
""")
