"""`onceward harness` from outside: verdicts, exit codes, files, replay, and the real processes."""

import json
import pathlib
import shlex
import shutil
import tempfile
import unittest
import xml.etree.ElementTree

from world import LONG, onceward

KILLS = 1000 if LONG else 100


class Harness(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="onceward-test-"))
        self.addCleanup(shutil.rmtree, self.directory, True)

    def run_it(self, *words, **options):
        done = onceward("harness", *words, **options)
        return done.returncode, done.stdout, done.stderr

    def test_what_holds_says_how_much_was_run(self):
        code, out, _ = self.run_it("run", "--scenario", "crashes-charges", "--json", "-")
        self.assertEqual(code, 0)
        (run,) = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(run["scenario"], "crashes-charges")
        self.assertTrue(run["holds"] and run["complete"])
        self.assertEqual(run["violations"], 0)
        self.assertGreater(run["schedules"], run["executed"])
        self.assertGreater(run["crash_points"], 1000)

    def test_without_a_guard_the_shortest_schedule_is_named_and_fails_again(self):
        files = {kind: self.directory / f"report.{kind}" for kind in ("json", "junit", "html")}
        code, out, _ = self.run_it(
            "run", "--scenario", "crashes-intents", "--without", "stable_key", "--json",
            str(files["json"]), "--junit", str(files["junit"]), "--report", str(files["html"]),
        )  # fmt: skip
        self.assertEqual(code, 1)
        self.assertIn("VIOLATION", out)
        run = json.loads(files["json"].read_text())
        self.assertIn(run["replay"], out)
        suite = xml.etree.ElementTree.parse(files["junit"]).getroot()
        self.assertEqual(suite.get("failures"), "1")
        self.assertIn("<svg", files["html"].read_text())

        words = shlex.split(run["replay"])[2:]
        code, out, _ = self.run_it(*words)
        self.assertEqual(code, 1)
        self.assertIn("VIOLATION", out)
        guarded = [w for w in words if w not in ("--without", "stable_key")]
        self.assertEqual(self.run_it(*guarded)[0], 0, "the guard prevents it")
        self.assertEqual(self.run_it("shrink", *words[1:])[0], 1)
        self.assertIn("commit", self.run_it("explain", *guarded[1:])[1])

    def test_every_guard_is_missed(self):
        code, out, _ = self.run_it("mutants", timeout=600)
        self.assertEqual(code, 0, out)
        guards = {line.split()[1] for line in out.splitlines() if line.startswith("without ")}
        self.assertEqual(guards, {"in_progress", "issued_periods", "claim", "stable_key", "epoch",
                                  "cap", "unknown_lookup"})  # fmt: skip

    def test_a_seed_is_the_same_world_again(self):
        words = ("explain", "--scenario", "random-charges", "--seed")
        first = self.run_it(*words, "7")
        self.assertEqual(first[0], 0)
        self.assertEqual(self.run_it(*words, "7"), first)
        self.assertNotEqual(self.run_it(*words, "8")[1], first[1])

    def test_what_is_not_finished_is_incomplete(self):
        code, out, _ = self.run_it(
            "run", "--scenario", "random-intents", "--seeds", "100000000", "--seconds", "1"
        )
        self.assertEqual(code, 9)
        self.assertIn("not exhausted", out)

    def test_bad_words_name_the_good_ones(self):
        for words, named in (
            (("run", "--scenario", "nope"), "crashes-intents"),
            (("run", "--seeds", "x"), "A..B"),
            (("run", "--seeds", "9..3"), "A..B"),
            (("run", "--without", "luck"), "stable_key"),
            (("run", "--kills", "3"), "--real"),
            (("run", "--real", "--kills", "0"), "--kills"),
            (("replay", "--scenario", "crashes-intents"), "--seed"),
            (("replay", "--scenario", "crashes-intents", "--choices", "1:"), "position:answer"),
            (("replay", "--seed", "1"), "--scenario"),
        ):
            code, _, err = self.run_it(*words)
            self.assertEqual(code, 2, words)
            self.assertIn(named, err, words)

    def test_real_processes_charge_once_over_kills_and_stops(self):
        code, out, err = self.run_it(
            "run", "--real", "--kills", str(KILLS), "--json", "-", timeout=1500
        )
        self.assertEqual(code, 0, out + err)
        run = json.loads(out)
        self.assertTrue(run["holds"])
        self.assertEqual(run["kills"] + run["stops"], KILLS)
        self.assertEqual(run["charges"], run["periods"] * run["customers"])
        self.assertGreater(run["kills"], KILLS // 2)


if __name__ == "__main__":
    unittest.main()
