#!/usr/bin/env python3
"""Bills N customers with `limit` and with `onceward`, in turn, against the same mock provider, and
prints the ratios. Figures of one run belong together: absolute values depend on the machine.

Usage: bench/bill.py [--build DIR] [--customers 5000] [--rounds 5] [--delay MS]
                     [--recovery [--history MONTHS]]
--recovery kills the node at 40 % of the run and times a fresh one to the end of it; with --history
the store holds that many months of the same customers before, and both times are printed.
Needs a release build (cmake --preset release && cmake --build --preset release).
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
PERIOD = "2026-08"


def months_before(period, count):
    """The `count` months before `period`, oldest first."""
    year, month = map(int, period.split("-"))
    index = year * 12 + month - 1
    return [f"{i // 12}-{i % 12 + 1:02d}" for i in range(index - count, index)]


TICKS = os.sysconf("SC_CLK_TCK")


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


def http(method, url, body=None, headers=None):
    request = urllib.request.Request(url, data=body, method=method, headers=headers or {})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or b"{}")


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_mb(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


def wait_for(url, seconds=20):
    deadline = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)


class Mock:
    """The mock provider on a port of its own."""

    def __init__(self, program, delay_ms):
        self.port = free_port()
        self.process = subprocess.Popen([program, str(self.port), str(delay_ms)])
        self.url = f"http://127.0.0.1:{self.port}"
        wait_for(self.url + "/stats")
        self.delay_ms = delay_ms

    def reset(self):
        http("POST", f"{self.url}/reset?delay={self.delay_ms}", b"")

    def stats(self):
        return http("GET", self.url + "/stats")

    def stop(self):
        self.process.kill()
        self.process.wait()


class Node:
    """One onceward node on a fresh or an existing directory."""

    def __init__(self, program, directory, provider_url, customers):
        self.directory = pathlib.Path(directory)
        self.port, self.admin = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        (self.directory / "stripe_key").write_text("sk_test_bench\n")
        (self.directory / "stripe_key").chmod(0o600)
        config = self.directory / "onceward.toml"
        config.write_text(
            f"""
