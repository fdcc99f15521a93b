"""Customer files that must be refused, and unusual ones that must not, through the command line:
exit code and message with line and column; no plan, no run, no call of the provider."""

import json
import sqlite3
import unittest

from world import PERIOD, SharedNode, call, onceward

HEADER = "customer,amount_minor,currency,payment_method,provider_customer,purpose,anchor\n"
GOOD = HEADER + "good,4990,usd,pm_card_visa,,,\n"


def with_row(row):
    return GOOD + row + "\n"


# Name: the file and what is told about it.
BAD = {
    "empty": ("", ["is empty", "begins with the line customer,amount_minor"]),
    "missing_column": ("customer,currency\na,usd\n", ["line 1", "column amount_minor is missing"]),
    "unknown_column": ("customer,amount_minor,currency,colour\n",
                       ["line 1", 'unknown column "colour"']),
    "too_few_fields": (with_row("a,100,usd"), ["line 3", "has 3 fields, the header 7"]),
    "too_many_fields": (with_row("a,100,usd,pm_1,,,,"), ["line 3", "has 8 fields, the header 7"]),
    "amount_no_integer": (with_row("a,49.90,usd,pm_1,,,"),
                          ["line 3, column amount_minor", '"49.90" is no integer']),
    "amount_a_word": (with_row("a,much,usd,pm_1,,,"),
                      ["line 3, column amount_minor", "no integer"]),
    "amount_negative": (with_row("a,-1,usd,pm_1,,,"),
                        ["line 3, column amount_minor", '"-1" is negative']),
    "amount_oversized": (with_row("a,100000000,usd,pm_1,,,"),
                         ["line 3, column amount_minor", "99999999"]),
    "amount_beyond_64_bits": (with_row("a,99999999999999999999,usd,pm_1,,,"),
                              ["line 3, column amount_minor", "too large"]),
    "unknown_currency": (with_row("a,100,xyz,pm_1,,,"), ["line 3, column currency"]),
    "amount_impossible_in_isk": (with_row("a,150,isk,pm_1,,,"), ["column amount_minor", "100"]),
    "amount_impossible_in_kwd": (with_row("a,5125,kwd,pm_1,,,"), ["column amount_minor", "10"]),
    "customer_and_purpose_twice": (with_row("good,4990,usd,pm_card_visa,,,"),
                                   ["line 3", "customer good with purpose subscription",
                                    "a second time"]),
    "default_purpose_written_out_twice": (with_row("good,1,usd,pm_1,,subscription,"),
                                          ["line 3", "a second time"]),
    "customer_empty": (with_row(",100,usd,pm_1,,,"), ["line 3, column customer", "empty"]),
    "customer_illegal": (with_row("a b,100,usd,pm_1,,,"), ["line 3, column customer", "0x20"]),
    "customer_beyond_ascii": (with_row("m\u00fcller,100,usd,pm_1,,,"),
                              ["line 3, column customer", "0xc3"]),
    "purpose_illegal": (with_row("a,100,usd,pm_1,,Seats,"), ["line 3, column purpose"]),
    "anchor_illegal": (with_row("a,100,usd,pm_1,,,2026-02-30"), ["line 3, column anchor"]),
    "open_quote": (with_row('"a,100,usd,pm_1,,,'), ["line 3", "no closing quote"]),
    "line_of_10_mb": (with_row("a" * 10_000_000), ["line 3", "longer than 1048576 bytes"]),
    "binary": ("\x7fELF\x00\x01\x02\n", ["line 1", "unknown column"]),
}  # fmt: skip

# The same customers, written in another way: the plan is the same one.
SAME = {
    "byte_order_mark": "\ufeff" + GOOD,
    "crlf": GOOD.replace("\n", "\r\n"),
    "no_final_newline": GOOD.rstrip("\n"),
    "crlf_without_the_last": GOOD.replace("\n", "\r\n").rstrip("\r\n"),
    "mark_crlf_and_blank_lines": ("\ufeff" + GOOD + "\n\n").replace("\n", "\r\n"),
    "quotes": GOOD.replace("good", '"good"'),
    "other_order_of_columns": "currency,customer,payment_method,amount_minor\n"
                              "usd,good,pm_card_visa,4990\n",
}  # fmt: skip


