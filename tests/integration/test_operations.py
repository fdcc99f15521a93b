"""After billing: signed webhooks, refunds, cancellation, payment methods and attention, with a node
and a simulator as processes."""

import hashlib
import hmac
import json
import time
import unittest

from world import PERIOD, World, call, onceward

SECRETS = ["whsec_old", "whsec_new"]


def signature(body, secret, at):
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def event(kind, data, live=False, number=1):
    return json.dumps({"id": f"evt_{number}", "object": "event", "type": kind, "livemode": live,
                       "data": {"object": data}}).encode()  # fmt: skip


class Operations(World):
    def setUp(self):
        super().setUp()
        self.start_sim()
        secret = self.directory / "webhook"
        secret.touch(mode=0o600)
        secret.write_text("\n".join(SECRETS) + "\n")
        self.secret_file = str(secret)

    def deliver(self, body, secret="whsec_new", offset=0, header=None):
        value = header or signature(body, secret, int(time.time()) + offset)
        return call("POST", self.url + "/v1/webhooks/stripe", body, {"Stripe-Signature": value})

    def intent(self, customer="cust_1"):
        return {
            "id": "pi_x", "object": "payment_intent", "status": "succeeded",
            "metadata": {"onceward_namespace": "test", "onceward_customer": customer,
                         "onceward_period": PERIOD, "onceward_purpose": "subscription"},
        }  # fmt: skip

    def events(self, customer="cust_1"):
        rows = call("GET", f"{self.url}/v1/customers/{customer}/timeline")[2]["events"]
        return [row["event"] for row in rows]

    def cli(self, *words):
        done = onceward(*words, "--node", self.url, "--json")
        return done.returncode, (json.loads(done.stdout) if done.stdout else None), done.stderr


class Webhooks(Operations):
    def test_signed_events_are_durable_hints_and_everything_else_is_refused(self):
        node = self.start_node(webhooks__secret_file=self.secret_file)
        self.assertEqual(self.bill()[2]["status"], "completed")
        body = event("payment_intent.succeeded", self.intent())
        before = len(self.events())
        for sent, header in ((body, "t=1,v1=00"), (body, signature(body, "whsec_x", 1)),
                             (b"", None), (b"{", None), (b"<html>", None), (b"[" * 9999, None)):
            status, _, answer = self.deliver(sent, header=header)
            self.assertEqual(status, 400, answer)
        self.assertEqual(self.deliver(body, offset=-400)[0], 400)
        self.assertEqual(self.deliver(body, offset=400)[0], 400)
        self.assertEqual(self.deliver(body[:-1], header=signature(body, "whsec_new",
                                                                  int(time.time())))[0], 400)
        self.assertEqual(self.deliver(event("x", {"id": "y"}, live=True))[0], 400)
        self.assertEqual(self.deliver(b" " * (1024 * 1024 + 1))[0], 413)
        self.assertEqual(len(self.events()), before)

        status, _, answer = self.deliver(body, secret="whsec_old")
        self.assertEqual((status, answer["effect"]), (200, "look_up"))
        self.assertGreater(len(self.events()), before)
        node.signal(9)
        node.end()
        node = self.start_node(self.config)
        status, _, answer = self.deliver(body)
        self.assertEqual((status, answer["effect"]), (200, "duplicate"), "it survived the kill")
        self.assertEqual(len(self.ledger()), 1)

    def test_event_that_nobody_accounts_for_waits_for_a_person(self):
        self.start_node(webhooks__secret_file=self.secret_file)
        status, _, answer = self.deliver(event("payment_intent.succeeded", {"id": "pi_9"}))
        self.assertEqual((status, answer["effect"]), (200, "inbox"))
        self.deliver(event("payment_intent.succeeded", self.intent("nobody"), number=2))
        code, found, _ = self.cli("attention", "list", "--kind", "inbox")
        self.assertEqual((code, found["count"]), (0, 2))
        self.assertEqual({item["id"] for item in found["items"]}, {"inbox:pi_9", "inbox:pi_x"})
        self.assertEqual(self.cli("attention", "show", "inbox:pi_9")[0], 0)
        self.assertEqual(self.cli("attention", "resolve", "inbox:pi_9", "--reason", "shop")[0], 0)
        self.assertEqual(self.cli("attention", "list")[1]["count"], 1)
        self.assertEqual(self.cli("attention", "show", "inbox:pi_9")[0], 3)
        code, _, told = self.cli("attention", "resolve", "--all", "--reason", "shop")
        self.assertEqual(code, 2, "nobody can be asked")
        self.assertIn("1 item", told)
        code = self.cli("attention", "resolve", "--kind", "inbox", "--reason", "x", "--yes")[0]
        self.assertEqual(code, 0)
        self.assertEqual(self.cli("attention", "list")[1]["count"], 0)

    def test_simulator_reaches_the_node_by_itself(self):
        self.start_node(webhooks__secret_file=self.secret_file)
        status, _, answer = call("POST", self.sim_url + "/_sim/webhook_endpoints", {
            "url": self.url + "/v1/webhooks/stripe", "secret": SECRETS[0],
            "enabled_events": ["*"]})  # fmt: skip
        if status != 200:
            self.skipTest(f"this simulator sends no webhooks: {status} {answer}")
        self.assertEqual(self.bill()[2]["status"], "completed")

        def answered():
            rows = call("GET", self.sim_url + "/_sim/webhooks")[2]
            rows = rows if isinstance(rows, list) else rows.get("webhooks", rows.get("rows"))
            done = [row for row in rows if row["outcome"] == "answered"]
            return done and all(row["status"] == 200 for row in done)

        self.until(answered)
        self.assertEqual(len(self.ledger()), 1)
        self.assertEqual(self.cli("attention", "list")[1]["count"], 0)


