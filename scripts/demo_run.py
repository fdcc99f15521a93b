#!/usr/bin/env python3
"""The demo behind scripts/demo: a simulated provider and a billing node as two processes, a billing
run, SIGKILLs while charges are in flight, then the provider's ledger and an HTML report.

Exit 0 only if the ledger shows exactly one charge per planned (customer, period, purpose).
"""

import argparse
import collections
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
import urllib.error
import urllib.request

from demo_report import write_report

ROOT = pathlib.Path(__file__).resolve().parent.parent
PERIOD = "2026-08"
LATENCY_MS = 120
WINDOW = 16
READY_SECONDS = 30
RUN_SECONDS = 900


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


def call(method, url, body=None, headers=None, timeout=30):
    """Returns (status, JSON); errors of HTTP are answers, errors of the network are OSError."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method, headers=headers or {})
    if data is not None:
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read() or b"null")


def wait_until_up(url, process, what):
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            sys.exit(f"demo: {what} ended with exit code {process.returncode}; see its log")
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            pass
        time.sleep(0.02)
    sys.exit(f"demo: {what} was not ready within {READY_SECONDS} s")


class Simulator:
    def __init__(self, onceward, directory, seed):
        self.url = f"http://127.0.0.1:{free_port()}"
        log = open(directory / "sim.log", "ab")
        self.process = subprocess.Popen(
            [onceward, "sim", "--listen", self.url.removeprefix("http://"), "--seed", str(seed),
             "--latency", str(LATENCY_MS), "--db", str(directory / "sim.db")],
            stdout=log, stderr=log,
        )  # fmt: skip
        wait_until_up(self.url + "/_sim/ledger?period=none", self.process, "the simulator")

    def ledger(self):
        rows = call("GET", f"{self.url}/_sim/ledger?period={PERIOD}")[1]
        return rows["rows"] if isinstance(rows, dict) and "rows" in rows else rows

    def requests(self):
        rows = call("GET", self.url + "/_sim/requests")[1]
        return rows["requests"] if isinstance(rows, dict) and "requests" in rows else rows

    def assert_once(self):
        return call("GET", f"{self.url}/_sim/assert?max_per=customer,period,purpose&max=1")


class Node:
    def __init__(self, onceward, directory, provider_url, customers):
        self.onceward, self.directory = onceward, directory
        self.port, self.admin = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        key = directory / "stripe_key"
        key.touch(mode=0o600)
        key.write_text("sk_test_demo\n")
        self.config = directory / "onceward.toml"
        self.config.write_text(
            f"""[node]
name = "demo-1"
data_dir = "{directory}"
[http]
listen = "127.0.0.1:{self.port}"
admin_listen = "127.0.0.1:{self.admin}"
[store]
path = "{directory}/billing.db"
[provider]
base_url = "{provider_url}"
key_file = "{key}"
rate_per_second = 0
max_in_flight = {WINDOW}
[keys]
namespace = "demo-billing"
[schedule]
customers = "{customers}"
window = {WINDOW}
"""
        )
        self.process = None

    def start(self):
        log = open(self.directory / "node.log", "ab")
        self.process = subprocess.Popen(
            [self.onceward, "serve", "-c", str(self.config)], stdout=log, stderr=log
        )
        wait_until_up(f"http://127.0.0.1:{self.admin}/readyz", self.process, "the node")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def cli(self, *words):
        done = subprocess.run(
            [self.onceward, *words, "--node", self.url, "--json"], capture_output=True, text=True
        )
        if done.returncode not in (0, 8):
            sys.exit(f"demo: onceward {' '.join(words)}: exit {done.returncode}\n{done.stderr}")
        return json.loads(done.stdout.splitlines()[0])


def repeat_requests(node, rows, rng, tally):
    """Callers who lost their connection in the kill ask again, each with a key of its own."""
    for row in rng.sample(rows, min(6, len(rows))):
        body = {
            "customer": row["customer"],
            "period": PERIOD,
            "purpose": row["purpose"],
            "amount_minor": row["amount_minor"],
            "currency": row["currency"],
            "payment_method": row["payment_method"],
            "provider_customer": row["provider_customer"] or row["customer"],
        }
        key = f'"retry-{rng.getrandbits(64):x}"'
        try:
            status, answer = call(
                "POST", node.url + "/v1/billing", body,
                {"Idempotency-Key": key, "Prefer": "wait=0"},
            )  # fmt: skip
        except OSError:
            continue
        if status in (200, 202) and answer.get("deduplicated"):
            guard = "issued_periods" if answer["status"] == "completed" else "in_progress"
            tally[guard] += 1


def read_customers(path):
    import csv

    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["amount_minor"] = int(row["amount_minor"])
        row["purpose"] = row.get("purpose") or "subscription"
        row["provider_customer"] = row.get("provider_customer") or ""
    return [row for row in rows if row["payment_method"]]


def count_guards(requests, tally):
    """What the provider's wire log shows of keys sent again: each would be a second charge."""
    posts = [r for r in requests if r.get("method") == "POST" and r.get("key")]
    sends = collections.Counter(r["key"] for r in posts)
    tally["stable_key"] = sum(n - 1 for n in sends.values())
    tally["unknown_lookup"] = sum(
        1
        for r in requests
        if r.get("method") == "GET"
        and r.get("path", "").startswith(("/v1/payment_intents", "/v1/charges"))
    )
    return len(posts), len(sends)


