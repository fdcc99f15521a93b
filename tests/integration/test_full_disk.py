"""A disk that becomes full under a running node: it says so, acknowledges nothing that it cannot
keep, keeps what it acknowledged, and goes on by itself when there is space again."""

import errno
import os
import shutil
import signal
import subprocess

from world import World, call, main, onceward

SIZE = "6m"


class FullDisk(World):
    def setUp(self):
        super().setUp()
        self.disk = self.directory / "disk"
        self.disk.mkdir()
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "onceward-test", str(self.disk)],
            capture_output=True, text=True,
        ) if os.geteuid() == 0 and shutil.which("mount") else None  # fmt: skip
        if mounted is None or mounted.returncode != 0:
            self.skipTest("a small file system cannot be mounted here (it takes root): "
                          + (mounted.stderr if mounted else "not root"))  # fmt: skip
        # Before the directory of the test is removed, and after the node ended.
        self.addCleanup(subprocess.run, ["umount", "--lazy", str(self.disk)])
        self.start_sim()
        self.node = self.start_node(node__data_dir=str(self.disk))
        self.ballast = self.disk / "ballast"

    def fill(self):
        with open(self.ballast, "ab", buffering=0) as out:
            for size in (65536, 4096, 1):
                try:
                    while True:
                        out.write(b"x" * size)
                except OSError as error:
                    self.assertEqual(error.errno, errno.ENOSPC)

    def readyz(self):
        return call("GET", self.admin_url + "/readyz")

    def is_ready(self):
        return self.readyz()[0] == 200

    def bill_until_refused(self):
        """Returns how many were acknowledged before the first that was not."""
        for n in range(400):
            status, headers, body = self.bill(f"late-{n}", f"k-late-{n}")
            if status == 503:
                self.assertIn(body["code"], ("OW2007", "OW1006"), body)
                self.assertEqual((body["charge_state"], body["retryable"]),
                                 ("unknown", "same_key"), body)  # fmt: skip
                self.assertGreaterEqual(int(headers["Retry-After"]), 1)
                return n
            self.assertEqual(status, 200, body)
        self.fail("the disk never became full")

    def test_says_so_loses_nothing_and_goes_on(self):
        before = {f"c{n}": self.bill(f"c{n}", f"k{n}")[2]["charge_id"] for n in range(5)}
        self.fill()
        acknowledged = self.bill_until_refused()
        charged = len(self.ledger())
        self.assertEqual(charged, 5 + acknowledged)

        status, _, text = self.readyz()
        self.assertEqual(status, 503)
        self.assertIn("store", text)
        self.assertIn("full", text)
        self.assertEqual(call("GET", self.admin_url + "/livez")[0], 200)
        # What a failed commit left on the disk is not known yet: no state is told for sure.
        status, _, body = self.state("c1")
        self.assertEqual((status, body["code"]), (503, "OW2007"), body)
        # Nothing new is taken, and nothing is sent for it.
        for n in range(3):
            status, _, body = self.bill(f"new-{n}", f"k-new-{n}")
            self.assertEqual((status, body["code"]), (503, "OW1006"), body)
            self.assertIn("full", body["detail"])
            self.assertIn(body["charge_state"], ("none", "unknown"))
        self.assertEqual(len(self.ledger()), charged)

        self.ballast.unlink()
        self.until(self.is_ready, 15)
        for n in range(acknowledged + 1):
            self.assertEqual(self.bill(f"late-{n}", f"k-late-{n}")[0], 200)
        for n in range(3):
            self.assertEqual(self.bill(f"new-{n}", f"k-new-{n}")[0], 200)
        for customer, charge in before.items():
            self.assertEqual(self.state(customer)[2]["charge_id"], charge)
        self.charged_once_each(5 + acknowledged + 1 + 3)

    def test_charge_under_way_when_the_disk_becomes_full_is_found_not_repeated(self):
        self.faults({"kind": "slow", "delay_ms": 3000,
                     "match": {"customer": "under-way", "money": True}})  # fmt: skip
        self.assertEqual(self.bill("under-way", "k-under-way", wait=0)[0], 202)
        self.until(lambda: len(self.requests()) == 2)  # created, and being confirmed
        self.fill()
        self.bill_until_refused()
        self.until(lambda: "under-way" in [row["customer"] for row in self.ledger()])
        self.assertEqual(self.state("under-way")[0], 503)
        self.ballast.unlink()
        self.until(lambda: self.state("under-way", wait=1)[2]["status"] == "completed")
        self.assertEqual([row["customer"] for row in self.ledger()].count("under-way"), 1)

    def test_killed_on_a_full_disk_it_starts_again_when_there_is_space(self):
        self.assertEqual(self.bill("c", "k")[0], 200)
        self.fill()
        self.bill_until_refused()
        self.node.signal(signal.SIGKILL)
        self.node.end()
        refused = onceward("serve", "-c", str(self.config), timeout=20)
        self.assertEqual(refused.returncode, 7, refused.stderr)
        self.assertIn(str(self.disk), refused.stderr)
        self.assertIn("full", refused.stderr)
        charges = len(self.ledger())
        self.ballast.unlink()
        self.node = self.start_node(self.config)
        status, headers, body = self.bill("c", "k")
        self.assertEqual((status, headers["Idempotent-Replayed"]), (200, "true"), body)
        self.assertEqual(len(self.ledger()), charges)
        self.charged_once_each(charges)

    def charged_once_each(self, count):
        customers = [row["customer"] for row in self.ledger()]
        self.assertEqual((len(customers), len(set(customers))), (count, count))
        self.node.signal(signal.SIGTERM)
        self.assertEqual(self.node.end(), 0, self.node.text())
        verify = onceward("journal", "verify", "-c", str(self.config))
        self.assertEqual(verify.returncode, 0, verify.stdout + verify.stderr)


del World

if __name__ == "__main__":
    main()