class Files(SharedNode):
    settings = {"schedule__customers": "customers.csv"}  # beside the configuration

    def write(self, text):
        path = self.world.directory / "upload.csv"
        path.write_bytes(text.encode())
        return path

    def plan(self, text, *words):
        return onceward("runs", "plan", "--period", PERIOD, "--customers", str(self.write(text)),
                        "--node", self.world.url, *words)  # fmt: skip

    def planned(self, text):
        done = self.plan(text, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def start(self, plan, *words):
        return onceward("runs", "start", "--period", PERIOD, "--plan", plan, "--watch", "--yes",
                        "--node", self.world.url, *words)  # fmt: skip

    def kept(self):
        store = sqlite3.connect(f"file:{self.world.directory}/billing.db?mode=ro", uri=True)
        try:
            return [store.execute(f"select count(*) from {table}").fetchone()[0]
                    for table in ("plans", "plan_rows", "events", "obligations")]  # fmt: skip
        finally:
            store.close()

    def refused(self, text, told):
        """By upload, and as the file that the node is configured with."""
        before = self.kept(), len(self.world.requests())
        done = self.plan(text)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        (self.world.directory / "customers.csv").write_bytes(text.encode())
        configured = onceward("runs", "plan", "--period", PERIOD, "--node", self.world.url)
        self.assertEqual((configured.returncode, configured.stdout), (2, ""), configured.stderr)
        self.assertIn("customers.csv", configured.stderr)
        for part in told:
            self.assertIn(part, done.stderr)
            self.assertIn(part, configured.stderr)
        for message in (done.stderr, configured.stderr):
            self.assertLess(len(message), 600, "a message for people, not a copy of the file")
            self.assertEqual(message.count("\n"), 1, message)
        self.assertEqual((self.kept(), len(self.world.requests())), before)


class BadFiles(Files):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls().planned(GOOD)  # something that must not be lost

    def test_configured_file_that_is_no_file(self):
        path = self.world.directory / "customers.csv"
        path.unlink(missing_ok=True)
        for make, undo in ((lambda: None, lambda: None), (path.mkdir, path.rmdir)):
            make()
            done = onceward("runs", "plan", "--period", PERIOD, "--node", self.world.url)
            undo()
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn("[schedule] customers", done.stderr)
            self.assertIn(str(path), done.stderr)


def add(name, text, told):
    setattr(BadFiles, f"test_{name}", lambda self: self.refused(text, told))


for file_name, (file_text, file_told) in BAD.items():
    add(file_name, file_text, file_told)


class Accepted(Files):
    def test_the_same_customers_are_the_same_plan(self):
        plan = self.planned(GOOD)
        self.assertEqual(plan["totals"], [{"currency": "usd", "amount_minor": 4990}])
        for name, text in SAME.items():
            with self.subTest(name):
                self.assertEqual(self.planned(text), plan)

    def test_a_row_without_a_payment_method_is_listed_and_not_billed(self):
        text = HEADER + "payer,100,usd,pm_card_visa,,,\nnobody,100,usd,,,,\n"
        plan = self.planned(text)
        self.assertEqual((plan["customers"], plan["to_bill"], plan["skipped"]),
                         (2, 1, {"no_payment_method": 1}))  # fmt: skip
        done = self.start(plan["plan"])
        # Everybody whom the approved plan bills is billed.
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        run = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("id ")][0]
        shown = onceward("runs", "show", run, "--node", self.world.url).stdout
        self.assertIn("nobody", shown)
        self.assertEqual([row["customer"] for row in self.world.ledger()
                          if row["customer"] in ("payer", "nobody")], ["payer"])  # fmt: skip
        self.assertEqual(call("GET", f"{self.world.url}/v1/customers/nobody")[0], 404)


class ChangedFile(Files):
    """What was looked at is what is billed, whatever the file says by then."""

    def setUp(self):
        self.file = self.world.directory / "customers.csv"
        self.file.write_text(GOOD.replace("good", self.id().rsplit(".", 1)[1]))

    def node_plan(self):
        done = onceward("runs", "plan", "--period", PERIOD, "--node", self.world.url, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["plan"]

    def test_changed_between_plan_and_start(self):
        plan = self.node_plan()
        self.file.write_text(HEADER + "intruder,999999,usd,pm_card_visa,,,\n")
        done = self.start(plan)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        charged = {row["customer"]: row["amount"] for row in self.world.ledger()}
        self.assertEqual(charged["test_changed_between_plan_and_start"], 4990)
        self.assertNotIn("intruder", charged)

    def test_broken_or_gone_between_plan_and_start(self):
        plan = self.node_plan()
        self.file.unlink()
        done = self.start(plan)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_plan_that_nobody_made_is_not_started(self):
        before = self.kept(), len(self.world.requests())
        done = self.start("0123456789abcdef" * 2)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertIn("0123456789abcdef", done.stderr)
        plan = self.node_plan()
        other = onceward("runs", "start", "--period", "2026-07", "--plan", plan, "--yes",
                         "--node", self.world.url)  # fmt: skip
        self.assertEqual((other.returncode, other.stdout), (2, ""), other.stderr)
        self.assertIn(PERIOD, other.stderr)
        self.assertEqual(len(self.world.requests()), before[1])


del SharedNode, Files

if __name__ == "__main__":
    unittest.main(verbosity=2)
