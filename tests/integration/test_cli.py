"""The command line: output, exit codes and messages, with and without a node."""

import contextlib
import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import unittest

from world import ONCEWARD, PERIOD, World, call, free_port, onceward


def bill_words(customer="cust_1", *more):
    return ["bill", customer, PERIOD, "--amount-minor", "4990", "--currency", "usd", *more]


class Usage(unittest.TestCase):
    def test_help_and_version_go_to_stdout(self):
        for words in (["--help"], ["runs", "--help"], ["runs", "plan", "--help"], ["version"]):
            done = onceward(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            self.assertTrue(done.stdout)
        self.assertIn("version", json.loads(onceward("version", "--json").stdout))

    def test_usage_errors_are_exit_2_on_stderr(self):
        for words, told in (
            ([], "subcommand"),
            (["frob"], "no verb frob"),
            (["runs"], "subcommand"),
            (["runs", "frob"], "no verb frob"),
            (["serve"], "--config is required"),
            (["run", "plan"], "no verb run"),
            (["bill", "c"], "period"),
            (["bill", "c", PERIOD, "--amount-minor", "x", "--currency", "usd"], "amount-minor"),
            (["bill", "c", PERIOD, "--amount-minor", "1"], "currency"),
            (["version", "--frob"], "frob"),
            (bill_words("c", "--wait", "soon"), "--wait"),
            (bill_words("c", "--node", "nonsense"), "--node"),
            (["customers", "show", "a b"], "0x20"),
            (["journal", "tail", "-c", "x", "-n", "0"], "count"),
        ):
            done = onceward(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), (words, done.stderr))
            self.assertIn(told, done.stderr, words)

    def test_node_that_is_not_there_is_exit_7_and_says_so(self):
        url = f"http://127.0.0.1:{free_port()}"
        for words in (bill_words(), ["runs", "list"], ["customers", "show", "c"],
                      ["runs", "plan", "--period", PERIOD]):  # fmt: skip
            done = onceward(*words, "--node", url)
            self.assertEqual((done.returncode, done.stdout), (7, ""), words)
            self.assertIn("cannot be reached", done.stderr)

    def test_missing_token_file_is_exit_2(self):
        done = onceward("runs", "list", "--token-file", "/nonexistent")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/nonexistent", done.stderr)


