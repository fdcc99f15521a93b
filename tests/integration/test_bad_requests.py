"""Requests to bill that must be refused, each over real HTTP: status and problem document, no
obligation, no event, no call of the provider; after a 400 the caller's key is as good as new."""

import http.client
import json
import sqlite3
import threading
import unittest

from world import PERIOD, SharedNode, call


def sound(customer, /, **changes):
    body = {"customer": customer, "period": PERIOD, "amount_minor": 4990, "currency": "usd",
            "payment_method": "pm_card_visa", **changes}  # fmt: skip
    return {name: value for name, value in body.items() if value is not Absent}


class Absent:
    """In place of a value: the member is left out."""


class Requests(SharedNode):
    def post(self, headers, body):
        """Sends headers and body as they are: a name may come twice, a body need not be JSON."""
        link = http.client.HTTPConnection("127.0.0.1", self.world.port, timeout=30)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        link.putrequest("POST", "/v1/billing")
        for name, value in [*headers, ("Content-Length", str(len(data)))]:
            link.putheader(name, value)
        link.endheaders(data)
        answer = link.getresponse()
        text = answer.read()
        link.close()
        return answer.status, answer.headers, json.loads(text)

    def bill(self, key, body):
        return self.post([("Idempotency-Key", key)], body)

    def traces(self):
        """Everything that a request could leave behind, in the store and at the provider."""
        store = sqlite3.connect(f"file:{self.world.directory}/billing.db?mode=ro", uri=True)
        tables = ("events", "obligations", "marks", "cap_reservations")
        try:
            kept = [store.execute(f"select count(*) from {table}").fetchone()[0]
                    for table in tables]  # fmt: skip
        finally:
            store.close()
        return kept, len(self.world.requests()), len(self.world.ledger())

    def charges_of(self, customer):
        return [row for row in self.world.ledger() if row["customer"] == customer]

    def assert_problem(self, answer, status, code, retryable, charge_state, told=""):
        got, headers, body = answer
        self.assertEqual(got, status, body)
        self.assertEqual(headers["Content-Type"], "application/problem+json")
        self.assertEqual(
            [body[name] for name in ("status", "code", "retryable", "charge_state")],
            [status, code, retryable, charge_state], body)  # fmt: skip
        self.assertTrue(body["type"].startswith("urn:onceward:problem:"), body)
        self.assertTrue(body["title"])
        self.assertIn(told, body["detail"])


KEYS = {
    "missing": ([], "is missing"),
    "empty": ([""], "is empty"),
    "empty_in_quotes": (['""'], "is empty"),
    "of_256_characters": (["k" * 256], "too long"),
    "sent_twice": (["{key}", "{key}"], "sent twice"),
    "with_a_blank": (["{key} x"], "visible"),
    "beyond_ascii": (["k\u00e9y"], "visible"),
    "with_an_open_quote": (['"{key}'], "quoted string"),
}  # fmt: skip

