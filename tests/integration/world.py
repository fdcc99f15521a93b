"""Processes for tests of the executable: a provider simulator, nodes and the command line, each
on free loopback ports and in a directory of the test."""

import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

ONCEWARD = os.environ["ONCEWARD"]
LONG = os.environ.get("ONCEWARD_LONG") == "1"
READY_SECONDS = 30
PERIOD = "2026-08"


def free_port():
    """A port outside the range from which the kernel takes ports of outgoing connections: those
    would be taken by somebody else between this call and the use."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def call(method, url, body=None, headers=None, timeout=40):
    """Returns (status, headers, body); a JSON body is decoded. Errors of HTTP are answers."""
    data = body
    if body is not None and not isinstance(body, (bytes, str)):
        data = json.dumps(body)
    if isinstance(data, str):
        data = data.encode()
    request = urllib.request.Request(url, data=data, method=method, headers=headers or {})
    try:
        answer = urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        text = answer.read().decode()
        try:
            text = json.loads(text)
        except ValueError:
            pass
        return answer.status, answer.headers, text


def onceward(*words, timeout=60, env=None, user=None):
    """Runs the command line to its end, as another user if one is given."""
    return subprocess.run(
        [ONCEWARD, *words], capture_output=True, text=True, timeout=timeout, user=user,
        env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
    )  # fmt: skip


class Process:
    """A daemon whose stderr and stdout are kept in files."""

    def __init__(self, words, log, before=()):
        """`before` are words in front of the program, e.g. of a wrapper that becomes it."""
        self.log = log
        self.file = open(log, "ab")
        self.process = subprocess.Popen(
            [*before, ONCEWARD, *words],
            stdout=self.file, stderr=self.file, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def wait_until_up(self, url):
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError(f"ended with {self.process.returncode}: {self.text()}")
            try:
                with urllib.request.urlopen(url, timeout=2):
                    return
            except OSError:
                time.sleep(0.02)
        raise AssertionError("not up in time: " + self.text())

    def text(self):
        return pathlib.Path(self.log).read_text(errors="replace")

    def signal(self, number):
        self.process.send_signal(number)

    def end(self, timeout=20):
        """Waits for the end and returns the exit code."""
        return self.process.wait(timeout=timeout)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        self.process.wait()
        self.file.close()


class World(unittest.TestCase):
    """A directory, a simulator, and any number of nodes."""

    flow = "payment_intents"

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="onceward-test-"))
        self.addCleanup(shutil.rmtree, self.directory, True)
        self.sim_url = None

    def start_sim(self, *words):
        port = free_port()
        self.sim_url = f"http://127.0.0.1:{port}"
        sim = Process(["sim", "--listen", f"127.0.0.1:{port}", *words], self.directory / "sim.log")
        self.addCleanup(sim.close)
        sim.wait_until_up(self.sim_url + "/_sim/ledger")
        return sim

    def faults(self, *rules):
        status, _, body = call("POST", self.sim_url + "/_sim/faults", {"rules": list(rules)})
        self.assertEqual(status, 200, body)

    def ledger(self):
        status, _, body = call("GET", self.sim_url + "/_sim/ledger")
        self.assertEqual(status, 200, body)
        return body["rows"] if isinstance(body, dict) else body

    def requests(self):
        """The POSTs that the provider saw."""
        body = call("GET", self.sim_url + "/_sim/requests")[2]
        rows = body if isinstance(body, list) else body.get("requests", body.get("rows"))
        return [row for row in rows if row["method"] == "POST"]

    def write_config(self, name="onceward.toml", **changes):
        """A sound configuration; `section__key=value` changes it, None leaves the key out."""
        self.port, self.admin = free_port(), free_port()
        settings = {
            "node": {"name": "t-1", "data_dir": str(self.directory), "drain_timeout": "10s"},
            "http": {
                "listen": f"127.0.0.1:{self.port}",
                "admin_listen": f"127.0.0.1:{self.admin}",
            },
            "provider": {
                "base_url": self.sim_url or "http://127.0.0.1:9",
                "flow": self.flow,
                "rate_per_second": 0,
                "timeout": "2s",
                "attempt_deadline": "10s",
            },
            "keys": {"namespace": "test"},
        }
        for path, value in changes.items():
            section, key = path.split("__")
            settings.setdefault(section, {})[key] = value
        lines = []
        for section, keys in settings.items():
            lines.append(f"[{section}]")
            lines += [f"{k} = {json.dumps(v)}" for k, v in keys.items() if v is not None]
        path = self.directory / name
        path.write_text("\n".join(lines) + "\n")
        self.url = f"http://127.0.0.1:{self.port}"
        self.admin_url = f"http://127.0.0.1:{self.admin}"
        return path

    def start_node(self, config=None, **changes):
        self.config = config or self.write_config(**changes)
        node = Process(["serve", "-c", str(self.config)], self.directory / "node.log")
        self.addCleanup(node.close)
        node.wait_until_up(self.admin_url + "/readyz")
        return node

    def bill(self, customer="cust_1", key="k1", wait=10, **changes):
        body = {
            "customer": customer,
            "period": PERIOD,
            "amount_minor": 4990,
            "currency": "usd",
            "payment_method": "pm_card_visa",
            **changes,
        }
        headers = {"Idempotency-Key": f'"{key}"', "Prefer": f"wait={wait}"}
        return call("POST", self.url + "/v1/billing", body, headers)

    def state(self, customer="cust_1", wait=0):
        return call("GET", f"{self.url}/v1/billing/{customer}/{PERIOD}?wait={wait}")

    def until(self, condition, seconds=30):
        deadline = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), deadline, "did not happen in time")
            time.sleep(0.05)


class SharedNode(unittest.TestCase):
    """One simulator and one node for all tests of a class, which take a customer each."""

    settings = {}

    @classmethod
    def setUpClass(cls):
        cls.world = World()
        cls.addClassCleanup(cls.world.doCleanups)
        cls.world.setUp()
        cls.world.start_sim()
        cls.node = cls.world.start_node(**cls.settings)


SKIPPED = 77  # what ctest takes for "not run here"


def main():
    """unittest.main(), but a program of which nothing could run says so by its exit code."""
    result = unittest.main(verbosity=2, exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if len(result.skipped) == result.testsRun else 0)


def main_in_parallel(jobs=6):
    """In place of main() for tests that mostly wait for a back-off: each is a process of its own,
    several at a time. With names of tests as arguments, those run here."""
    if len(sys.argv) > 1:
        main()
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    names = [test.id().split(".", 1)[1] for group in suite for test in group]

    def run(name):
        return subprocess.run(
            [sys.executable, "-B", sys.argv[0], name], capture_output=True, text=True, timeout=600
        )

    codes = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in pool.map(run, names):
            codes.append(done.returncode)
            is_well = done.returncode in (0, SKIPPED)
            print(done.stderr.split("\n\n")[0] if is_well else done.stderr, flush=True)
    failed = sum(code not in (0, SKIPPED) for code in codes)
    print(f"{len(codes)} tests, {failed} failed, {codes.count(SKIPPED)} skipped")
    if failed or not codes:
        sys.exit(1)
    sys.exit(SKIPPED if codes.count(SKIPPED) == len(codes) else 0)