class WithNode(World):
    def setUp(self):
        super().setUp()
        self.start_sim()

    def test_bill_tells_status_and_charge(self):
        self.start_node()
        done = onceward(*bill_words(), "--node", self.url, "--request-id", "r1", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        body = json.loads(done.stdout)
        self.assertEqual((body["status"], body["request_id"]), ("completed", "r1"))
        again = onceward(*bill_words(), "--node", self.url, "--request-id", "r1")
        self.assertIn(body["charge_id"], again.stdout)
        other = onceward("bill", "cust_1", PERIOD, "--amount-minor", "1", "--currency", "usd",
                         "--node", self.url)  # fmt: skip
        self.assertEqual(other.returncode, 4)
        self.assertEqual(len(self.ledger()), 1)

    def test_bill_directly_on_a_store(self):
        config = str(self.write_config())
        done = onceward(*bill_words("cust_d"), "-c", config, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["status"], "completed")
        self.assertEqual(onceward(*bill_words("cust_d"), "-c", config).returncode, 0)
        self.assertEqual([row["customer"] for row in self.ledger()], ["cust_d"])
        show = onceward("customers", "show", "cust_d", "-c", config, "--json")
        self.assertEqual(json.loads(show.stdout)["obligations"][0]["status"], "completed")

    def test_bill_on_the_store_of_a_running_node_is_refused(self):
        self.start_node()
        done = onceward(*bill_words(), "-c", str(self.config))
        self.assertEqual(done.returncode, 7)
        self.assertIn("--node", done.stderr)
        self.assertEqual(self.ledger(), [])

    def test_bill_waits_as_long_as_asked(self):
        self.start_node(provider__timeout="20s", provider__attempt_deadline="60s")
        self.faults({"kind": "slow", "delay_ms": 2500})
        done = onceward(*bill_words(), "--node", self.url, "--wait", "1s")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("not finished yet", done.stderr)
        done = onceward(*bill_words(), "--node", self.url, "--wait", "30s")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_history_is_shown_from_node_and_from_stopped_store(self):
        node = self.start_node()
        self.bill()
        by_node = onceward("customers", "timeline", "cust_1", "--node", self.url, "--json")
        node.signal(signal.SIGTERM)
        node.end()
        by_store = onceward("customers", "timeline", "cust_1", "-c", str(self.config), "--json")
        self.assertEqual(by_node.stdout, by_store.stdout)
        events = [json.loads(line)["event"] for line in by_store.stdout.splitlines()]
        self.assertEqual((events[0], events[-1]), ("BillingInitiated", "BillingCompleted"))
        text = onceward("customers", "timeline", "cust_1", "-c", str(self.config)).stdout
        self.assertIn("charged once: ch_", text)
        other = onceward("customers", "show", "cust_1", "--period", "2020-01", "-c",
                         str(self.config))  # fmt: skip
        self.assertEqual(other.returncode, 3)
        self.assertEqual(onceward("customers", "show", "no", "-c", str(self.config)).returncode, 3)

    def test_journal_verbs_read_a_live_store(self):
        self.start_node()
        self.bill()
        config = str(self.config)
        verify = onceward("journal", "verify", "-c", config, "--json")
        self.assertEqual(verify.returncode, 0, verify.stdout + verify.stderr)
        self.assertTrue(json.loads(verify.stdout)["clean"])
        stats = json.loads(onceward("journal", "stats", "-c", config, "--json").stdout)
        self.assertEqual(stats["obligations"], 1)
        tail = onceward("journal", "tail", "-n", "2", "-c", config, "--json").stdout.splitlines()
        self.assertEqual(len(tail), 2)
        self.assertEqual(json.loads(tail[-1])["event"], "BillingCompleted")
        show = onceward("journal", "show", "customer/cust_1", "-c", config)
        self.assertIn("BillingInitiated", show.stdout)
        self.assertEqual(onceward("journal", "show", "customer/x", "-c", config).returncode, 3)

    def test_journal_tail_follows_a_live_store(self):
        self.start_node()
        self.bill()
        tail = subprocess.Popen(
            [ONCEWARD, "journal", "tail", "-f", "-n", "1", "-c", str(self.config), "--json"],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            self.assertEqual(json.loads(tail.stdout.readline())["event"], "BillingCompleted")
            self.assertEqual(self.bill("cust_2", "k2")[0], 200)
            followed = [json.loads(tail.stdout.readline()) for _ in range(2)]
            self.assertEqual({event["persistence_id"] for event in followed}, {"customer/cust_2"})
            self.assertEqual(followed[0]["position"] + 1, followed[1]["position"])
            self.assertIsNone(tail.poll(), "it goes on")
        finally:
            tail.kill()
            tail.communicate()

    def test_journal_export_is_imported_whole_and_never_billed_before_a_reconciliation(self):
        node = self.start_node()
        self.bill()
        config = str(self.config)
        live = onceward("journal", "export", "-c", config)
        self.assertEqual(live.returncode, 0, live.stderr)
        events = [json.loads(line) for line in live.stdout.splitlines()]
        self.assertEqual(events[0]["kind"], "onceward-export")
        self.assertEqual(events[-1], {"kind": "end", "lines": len(events)})
        export = self.directory / "export.ndjson"
        export.write_text(live.stdout)
        busy = onceward("journal", "import", str(export), "-c", config)
        self.assertEqual(busy.returncode, 7, busy.stderr)
        node.signal(signal.SIGTERM)
        node.end()
        same = onceward("journal", "import", str(export), "-c", config, "--json")
        self.assertEqual((same.returncode, json.loads(same.stdout or "{}").get("added_events")),
                         (0, 0), same.stderr)  # fmt: skip
        forged = live.stdout.replace('"kind":"obligations"', '"kind":"obligations","x":1')
        forged = forged.replace('"amount_minor":4990,"currency":"usd","charge_id"',
                                '"amount_minor":4991,"currency":"usd","charge_id"')  # fmt: skip
        self.assertNotEqual(forged, live.stdout)
        for suffix in ("", "-wal", "-shm", ".anchor"):
            (self.directory / f"billing.db{suffix}").unlink(missing_ok=True)
        export.write_text(forged)
        refused = onceward("journal", "import", str(export), "-c", config)
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertIn("49.91", refused.stderr)
        self.assertFalse((self.directory / "billing.db").exists())
        export.write_text(live.stdout)
        done = onceward("journal", "import", str(export), "-c", config)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(onceward("journal", "export", "-c", config).stdout.splitlines()[1:3],
                         live.stdout.splitlines()[1:3])  # fmt: skip
        serve = onceward("serve", "-c", config)
        self.assertNotEqual(serve.returncode, 0, "an export may be older than the provider")
        self.assertEqual(onceward("customers", "show", "cust_1", "-c", config).returncode, 0)

    def test_journal_verify_finds_an_edited_event(self):
        node = self.start_node()
        self.bill()
        node.signal(signal.SIGTERM)
        node.end()
        import sqlite3

        with sqlite3.connect(self.directory / "billing.db") as db:
            tables = {row[0] for row in db.execute("select name from sqlite_schema")}
            self.assertIn("events", tables)
            for (trigger,) in list(
                db.execute("select name from sqlite_schema where type='trigger'")
            ):
                db.execute(f'drop trigger "{trigger}"')
            changed = db.execute(
                "update events set payload = replace(payload, '4990', '4991') "
                "where payload like '%4990%'"
            ).rowcount
        self.assertGreater(changed, 0)
        done = onceward("journal", "verify", "-c", str(self.config))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("customer/cust_1", done.stdout + done.stderr)

    def test_store_of_an_earlier_release_is_refused_migrated_and_served(self):
        import sqlite3

        golden = pathlib.Path(__file__).parent.parent / "golden/stores"
        path = self.write_config(keys__namespace="acme-billing")
        config = str(path)
        store = self.directory / "billing.db"
        with contextlib.closing(sqlite3.connect(store)) as db:
            db.executescript((golden / "schema_1.sql").read_text())
        shutil.copy(golden / "schema_1.anchor", f"{store}.anchor")

        refused = onceward("serve", "-c", config)
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("onceward migrate up", refused.stderr)
        plan = onceward("migrate", "plan", "-c", config, "--json")
        self.assertEqual(plan.returncode, 0, plan.stderr)
        self.assertEqual(json.loads(plan.stdout)["version"], 1)
        dry = onceward("migrate", "up", "--dry-run", "-c", config, "--json")
        self.assertEqual((dry.returncode, json.loads(dry.stdout)["done"]), (0, False))
        self.assertEqual(onceward("serve", "-c", config).returncode, 2)
        done = onceward("migrate", "up", "-c", config, "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["done"]), (0, True))
        self.assertEqual(onceward("migrate", "up", "-c", config).returncode, 0)

        verify = onceward("journal", "verify", "-c", config)
        self.assertEqual(verify.returncode, 0, verify.stdout + verify.stderr)
        self.start_node(path)
        busy = onceward("migrate", "up", "-c", config)
        self.assertEqual(busy.returncode, 7, busy.stderr)
        # What was billed by the earlier release is still billed, and not again.
        status, _, body = call("GET", f"{self.url}/v1/billing/atlas%2Bpro.790/2026-08")
        self.assertEqual((status, body["status"]), (200, "completed"))

    def test_verbs_on_a_store_that_is_not_there(self):
        config = str(self.write_config())
        for verb in (["journal", "verify"], ["journal", "stats"], ["customers", "show", "c"]):
            done = onceward(*verb, "-c", config)
            self.assertIn(done.returncode, (3, 7), (verb, done.stderr))
            self.assertIn("billing.db", done.stderr)
        self.assertFalse((self.directory / "billing.db").exists())

    def test_run_from_plan_to_report(self):
        csv = self.directory / "customers.csv"
        csv.write_text("customer,amount_minor,currency,payment_method\n" + "".join(
            f"r{n},{1000 + n},usd,pm_card_visa\n" for n in range(20)))  # fmt: skip
        self.start_node(schedule__customers=str(csv))
        node = ["--node", self.url]
        plan = json.loads(onceward("runs", "plan", "--period", PERIOD, *node, "--json").stdout)
        self.assertEqual((plan["to_bill"], plan["totals"]),
                         (20, [{"currency": "usd", "amount_minor": 20190}]))  # fmt: skip
        self.assertIn("201.90 usd", onceward("runs", "plan", "--period", PERIOD, *node).stdout)
        upload = onceward("runs", "plan", "--period", PERIOD, "--customers", str(csv), *node,
                          "--json")  # fmt: skip
        self.assertEqual(json.loads(upload.stdout)["plan"], plan["plan"])
        words = ["runs", "start", "--period", PERIOD, "--plan", plan["plan"], *node, "--json"]
        unasked = onceward(*words)
        self.assertEqual((unasked.returncode, unasked.stdout), (2, ""))
        self.assertIn("Charge 20 customers 201.90 usd", unasked.stderr)
        self.assertIn("--yes", unasked.stderr)
        self.assertEqual(self.ledger(), [])
        started = onceward(*words, "--yes")
        run = json.loads(started.stdout)["id"]
        watch = onceward("runs", "watch", run, *node)
        self.assertEqual(watch.returncode, 0, watch.stderr)
        self.assertIn("completed", watch.stdout)
        self.assertNotIn("\x1b", watch.stdout + watch.stderr)
        self.assertIn(run, onceward("runs", "list", *node).stdout)
        self.assertEqual(onceward("runs", "show", run, *node).returncode, 0)
        self.assertEqual(onceward("runs", "pause", run, *node).returncode, 4)
        self.assertEqual(onceward("runs", "show", "nope", *node).returncode, 3)
        self.assertEqual(len(self.ledger()), 20)

    def test_start_on_a_terminal_shows_count_and_sum_and_asks(self):
        csv = self.directory / "customers.csv"
        csv.write_text("customer,amount_minor,currency,payment_method\n"
                       "a,100,usd,pm_card_visa\nb,250,usd,pm_card_visa\n")  # fmt: skip
        self.start_node(schedule__customers=str(csv))
        node = ["--node", self.url]
        plan = json.loads(onceward("runs", "plan", "--period", PERIOD, *node, "--json").stdout)
        words = ["runs", "start", "--period", PERIOD, "--plan", plan["plan"], *node]
        for answer, code in ((b"n\n", 1), (b"\n", 1), (b"y\n", 0)):
            master, terminal = pty.openpty()
            try:
                os.write(master, answer)
                done = subprocess.run([ONCEWARD, *words], stdin=terminal, capture_output=True,
                                      text=True, timeout=30)  # fmt: skip
            finally:
                os.close(terminal)
                os.close(master)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn("Charge 2 customers 3.50 usd", done.stderr)
            runs = json.loads(onceward("runs", "list", *node, "--json").stdout)["runs"]
            self.assertEqual(len(runs), 1 if code == 0 else 0)

    def test_watch_tells_by_exit_8_that_some_were_not_billed(self):
        csv = self.directory / "customers.csv"
        csv.write_text("customer,amount_minor,currency,payment_method\n"
                       "good,100,usd,pm_card_visa\nbad,100,usd,pm_card_visa\n")  # fmt: skip
        self.start_node(schedule__customers=str(csv))
        self.faults({"kind": "decline", "code": "card_declined", "match": {"customer": "bad"}})
        node = ["--node", self.url]
        plan = json.loads(onceward("runs", "plan", "--period", PERIOD, *node, "--json").stdout)
        done = onceward("runs", "start", "--period", PERIOD, "--plan", plan["plan"], "--watch",
                        "--yes", *node)  # fmt: skip
        self.assertEqual(done.returncode, 8, done.stdout + done.stderr)
        self.assertIn("bad", onceward("runs", "show", plan_run(done), *node).stdout)

    def test_missing_upload_is_exit_2(self):
        self.start_node()
        done = onceward("runs", "plan", "--period", PERIOD, "--customers", "/nonexistent.csv",
                        "--node", self.url)  # fmt: skip
        self.assertEqual(done.returncode, 2)
        self.assertIn("/nonexistent.csv", done.stderr)

    def test_tokens_are_asked_for(self):
        import hashlib

        tokens = self.directory / "tokens.toml"
        tokens.touch(mode=0o600)
        digest = hashlib.sha256(b"secret-1").hexdigest()
        tokens.write_text(f'[[token]]\nname = "ops"\nrole = "operator"\nsha256 = "{digest}"\n')
        self.start_node(auth__tokens_file=str(tokens))
        self.assertEqual(self.bill()[0], 401)
        self.assertEqual(onceward("runs", "list", "--node", self.url).returncode, 2)
        token = self.directory / "token"
        token.touch(mode=0o600)
        token.write_text("secret-1\n")
        done = onceward(*bill_words(), "--node", self.url, "--token-file", str(token))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_config_show_masks_secrets_and_names_origins(self):
        config = str(self.write_config())
        done = onceward("config", "show", "-c", config,
                        env={"ONCEWARD_STORE__URL": "postgres://u:hunter2@h/d"})  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("hunter2", done.stdout + done.stderr)
        self.assertIn("# environment ONCEWARD_STORE__URL", done.stdout)
        shown = json.loads(onceward("config", "show", "-c", config, "--json").stdout)
        self.assertEqual(shown["keys"]["namespace"]["value"], '"test"')

    def test_reader_that_goes_away_is_no_crash(self):
        self.start_node()
        done = subprocess.run(
            f"{ONCEWARD} config show -c {self.config} | head -1", shell=True,
            capture_output=True, text=True, timeout=30,
        )  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Dev(World):
    def test_dev_serves_node_and_simulator_in_one_process(self):
        from world import Process

        port = free_port()
        db = self.directory / "dev.db"
        dev = Process(["dev", "--db", str(db), "--port", str(port)], self.directory / "dev.log")
        self.addCleanup(dev.close)
        self.url = f"http://127.0.0.1:{port}"
        dev.wait_until_up(self.url + "/v1/runs")
        self.assertEqual(self.bill()[2]["status"], "completed")
        for url in [line.split()[1] for line in dev.text().splitlines() if "http" in line]:
            self.assertTrue(url.startswith("http://127.0.0.1:"))
        dev.signal(signal.SIGTERM)
        self.assertEqual(dev.end(), 0)
        self.assertTrue(db.exists())


def plan_run(done):
    """The id of the run that `runs start` told."""
    for line in done.stdout.splitlines():
        if line.startswith("id "):
            return line.split()[1]
    raise AssertionError(done.stdout)


del World

if __name__ == "__main__":
    unittest.main(verbosity=2)