# What is sent instead of a sound body, or which member is changed, and what the answer tells.
BODIES = {
    "empty": (b"", "not valid JSON"),
    "cut": (b'{"customer":"c"', "not valid JSON"),
    "followed_by_more": (b"{} {}", "not valid JSON"),
    "of_another_encoding": (b'{"customer":"\xff\xfe"}', "not valid JSON"),
    "a_list": (b"[]", "one JSON object"),
    "a_form": (b"customer=c&amount_minor=4990", "not valid JSON"),
    "with_a_member_twice": (b'{"customer":"a","customer":"b"}', '"customer" twice'),
}  # fmt: skip
MEMBERS = {
    "unknown_member": ("colour", "red", "unknown member"),
    "no_customer": ("customer", Absent, "customer is missing"),
    "empty_customer": ("customer", "", "customer"),
    "customer_with_a_blank": ("customer", "a b", "customer"),
    "customer_beyond_ascii": ("customer", "m\u00fcller", "customer"),
    "customer_of_129_characters": ("customer", "c" * 129, "customer"),
    "customer_no_string": ("customer", 1, "customer must be a string"),
    "no_period": ("period", Absent, "period is missing"),
    "period_of_another_spelling": ("period", "2026-8", "period"),
    "period_that_does_not_exist": ("period", "2026-13", "period"),
    "period_with_blanks": ("period", " 2026-08", "period"),
    "no_amount": ("amount_minor", Absent, "amount_minor is missing"),
    "negative_amount": ("amount_minor", -1, "amount_minor"),
    "amount_above_the_providers": ("amount_minor", 100_000_000, "amount_minor"),
    "amount_of_2_to_the_53": ("amount_minor", 2**53, "amount_minor"),
    "amount_of_2_to_the_64": ("amount_minor", 2**64, "amount_minor"),
    "amount_with_a_fraction": ("amount_minor", 49.9, "amount_minor"),
    "amount_as_text": ("amount_minor", "4990", "amount_minor must be a whole number"),
    "no_currency": ("currency", Absent, "currency is missing"),
    "unknown_currency": ("currency", "xyz", "currency"),
    "no_payment_method": ("payment_method", Absent, "payment_method is missing"),
    "empty_payment_method": ("payment_method", "", "payment_method"),
    "payment_method_null": ("payment_method", None, "payment_method"),
    "provider_customer_with_a_blank": ("provider_customer", "a b", "provider_customer"),
    "purpose_in_capitals": ("purpose", "Seats", "purpose"),
    "purpose_of_41_characters": ("purpose", "p" * 41, "purpose"),
    "reserved_metadata": ("metadata", {"onceward_period": "2020-01"}, "reserved"),
    "metadata_no_object": ("metadata", [], "metadata must be an object"),
    "metadata_value_no_string": ("metadata", {"seats": 3}, '"seats" must be a string'),
}  # fmt: skip
# Amounts that the provider cannot charge in the currency.
IMPOSSIBLE = {"isk": 4950, "ugx": 101, "kwd": 4995}


class Refused(Requests):
    """Each test: refused, no trace, and the same key then bills a sound request."""

    def check(self, name, headers, body, told):
        before = self.traces()
        answer = self.post(headers, body)
        self.assert_problem(answer, 400, "OW1001", "never", "none", told)
        self.assertEqual(self.traces(), before)
        self.assertEqual(call("GET", f"{self.world.url}/v1/customers/{name}")[0], 404)
        status, headers, body = self.bill(f"key-{name}", sound(name))
        self.assertEqual((status, body["status"]), (200, "completed"), body)
        self.assertIsNone(headers["Idempotent-Replayed"])
        self.assertEqual(len(self.charges_of(name)), 1)

    def check_key(self, name, values, told):
        headers = [("Idempotency-Key", value.replace("{key}", f"key-{name}").encode("latin-1"))
                   for value in values]  # fmt: skip
        self.check(name, headers, sound(name), told)

    def check_body(self, name, body, told):
        self.check(name, [("Idempotency-Key", f"key-{name}")], body, told)


def add(name, method, *arguments):
    def test(self):
        getattr(self, method)(name, *arguments)

    assert not hasattr(Refused, f"test_{name}"), name
    setattr(Refused, f"test_{name}", test)


for key_name, (key_values, key_told) in KEYS.items():
    add(f"key_{key_name}", "check_key", key_values, key_told)
for body_name, (body_bytes, body_told) in BODIES.items():
    add(f"body_{body_name}", "check_body", body_bytes, body_told)
for case, (member, value, value_told) in MEMBERS.items():
    add(case, "check_body", sound(case, **{member: value}), value_told)
for money, amount in IMPOSSIBLE.items():
    case = f"amount_impossible_in_{money}"
    add(case, "check_body", sound(case, currency=money, amount_minor=amount), "amount_minor")


