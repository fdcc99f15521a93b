"""What callers and the command line are told when the provider misbehaves; the ledger decides."""

import signal
import socket
import threading
import unittest

from world import LONG, PERIOD, World, call, free_port, main_in_parallel, onceward


class ProviderFaults(World):
    def bill_cli(self, customer, *words):
        return onceward(
            "bill", customer, PERIOD, "--amount-minor", "4990", "--currency", "usd",
            "--payment-method", "pm_card_visa", "--node", self.url, "--json", *words,
        )  # fmt: skip

    def test_declined_is_402_and_exit_1(self):
        self.start_sim()
        self.start_node()
        self.faults({"kind": "decline", "code": "insufficient_funds"})
        status, _, body = self.bill()
        self.assertEqual(status, 402)
        self.assertEqual(body["decline_code"], "insufficient_funds")
        self.assertEqual(body["obligation_status"], "declined")
        self.assertEqual(self.bill_cli("cust_1").returncode, 1)
        self.assertEqual(self.ledger(), [])

    def test_connection_refused_stays_open_and_is_charged_later(self):
        port = free_port()
        self.sim_url = f"http://127.0.0.1:{port}"
        self.start_node()
        status, headers, body = self.bill(wait=1)
        self.assertEqual(status, 202, body)
        self.assertEqual(body["status"], "in_progress")
        self.assertEqual(headers["Location"], f"/v1/billing/cust_1/{PERIOD}")
        self.assertEqual(self.bill_cli("cust_1", "--wait", "1s").returncode, 4)
        self.shows_reason("not_sent/connect", "connect")
        self.start_sim("--listen", f"127.0.0.1:{port}")
        self.until(lambda: self.state(wait=1)[2]["status"] == "completed")
        self.assertEqual(len(self.ledger()), 1)
        self.assertNotIn("[!]", call("GET", self.admin_url + "/readyz")[2])

    def shows_reason(self, reason, of_provider=None):
        """In the obligation's state, and for the whole node if the provider is not to be had."""
        # It is empty for the moment of another send.
        self.until(lambda: self.state()[2]["reason"] == reason)
        status, _, text = call("GET", self.admin_url + "/readyz")
        if of_provider is None:
            self.assertEqual((status, text), (200, "ready\n"))
            return
        self.assertEqual(status, 200, "the node keeps what it is asked until the provider is back")
        self.assertIn("[!] provider: no answer: ", text)
        self.assertIn(of_provider, text)

    def start_sim(self, *words):
        if "--listen" not in words:
            return super().start_sim(*words)
        from world import Process

        sim = Process(["sim", *words], self.directory / "sim.log")
        self.addCleanup(sim.close)
        sim.wait_until_up(self.sim_url + "/_sim/ledger")
        return sim

    def test_refused_credentials_pause_sending_and_show_in_readyz(self):
        self.start_sim()
        self.faults({"kind": "auth_401"})
        self.start_node()
        status, _, body = self.bill(wait=1)
        self.assertEqual(status, 202, body)
        self.assertEqual((body["status"], body["reason"]), ("in_progress", "unauthorized"))
        status, _, text = call("GET", self.admin_url + "/readyz")
        self.assertEqual(status, 503)
        self.assertIn("[-] provider: sending is paused: HTTP 401: Invalid API key", text)
        self.assertEqual(self.ledger(), [])
        # One request was refused; until a probe is due nobody else sends anything.
        self.bill("cust_2", "k2", wait=1)
        self.assertEqual(len(self.requests()), 1)
        self.assertEqual(self.state("cust_2")[2]["status"], "in_progress")

    @unittest.skipUnless(LONG, "the next try is a minute later: ONCEWARD_LONG=1 waits for it")
    def test_credentials_that_were_put_right_charge_once(self):
        """Who restarts the node with the right key has everything billed that was taken."""
        self.start_sim()
        self.faults({"kind": "auth_401"})
        node = self.start_node()
        self.assertEqual(self.bill(wait=1)[0], 202)
        node.signal(signal.SIGTERM)
        self.assertEqual(node.end(), 0, node.text())
        self.faults()
        self.start_node(self.config)
        self.until(lambda: self.state(wait=5)[2]["status"] == "completed", 90)
        self.assertEqual(len(self.ledger()), 1)

    def never_a_success(self, kind, reason, of_provider=None):
        """As long as every answer is of this kind, nothing is told as charged; afterwards the
        truth is found out: one charge of the right amount, never a second."""
        self.start_sim()
        self.start_node()
        self.faults({"kind": kind, "match": {"method": "ANY"}})
        status, _, body = self.bill(wait=2)
        self.assertEqual((status, body["status"]), (202, "unknown"), body)
        self.assertIsNone(body["charge_id"])
        self.assertEqual(self.bill_cli("cust_1", "--wait", "1s").returncode, 5)
        self.shows_reason(reason, of_provider)
        self.faults()
        self.until(lambda: self.state(wait=1)[2]["status"] == "completed", 60)
        self.assertEqual([row["amount"] for row in self.ledger()], [4990])

    def test_garbage_is_never_a_success(self):
        self.never_a_success("bad_json_200", "bad_body", "")

    def test_wrong_amount_is_never_a_success(self):
        self.never_a_success("wrong_amount_200", "mismatch")

    def test_status_nobody_knows_is_never_a_success(self):
        self.never_a_success("unknown_status", "unexpected_status")

    def found_not_repeated(self, kind):
        self.start_sim()
        self.start_node()
        self.faults({"kind": kind, "count": 1, "match": {"money": True}})
        status, _, body = self.bill(wait=10)
        self.assertIn(status, (200, 202), body)
        self.until(lambda: self.state(wait=1)[2]["status"] == "completed", 60)
        self.assertEqual(len(self.ledger()), 1)

    def test_charge_whose_answer_is_dropped_is_found(self):
        self.found_not_repeated("commit_drop")

    def test_charge_whose_answer_is_cut_is_found(self):
        self.found_not_repeated("commit_rst_mid")

    def test_charge_that_is_answered_500_is_found(self):
        self.found_not_repeated("commit_500")

    def test_wrong_tls_never_becomes_a_charge(self):
        """A server that speaks no TLS where https is wanted."""
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        self.addCleanup(listener.close)

        def serve():
            while True:
                try:
                    peer, _ = listener.accept()
                except OSError:
                    return
                with peer:
                    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

        threading.Thread(target=serve, daemon=True).start()
        key = self.directory / "key"
        key.touch(mode=0o600)
        key.write_text("sk_test_1\n")
        port = listener.getsockname()[1]
        self.start_node(provider__base_url=f"https://127.0.0.1:{port}", provider__key_file=str(key))
        status, _, body = self.bill(wait=1)
        self.assertEqual(status, 202, body)
        self.assertEqual(body["status"], "in_progress")
        self.shows_reason("not_sent/tls", "SSL")

    def test_provider_500_is_unknown_not_failed(self):
        self.start_sim()
        self.start_node()
        self.faults({"kind": "fail_500", "match": {"money": True}})
        status, _, body = self.bill(wait=2)
        self.assertEqual(status, 202, body)
        self.assertNotIn(body["status"], ("declined", "cancelled", "uncollectible", "completed"))


class ChargesFlowFaults(ProviderFaults):
    flow = "charges"


del World  # unittest would collect the imported base as well

if __name__ == "__main__":
    main_in_parallel()
