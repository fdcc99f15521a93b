"""A node's life as processes see it: start, refusal to start, drain, kill, and what stays."""

import json
import os
import signal
import socket
import sqlite3
import time
import unittest

from world import PERIOD, World, call, onceward


class Lifecycle(World):
    def test_a_bill_is_charged_once_and_survives_a_kill(self):
        self.start_sim()
        node = self.start_node()
        status, _, body = self.bill()
        self.assertEqual((status, body["status"]), (200, "completed"))
        node.signal(signal.SIGKILL)
        node.end()
        self.start_node(self.config)
        status, headers, again = self.bill()
        self.assertEqual((status, again["charge_id"]), (200, body["charge_id"]))
        self.assertEqual(headers["Idempotent-Replayed"], "true")
        status, _, other = self.bill(key="k2")
        self.assertEqual((status, other["deduplicated"]), (200, True))
        self.assertEqual(len(self.ledger()), 1)

    def test_killed_with_calls_in_flight_it_finishes_every_one_once(self):
        self.start_sim("--latency", "300")
        node = self.start_node()
        for n in range(20):
            status, _, body = self.bill(f"c{n}", f"k{n}", wait=0)
            self.assertEqual(status, 202, body)
        node.signal(signal.SIGKILL)
        node.end()
        self.start_node(self.config)
        self.until(lambda: all(self.state(f"c{n}")[2]["status"] == "completed" for n in range(20)))
        self.assertEqual(sorted(r["customer"] for r in self.ledger()),
                         sorted(f"c{n}" for n in range(20)))  # fmt: skip
        verify = onceward("journal", "verify", "-c", str(self.config))
        self.assertEqual(verify.returncode, 0, verify.stdout + verify.stderr)

    def test_second_node_on_the_store_is_refused_also_while_the_first_is_stopped(self):
        self.start_sim()
        first = self.start_node()
        store = self.directory / "billing.db"
        config = self.write_config("second.toml", store__path=str(store))
        for stopped in (False, True):
            if stopped:
                first.signal(signal.SIGSTOP)
            second = onceward("serve", "-c", str(config), timeout=20)
            self.assertEqual(second.returncode, 7, second.stderr)
            self.assertIn(f"process {first.process.pid}", second.stderr)
        first.signal(signal.SIGCONT)
        self.until(lambda: call("GET", f"http://127.0.0.1:{self.port_of(first)}/v1/runs")[0] == 200)

    def port_of(self, node):
        for line in node.text().splitlines():
            if line.startswith("{") and "api" in line:
                return json.loads(line)["api"].rsplit(":", 1)[1]
        raise AssertionError("no ready line: " + node.text())

    def test_sigterm_drains_calls_in_flight(self):
        self.start_sim("--latency", "800")
        node = self.start_node()
        self.bill(wait=0)
        self.until(lambda: len(self.requests()) > 0)
        node.signal(signal.SIGTERM)
        self.assertEqual(node.end(), 0, node.text())
        # Nothing is lost and nothing is charged twice, whatever the drain saw.
        self.start_node(self.config)
        self.until(lambda: self.state()[2]["status"] == "completed")
        self.assertEqual(len(self.ledger()), 1)

    def test_draining_node_takes_no_new_work(self):
        self.start_sim()
        self.faults({"kind": "slow", "delay_ms": 3000})
        node = self.start_node(provider__timeout="8s", provider__attempt_deadline="30s")
        self.bill(wait=0)
        self.until(lambda: len(self.requests()) > 0)
        node.signal(signal.SIGTERM)
        self.until(lambda: call("GET", self.admin_url + "/readyz")[0] == 503)
        status, headers, body = self.bill("late", "k-late")
        self.assertEqual((status, body["code"]), (503, "OW1006"))
        self.assertEqual(body["charge_state"], "none")
        self.assertIsNotNone(headers["Retry-After"])
        self.assertEqual(node.end(), 0)

    def test_second_sigterm_quits_at_once(self):
        self.start_sim()
        self.faults({"kind": "hang"})
        node = self.start_node(provider__timeout="30s", provider__attempt_deadline="60s",
                               node__drain_timeout="60s")  # fmt: skip
        self.bill(wait=0)
        self.until(lambda: len(self.requests()) > 0)
        node.signal(signal.SIGTERM)
        self.until(lambda: call("GET", self.admin_url + "/readyz")[0] == 503)
        started = time.monotonic()
        node.signal(signal.SIGTERM)
        self.assertNotEqual(node.end(), 0)
        self.assertLess(time.monotonic() - started, 5)

    def test_health_tells_what_it_is_asked(self):
        self.start_sim()
        self.start_node()
        for path in ("/livez", "/readyz", "/startupz"):
            self.assertEqual(call("GET", self.admin_url + path)[0], 200, path)
        verbose = call("GET", self.admin_url + "/readyz?verbose")[2]
        for check in ("intake", "store", "provider"):
            self.assertIn(check, verbose)
        self.assertEqual(call("GET", self.admin_url + "/nowhere")[0], 404)
        self.assertEqual(call("POST", self.admin_url + "/livez", b"")[0], 405)
        self.assertEqual(onceward("healthcheck", "-c", str(self.config)).returncode, 0)

    def test_log_is_one_json_object_per_line(self):
        self.start_sim()
        node = self.start_node(log__level="debug")
        self.bill()
        node.signal(signal.SIGTERM)
        node.end()
        lines = [line for line in node.text().splitlines() if not line.startswith("onceward:")]
        self.assertTrue(lines)
        for line in lines:
            self.assertIn("ts", json.loads(line), line)


