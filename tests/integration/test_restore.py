"""A store that was restored: it refuses to bill until what the provider holds is in it."""

import json
import unittest

from world import World, onceward


class Restore(World):
    def setUp(self):
        super().setUp()
        self.sim = self.start_sim()
        self.node = self.start_node()
        self.assertEqual(self.bill("cust_1", key="k1")[0], 200)
        self.backup = str(self.directory / "backup.db")
        done = onceward("backup", self.backup, "-c", str(self.config))
        self.assertEqual(done.returncode, 0, done.stderr)
        # After the backup: a new customer, and the next period of the old one.
        self.assertEqual(self.bill("cust_2", key="k2")[0], 200)
        self.assertEqual(self.bill("cust_3", key="k3")[0], 200)
        self.node.signal(15)
        self.node.end()
        for suffix in ("", "-wal", "-shm"):
            lost = self.directory / f"billing.db{suffix}"
            if lost.exists():
                lost.rename(self.directory / f"lost.db{suffix}")
        done = onceward("restore", self.backup, "-c", str(self.config))
        self.assertEqual(done.returncode, 0, done.stderr)

    def reconcile(self, *words):
        return onceward("reconcile", *words, "-c", str(self.config), "--json")

    def run_words(self):
        return ["run", "--who", "ops", "--reason", "disk was replaced"]

    def test_bills_again_only_after_reconcile_and_nobody_is_charged_twice(self):
        refused = onceward("serve", "-c", str(self.config))
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("onceward reconcile run", refused.stderr)

        seen = self.reconcile("report")
        self.assertEqual(seen.returncode, 8, seen.stderr)
        self.assertEqual(len(json.loads(seen.stdout)["missing"]), 2)
        self.assertNotEqual(onceward("serve", "-c", str(self.config)).returncode, 0)

        done = self.reconcile(*self.run_words())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual((told["known"], len(told["missing"]), told["recorded"]), (1, 2, True))
        verify = onceward("journal", "verify", "-c", str(self.config))
        self.assertEqual(verify.returncode, 0, verify.stdout + verify.stderr)
        self.assertEqual(self.reconcile("report").returncode, 0)

        self.start_node(self.config)
        for customer in ("cust_1", "cust_2", "cust_3"):
            status, _, body = self.bill(customer, key=f"again-{customer}")
            self.assertEqual((status, body["status"]), (200, "completed"), body)
        self.assertEqual(len(self.ledger()), 3)

    def test_a_provider_that_cannot_be_read_accepts_nothing(self):
        self.sim.close()
        done = self.reconcile(*self.run_words())
        self.assertNotEqual(done.returncode, 0)
        self.assertNotEqual(onceward("serve", "-c", str(self.config)).returncode, 0)

    def test_a_damaged_or_running_store_is_not_reconciled(self):
        self.assertEqual(self.reconcile(*self.run_words()).returncode, 0)
        self.start_node(self.config)
        busy = self.reconcile(*self.run_words())
        self.assertEqual(busy.returncode, 7, busy.stderr)


if __name__ == "__main__":
    unittest.main()
