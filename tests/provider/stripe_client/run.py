#!/usr/bin/env python3
"""Runs the tests of the provider's official client for Node against the simulator.

run.py SIMULATOR_PROCESS SOURCE_FOLDER WORK_FOLDER [VERIFY_WEBHOOK]

Exit code 77, with the reason, when Node, npm or the client cannot be had. The client is installed
into the work folder, once.
"""
import os
import shutil
import subprocess
import sys

SKIPPED = 77
CLIENT = "stripe@23.1.0"
INSTALL_SECONDS = 120
TEST_SECONDS = 150


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def install(work):
    """Puts the client into `work`/node_modules."""
    if os.path.exists(os.path.join(work, "node_modules", "stripe", "package.json")):
        return
    os.makedirs(work, exist_ok=True)
    with open(os.path.join(work, "package.json"), "w", encoding="utf-8") as file:
        file.write('{"name": "stripe-client-test", "private": true}\n')
    command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts",
               "--fetch-retries=0", "--fetch-timeout=20000", CLIENT]
    try:
        done = subprocess.run(command, cwd=work, timeout=INSTALL_SECONDS, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except subprocess.TimeoutExpired:
        skip(f"npm could not install {CLIENT} within {INSTALL_SECONDS} s")
    if done.returncode != 0:
        reasons = [line for line in done.stdout.splitlines() if " code " in line]
        skip(f"npm could not install {CLIENT}: {'; '.join(reasons) or done.stdout.strip()}")


def main():
    simulator_process, source, work, *verifier = map(os.path.abspath, sys.argv[1:])
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            skip(program)
    version = subprocess.run(["node", "--version"], check=True, stdout=subprocess.PIPE, text=True)
    if int(version.stdout.lstrip("v").split(".")[0]) < 18:
        skip(f"node is {version.stdout.strip()}, the test needs 18")
    install(work)
    # Modules are looked for beside the file that imports them.
    test = shutil.copy(os.path.join(source, "stripe_client.test.mjs"), work)
    with subprocess.Popen([simulator_process], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as simulator:
        environment = {**os.environ, "SIMULATOR_URL": simulator.stdout.readline().strip()}
        if verifier:
            environment["VERIFY_WEBHOOK"] = verifier[0]
        try:
            done = subprocess.run(["node", "--test", test], cwd=work, timeout=TEST_SECONDS,
                                  check=False, env=environment)
        finally:
            simulator.stdin.close()
            simulator.wait(timeout=20)
    sys.exit(1 if done.returncode != 0 else 0)


if __name__ == "__main__":
    main()