class Conflicts(Requests):
    """409 and 422: what is recorded stays as it is and is told; nothing is charged again."""

    def setUp(self):
        self.customer = self.id().rsplit(".", 1)[1]

    def first(self, **changes):
        status, _, body = self.bill(f"{self.customer}-1", sound(self.customer, **changes))
        self.assertEqual((status, body["status"]), (200, "completed"), body)
        return self.traces()

    def second(self, key="2", **changes):
        return self.bill(f"{self.customer}-{key}", sound(self.customer, **changes))

    def conflicts(self, kind, code, told="", **changes):
        before = self.first()
        for _ in range(2):  # repeating it changes nothing
            answer = self.second(**changes)
            self.assert_problem(answer, 409, code, "never", "charged", told)
            self.assertEqual(answer[2]["type"], "urn:onceward:problem:" + kind)
            self.assertEqual((answer[2]["amount_minor"], answer[2]["currency"]), (4990, "usd"))
            self.assertEqual(answer[2]["obligation_status"], "completed")
        self.assertEqual(self.traces(), before)
        self.assertEqual(len(self.charges_of(self.customer)), 1)

    def test_another_amount(self):
        self.conflicts("obligation-conflict", "OW1004", "49.90", amount_minor=4991)

    def test_another_currency(self):
        self.conflicts("obligation-conflict", "OW1004", "usd", currency="eur")

    def test_another_provider_customer(self):
        self.conflicts("obligation-conflict", "OW1004", "provider_customer",
                       provider_customer="cus_other")  # fmt: skip

    def test_another_granularity(self):
        self.conflicts("period-granularity", "OW6005", "month", period="2026-Q3")

    def test_another_provider_customer_in_another_period(self):
        before = self.first()
        answer = self.second(provider_customer="cus_other", period="2026-07")
        self.assert_problem(answer, 409, "OW1004", "never", "none", "provider_customer")
        self.assertEqual(self.traces(), before)
        self.assertEqual(self.second(period="2026-07")[0], 200)

    def test_a_period_that_has_not_begun(self):
        before = self.traces()
        answer = self.second(period="2126-08")
        self.assert_problem(answer, 409, "OW6006", "after", "none", "2126-08-01")
        self.assertEqual(self.traces(), before)
        self.assertEqual(self.second()[0], 200)  # the key is free for another request

    def test_a_repeat_while_the_first_is_handled(self):
        customer = "slow-payer"
        self.world.faults({"kind": "slow", "delay_ms": 1500, "match": {"customer": customer}})
        self.addCleanup(self.world.faults)
        answers = []
        first = threading.Thread(
            target=lambda: answers.append(self.bill("slow-1", sound(customer)))
        )
        first.start()
        self.world.until(lambda: self.world.state(customer)[0] == 200)
        again = self.bill("slow-1", sound(customer))
        self.assert_problem(again, 409, "OW6004", "same_key", "unknown")
        self.assertGreaterEqual(int(again[1]["Retry-After"]), 1)
        other = self.bill("slow-1", sound(customer, amount_minor=1))
        self.assert_problem(other, 422, "OW6007", "never", "pending")
        first.join()
        self.assertEqual(answers[0][0], 200, answers)
        self.assertEqual(self.bill("slow-1", sound(customer))[1]["Idempotent-Replayed"], "true")
        self.assertEqual(len(self.charges_of(customer)), 1)

    def reuses(self, charge_state="charged", **changes):
        before = self.first()
        answer = self.second("1", **changes)
        self.assert_problem(answer, 422, "OW6007", "never", charge_state, "Idempotency-Key")
        self.assertEqual(self.traces(), before)
        # The first payload is still answered by what it led to.
        status, headers, body = self.second("1")
        self.assertEqual((status, headers["Idempotent-Replayed"]), (200, "true"), body)
        self.assertEqual(self.traces(), before)

    def test_key_with_another_amount(self):
        self.reuses(amount_minor=4991)

    def test_key_with_another_currency(self):
        self.reuses(currency="eur")

    def test_key_with_another_customer(self):
        self.reuses("none", customer="somebody-else")
        self.assertEqual(call("GET", f"{self.world.url}/v1/customers/somebody-else")[0], 404)

    def test_key_with_another_period(self):
        self.reuses("none", period="2026-07")

    def test_key_with_another_purpose(self):
        self.reuses("none", purpose="seats")

    def test_key_with_another_payment_method(self):
        self.reuses(payment_method="pm_card_mastercard")

    def test_key_with_another_provider_customer(self):
        self.reuses(provider_customer="cus_other")

    def test_key_with_other_metadata(self):
        self.reuses(metadata={"seats": "3"})

    def test_defaults_written_out_are_the_same_payload(self):
        before = self.first()
        status, headers, _ = self.second("1", provider_customer=self.customer, metadata={},
                                         purpose="subscription", currency="USD")  # fmt: skip
        self.assertEqual((status, headers["Idempotent-Replayed"]), (200, "true"))
        self.assertEqual(self.traces(), before)


del SharedNode, Requests

if __name__ == "__main__":
    unittest.main(verbosity=2)