def run_with_kills(node, sim, planned, kills, rng, history, tally):
    total = len(planned)
    at = [max(1, round(total * (k + 1) / (kills + 1.5))) for k in range(kills)]
    started = time.monotonic()
    killed = 0
    while True:
        charges = len(sim.ledger())
        history.append((time.monotonic() - started, charges))
        if killed < kills and charges >= at[killed]:
            node.kill()
            killed += 1
            history.append((time.monotonic() - started, charges, "kill"))
            print(f"   SIGKILL {killed:2d}: {charges:3d} of {total} charged", file=sys.stderr)
            node.start()
            repeat_requests(node, planned, rng, tally)
        elif charges >= total or time.monotonic() - started > RUN_SECONDS:
            return killed
        time.sleep(0.02)


def wait_for_run(node, run_id):
    deadline = time.monotonic() + RUN_SECONDS
    while time.monotonic() < deadline:
        _, run = call("GET", f"{node.url}/v1/runs/{run_id}")
        if run.get("state", run.get("status")) == "completed":
            return run
        time.sleep(0.1)
    sys.exit("demo: the run did not complete")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--onceward", required=True)
    parser.add_argument("--customers", default=str(ROOT / "examples/customers.csv"))
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", default=str(ROOT / "out/demo-report.html"))
    parser.add_argument("--keep", action="store_true", help="keep store, ledger and logs")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="onceward-demo-"))
    planned = read_customers(options.customers)
    tally = collections.Counter()
    history = []
    sim = Simulator(options.onceward, directory, options.seed)
    node = Node(options.onceward, directory, sim.url, options.customers)
    try:
        node.start()
        plan = node.cli("runs", "plan", "--period", PERIOD)
        print(f"== plan {plan['plan'][:12]}: {plan['to_bill']} to bill, period {PERIOD}")
        run = node.cli("runs", "start", "--period", PERIOD, "--plan", plan["plan"], "--yes")
        print(f"== run started; {options.kills} kills follow", file=sys.stderr)
        killed = run_with_kills(node, sim, planned, options.kills, rng, history, tally)
        wait_for_run(node, run["id"])
        ok = judge(options, directory, node, sim, planned, killed, history, tally)
    finally:
        for process in (node.process, sim.process):
            if process is not None and process.poll() is None:
                process.terminate()
                try:
                    process.wait(timeout=15)
                except subprocess.TimeoutExpired:
                    process.kill()
        if not options.keep and sys.exc_info()[0] is None:
            shutil.rmtree(directory, ignore_errors=True)
        else:
            print(f"store, ledger and logs: {directory}", file=sys.stderr)
    return 0 if ok else 1


def judge(options, directory, node, sim, planned, killed, history, tally):
    ledger = sim.ledger()
    per = collections.Counter((r["customer"], r["period"], r["purpose"]) for r in ledger)
    wanted = {(r["customer"], PERIOD, r["purpose"]) for r in planned}
    duplicates = sum(n - 1 for n in per.values())
    unbilled = len(wanted - set(per))
    strangers = len(set(per) - wanted)
    posts, keys = count_guards(sim.requests(), tally)
    asserted = sim.assert_once()[0] == 200
    node.process.send_signal(signal.SIGTERM)
    node.process.wait(timeout=30)
    verify = subprocess.run(
        [options.onceward, "journal", "verify", "-c", str(node.config)],
        capture_output=True, text=True,
    )  # fmt: skip
    ok = asserted and not duplicates and not unbilled and not strangers
    ok = ok and verify.returncode == 0 and killed == options.kills
    print(f"== kills {killed}  provider POSTs {posts}  keys {keys}")
    print("== guards that acted            times")
    for guard in ("stable_key", "in_progress", "issued_periods", "unknown_lookup"):
        print(f"   {guard:<28} {tally[guard]:5d}")
    findings = "clean" if verify.returncode == 0 else verify.stdout + verify.stderr
    print(f"== journal verify: {findings}")
    print(f"charges {len(ledger)}  duplicates {duplicates}  unbilled {unbilled}  "
          f"foreign {strangers}  kills {killed}")  # fmt: skip
    report = pathlib.Path(options.report)
    write_report(report, history, ledger, tally, {
        "charges": len(ledger), "duplicates": duplicates, "unbilled": unbilled, "kills": killed,
        "posts": posts, "keys": keys, "verify": verify.returncode == 0,
    })  # fmt: skip
    print(f"report: {report}")
    return ok


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(__file__))
    sys.exit(main())