[node]
data_dir = "{self.directory}"
[http]
listen = "127.0.0.1:{self.port}"
admin_listen = "127.0.0.1:{self.admin}"
[store]
path = "{self.directory}/billing.db"
[provider]
base_url = "{provider_url}"
flow = "charges"
key_file = "{self.directory}/stripe_key"
rate_per_second = 0
max_in_flight = 64
[keys]
namespace = "bench"
[schedule]
customers = "{customers}"
window = 64
[log]
level = "warn"
"""
        )
        self.log = open(self.directory / "node.log", "ab")
        self.process = subprocess.Popen(
            [program, "serve", "-c", str(config)], stdout=self.log, stderr=self.log
        )
        self.wait_ready()

    def wait_ready(self):
        wait_for(f"http://127.0.0.1:{self.admin}/readyz")

    def plan(self, period=PERIOD):
        return http(
            "POST",
            self.url + "/v1/runs",
            json.dumps({"period": period, "dry_run": True}).encode(),
            {"Content-Type": "application/json"},
        )["plan"]

    def start(self, plan, period=PERIOD):
        return http(
            "POST",
            self.url + "/v1/runs",
            json.dumps({"period": period, "dry_run": False, "plan": plan}).encode(),
            {"Content-Type": "application/json"},
        )

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.kill()


def write_customers(path, count):
    with open(path, "w") as out:
        out.write("customer,amount_minor,currency,payment_method\n")
        for i in range(count):
            out.write(f"cust_{i:05d},4999,usd,pm_card_visa\n")


def wait_completed(node, run_id, pause=0.02):
    """Asking more often would measure what the answers cost."""
    while True:
        run = http("GET", f"{node.url}/v1/runs/{run_id}")
        if run.get("state", run.get("status")) == "completed":
            return run
        time.sleep(pause)


def run_limit(program, mock, customers):
    mock.reset()
    with tempfile.TemporaryDirectory() as directory:
        before = os.times()
        started = time.monotonic()
        subprocess.run(
            [program, f"{directory}/limit.db", str(mock.port), str(customers), "64", "64"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        wall = time.monotonic() - started
        after = os.times()
        cpu = after.children_user + after.children_system
        cpu -= before.children_user + before.children_system
    return {"wall": wall, "cpu": cpu}


def check_exactly_once(mock, customers):
    stats = mock.stats()
    if stats["exactly_one"] != customers or stats["double_charged"] != 0:
        sys.exit(f"not exactly once: {stats}")


def run_onceward(program, mock, customers):
    mock.reset()
    directory = tempfile.mkdtemp(prefix="onceward-bench-")
    try:
        csv = f"{directory}/customers.csv"
        write_customers(csv, customers)
        node = Node(program, directory, mock.url, csv)
        plan = node.plan()
        cpu = cpu_seconds(node.process.pid)
        started = time.monotonic()
        run = node.start(plan)
        wait_completed(node, run["id"])
        wall = time.monotonic() - started
        result = {
            "wall": wall,
            "cpu": cpu_seconds(node.process.pid) - cpu,
            "mb": peak_mb(node.process.pid),
        }
        node.stop()
        check_exactly_once(mock, customers)
        return result
    finally:
        shutil.rmtree(directory)


def run_recovery(program, mock, customers, history):
    """Kills the node at 40 % and times a fresh one from start to the end of the run."""
    mock.reset()
    directory = tempfile.mkdtemp(prefix="onceward-bench-")
    try:
        csv = f"{directory}/customers.csv"
        write_customers(csv, customers)
        node = Node(program, directory, mock.url, csv)
        for month in months_before(PERIOD, history):
            wait_completed(node, node.start(node.plan(month), month)["id"])
        mock.reset()  # it counts charges by customer
        run = node.start(node.plan())
        while mock.stats()["charges"] < 0.4 * customers:
            time.sleep(0.002)
        node.kill()
        started = time.monotonic()
        node = Node(program, directory, mock.url, csv)
        wait_completed(node, run["id"])
        seconds = time.monotonic() - started
        node.stop()
        check_exactly_once(mock, customers)
        return seconds
    finally:
        shutil.rmtree(directory)


def median(values):
    return statistics.median(values)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=str(ROOT / "build/release"))
    parser.add_argument("--customers", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--delay", type=float, default=0)
    parser.add_argument("--recovery", action="store_true")
    parser.add_argument("--history", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    build = pathlib.Path(options.build)
    onceward = next(
        str(p) for p in (build / "app/onceward", build / "onceward") if p.exists()
    )
    mock = Mock(str(build / "bench/mock_provider"), options.delay)
    try:
        if options.recovery:
            for history in sorted({0, options.history}):
                seconds = median(
                    run_recovery(onceward, mock, options.customers, history)
                    for _ in range(options.rounds)
                )
                print(
                    f"finish {options.customers} after kill at 40 %, {history} months before: "
                    f"{seconds:.2f} s"
                )
            return
        rows = []
        for number in range(options.rounds):
            a = run_limit(str(build / "bench/limit"), mock, options.customers)
            b = run_onceward(onceward, mock, options.customers)
            rows.append((a, b))
            print(
                f"round {number + 1}: limit {a['wall']:.2f} s, {a['cpu']:.2f} s CPU; onceward "
                f"{b['wall']:.2f} s, {b['cpu']:.2f} s CPU, {b['mb']:.0f} MB",
                file=sys.stderr,
            )
        wall = median([b["wall"] / a["wall"] for a, b in rows])
        cpu = median([b["cpu"] / a["cpu"] for a, b in rows])
        mb = max(b["mb"] for _, b in rows)
        rate = options.customers / median([b["wall"] for _, b in rows])
        if options.json:
            print(json.dumps({"wall_ratio": wall, "cpu_ratio": cpu, "peak_mb": mb, "rate": rate}))
        else:
            print(
                f"{options.customers} customers, {options.delay:g} ms: wall {wall:.2f}x, "
                f"CPU {cpu:.2f}x of limit; {rate:.0f} charges/s; peak {mb:.0f} MB"
            )
    finally:
        mock.stop()


if __name__ == "__main__":
    main()
