"""A billing run under kill -9: by default 20 kills over the demo's 200 customers, with
ONCEWARD_LONG=1 200 kills over 2,000. The demo itself is run and judges by the provider's ledger:
one charge per customer, period and purpose, nobody unbilled, and a clean `journal verify`."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONG = os.environ.get("ONCEWARD_LONG") == "1"
CURRENCIES = (("usd", 4990), ("eur", 900), ("jpy", 1200), ("kwd", 3050), ("isk", 149000))


def write_customers(path, count):
    with open(path, "w", encoding="utf-8") as out:
        out.write("customer,amount_minor,currency,payment_method\n")
        for i in range(count):
            currency, amount = CURRENCIES[i % len(CURRENCIES)]
            out.write(f"cust:{i:05d}+k,{amount},{currency},pm_card_visa\n")


class KilledRun(unittest.TestCase):
    def run_demo(self, *options):
        done = subprocess.run(
            [sys.executable, "-B", str(ROOT / "scripts/demo_run.py"),
             "--onceward", os.environ["ONCEWARD"], *options],
            capture_output=True, text=True, timeout=1500,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout.splitlines()

    def test_every_customer_is_charged_once_under_kills(self):
        with tempfile.TemporaryDirectory() as directory:
            options = ["--report", f"{directory}/report.html", "--seed", "7"]
            if LONG:
                customers = f"{directory}/customers.csv"
                write_customers(customers, 2000)
                lines = self.run_demo("--kills", "200", "--customers", customers, *options)
                wanted = "charges 2000  duplicates 0  unbilled 0  foreign 0  kills 200"
            else:
                lines = self.run_demo("--kills", "20", *options)
                wanted = "charges 200  duplicates 0  unbilled 0  foreign 0  kills 20"
            self.assertIn(wanted, lines)
            self.assertTrue(pathlib.Path(f"{directory}/report.html").stat().st_size > 2000)


if __name__ == "__main__":
    unittest.main()