class AfterBilling(Operations):
    def test_refund_is_given_once_and_never_beyond_the_charge(self):
        self.start_node()
        self.bill()
        words = ["refund", "cust_1", PERIOD, "--amount-minor", "1000"]
        code, first, told = self.cli(*words, "--request-id", "r1", "--reason", "asked for")
        self.assertEqual((code, first["status"]), (0, "succeeded"), told)
        code, again, _ = self.cli(*words, "--request-id", "r1")
        self.assertEqual((code, again["refund_id"]), (0, first["refund_id"]))
        self.assertEqual(self.cli("refund", "cust_1", PERIOD, "--request-id", "r1")[0], 4,
                         "the id was used for another amount")
        code, _, told = self.cli("refund", "cust_1", PERIOD)
        self.assertEqual(code, 2, "nobody was asked, and the wish has no name")
        self.assertIn("--yes", told)
        code, _, told = self.cli("refund", "cust_1", PERIOD, "--amount-minor", "4000", "--yes")
        self.assertEqual(code, 4)
        self.assertIn("39.90", told)
        code, rest, _ = self.cli("refund", "cust_1", PERIOD, "--yes")
        self.assertEqual((code, rest["amount_minor"]), (0, 3990))
        self.assertEqual(self.cli("refund", "cust_1", PERIOD, "--yes")[0], 4)
        self.assertEqual(self.cli("refund", "nobody", PERIOD, "--yes")[0], 3)
        refunds = self.state()[2]["refunds"]
        self.assertEqual([r["amount_minor"] for r in refunds], [1000, 3990])
        self.assertEqual(refunds[0]["why"], "asked for")
        self.assertEqual(self.state()[2]["status"], "completed")
        self.assertEqual(self.bill(key="k2")[2]["deduplicated"], True)
        self.assertEqual(len(self.ledger()), 1)

    def test_cancel_closes_what_was_not_paid_and_refuses_what_was(self):
        self.start_node()
        self.faults({"kind": "decline", "code": "card_declined", "match": {"customer": "bad"}})
        self.bill()
        self.assertEqual(self.bill("bad", "k2")[0], 402)
        self.assertEqual(self.cli("cancel", "bad", PERIOD)[0], 2, "nobody was asked")
        code, obligation, told = self.cli("cancel", "bad", PERIOD, "--reason", "left", "--yes")
        self.assertEqual((code, obligation and obligation["status"]), (0, "cancelled"), told)
        self.assertEqual(self.cli("cancel", "cust_1", PERIOD, "--yes")[0], 4)
        self.assertEqual(self.cli("cancel", "nobody", PERIOD, "--yes")[0], 3)
        self.assertEqual(len(self.ledger()), 1)

    def test_new_payment_method_is_tried_and_pays(self):
        self.start_node()
        self.faults({"kind": "decline", "code": "insufficient_funds", "count": 1,
                     "match": {"customer": "bad"}})  # fmt: skip
        _, _, declined = self.bill("bad")
        self.assertEqual(declined["obligation_status"], "declined", declined)
        code, _, told = self.cli("payment-method", "bad", "pm_card_mastercard")
        self.assertEqual(code, 0, told)
        self.until(lambda: self.state("bad")[2]["status"] == "completed")
        self.assertEqual(len(self.ledger()), 1)

    def test_rejected_obligation_is_shown_with_its_next_step_and_written_off(self):
        self.start_node()
        _, _, answer = self.bill("odd", payment_method="nonsense")
        self.assertEqual(answer["status"], "rejected", answer)
        code, found, _ = self.cli("attention", "list")
        self.assertEqual((code, found["count"]), (0, 1), answer)
        self.assertEqual(found["totals"], [{"currency": "usd", "amount_minor": 4990}])
        item = found["items"][0]
        code, shown, _ = self.cli("attention", "show", item["id"])
        self.assertEqual(code, 0)
        self.assertIn("attention retry", shown["next_step"])
        self.assertTrue(shown["timeline"])
        self.assertEqual(onceward("attention", "retry", item["id"], "--node", self.url).returncode,
                         2, "a reason is required")
        self.assertEqual(self.cli("attention", "retry", item["id"], "--reason", "look")[0], 0)
        code, _, told = self.cli("attention", "resolve", item["id"], "--reason", "given up")
        self.assertEqual(code, 2, told)
        for choice in ("paid_by_charge", "paid_outside", "written_off", "not_charged"):
            self.assertIn(choice, told)
        self.assertEqual(self.cli("attention", "resolve", "--status", "rejected", "--reason", "x",
                                  "--yes")[0], 2, "a verdict is never taken for granted")
        code, _, told = self.cli("attention", "resolve", item["id"], "--reason", "given up",
                                 "--as", "written_off")
        self.assertEqual(code, 0, told)
        self.assertIn("1 item, ", told)
        self.until(lambda: self.cli("attention", "list")[1]["count"] == 0)
        self.assertIn("OperatorActed", self.events("odd"))


del World, Operations

if __name__ == "__main__":
    unittest.main(verbosity=2)