class RefusedStart(World):
    """Each ends before anything listens, with a message that names the cause and the remedy."""

    def refused(self, config, code, *texts, user=None):
        done = onceward("serve", "-c", str(config), timeout=20, user=user)
        self.assertEqual(done.returncode, code, done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)
        self.assertNotIn("terminate called", done.stderr)
        self.assertEqual(done.stdout, "")
        return done

    def test_unknown_key_with_line_and_column(self):
        config = self.write_config()
        config.write_text(config.read_text() + "[store]\n  pth = 'x'\n")
        lines = config.read_text().splitlines()
        self.refused(config, 2, f"onceward.toml:{len(lines)}:3: unknown key [store] pth")

    def test_bad_toml(self):
        config = self.write_config()
        config.write_text("[node\n")
        self.refused(config, 2, "onceward.toml:1:", "not valid TOML")

    def test_missing_file(self):
        self.refused(self.directory / "none.toml", 2, "none.toml")

    def test_scheme_colon_with_another_flow(self):
        self.refused(self.write_config(keys__scheme="colon"), 2, "colon", "charges")

    def test_listen_beyond_loopback_without_tokens(self):
        self.refused(self.write_config(http__listen="0.0.0.0:0"), 2, "tokens_file")

    def test_port_in_use(self):
        config = self.write_config()
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", self.port))
            taken.listen()
            self.refused(config, 2, str(self.port))
            config = self.write_config(http__admin_listen=f"127.0.0.1:{taken.getsockname()[1]}")
            self.refused(config, 2, str(taken.getsockname()[1]))

    def test_unwritable_directory(self):
        self.refused(self.write_config(node__data_dir="/proc/onceward"), 2, "/proc/onceward")

    @unittest.skipIf(os.geteuid() != 0, "only root can become a user who may not write")
    def test_directory_of_another_user(self):
        closed = self.directory / "closed"
        closed.mkdir(mode=0o755)
        self.directory.chmod(0o755)
        config = self.write_config(node__data_dir=str(closed))
        self.refused(config, 2, str(closed), "cannot be written", "Permission denied",
                     user=65534)  # fmt: skip
        self.assertEqual(list(closed.iterdir()), [])

    def test_data_dir_that_is_a_file(self):
        (self.directory / "file").write_text("x")
        config = self.write_config(node__data_dir=str(self.directory / "file"))
        self.refused(config, 2, "file")

    def test_store_of_another_namespace_account_mode_scheme_or_shards(self):
        self.billed_store()
        key = self.directory / "key"
        key.touch(mode=0o600)
        key.write_text("sk_live_1\n")
        before = (self.directory / "billing.db").read_bytes()
        for name, recorded, wanted, change in (
            ("namespace", "test", "other", {"keys__namespace": "other"}),
            ("account", "default", "other", {"provider__account": "other"}),
            ("mode", "test", "live", {"provider__mode": "live", "provider__key_file": str(key),
                                      "provider__base_url": "https://127.0.0.1:9"}),
            ("key_scheme", "v1", "colon", {"keys__scheme": "colon", "provider__flow": "charges"}),
            ("shards", "256", "3", {"cluster__shards": 3}),
        ):  # fmt: skip
            with self.subTest(name):
                config = self.write_config(**change)
                self.refused(config, 2, "billing.db", name, recorded, wanted)
        self.assertEqual((self.directory / "billing.db").read_bytes(), before)
        self.still_billed_once()

    def test_store_of_a_newer_release(self):
        self.billed_store()
        self.set_store_version(99)
        before = (self.directory / "billing.db").read_bytes()
        self.refused(self.write_config(), 2, "billing.db", "99", "newer release")
        done = onceward("bill", "cust_1", PERIOD, "--amount-minor", "4990", "--currency", "usd",
                        "-c", str(self.config))  # fmt: skip
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual((self.directory / "billing.db").read_bytes(), before)
        self.set_store_version(self.version)
        self.still_billed_once()

    def billed_store(self):
        """A store with one charge in it, whose node is stopped."""
        self.start_sim()
        node = self.start_node()
        self.assertEqual(self.bill()[0], 200)
        node.signal(signal.SIGTERM)
        self.assertEqual(node.end(), 0, node.text())

    def set_store_version(self, version):
        store = sqlite3.connect(self.directory / "billing.db")
        self.version = store.execute("pragma user_version").fetchone()[0]
        store.execute(f"pragma user_version = {version}")
        store.commit()
        store.close()

    def still_billed_once(self):
        self.start_node()
        self.assertEqual(self.bill()[1]["Idempotent-Replayed"], "true")
        self.assertEqual(len(self.ledger()), 1)

    def test_file_that_is_no_store(self):
        text = "this is not a database, whatever its name\n" * 99
        (self.directory / "billing.db").write_text(text)
        done = onceward("serve", "-c", str(self.write_config()), timeout=20)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("billing.db", done.stderr)

    def test_secret_file_open_to_everybody(self):
        key = self.directory / "key"
        key.write_text("sk_test_1\n")
        key.chmod(0o644)
        done = self.refused(self.write_config(provider__key_file=str(key)), 2, "chmod 600")
        self.assertNotIn("sk_test_1", done.stderr)

    def test_config_check_says_the_same_as_serve(self):
        bad = self.write_config(provider__timeout="soon")
        done = onceward("config", "check", "-c", str(bad))
        self.assertEqual(done.returncode, 2)
        self.assertIn("[provider] timeout is \"soon\"", done.stderr)
        good = onceward("config", "check", "-c", str(self.write_config()))
        self.assertEqual(good.returncode, 0, good.stderr)


del World

if __name__ == "__main__":
    unittest.main(verbosity=2)
