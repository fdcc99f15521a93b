"""The API over real sockets: rows of its table that need a wire, and input no client sends."""

import concurrent.futures
import json
import socket
import unittest

from world import PERIOD, World, call


class HttpWire(World):
    def setUp(self):
        super().setUp()
        self.start_sim()
        self.start_node()

    def raw(self, data, timeout=10):
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as peer:
            peer.sendall(data)
            peer.shutdown(socket.SHUT_WR)
            answer = b""
            while chunk := peer.recv(65536):
                answer += chunk
        return answer

    def status_of(self, data):
        answer = self.raw(data)
        return int(answer.split(b" ", 2)[1]) if answer else None

    def test_amount_zero_is_waived_without_a_provider_call(self):
        status, _, body = self.bill(amount_minor=0)
        self.assertEqual((status, body["status"], body["charge_id"]), (200, "waived", None))
        self.assertEqual(body["reason"], "no_charge_due")
        self.assertEqual(self.ledger(), [])

    def test_conflicts(self):
        self.assertEqual(self.bill()[0], 200)
        status, headers, body = self.bill(key="k2", amount_minor=1)
        self.assertEqual((status, body["code"], body["amount_minor"]), (409, "OW1004", 4990))
        self.assertEqual(headers["Content-Type"], "application/problem+json")
        self.assertEqual(self.bill(key="k3", currency="eur")[0], 409)
        other = self.bill(key="k4", provider_customer="cus_other", period="2026-07")
        self.assertEqual(other[0], 409)
        status, _, body = self.bill(key="k5", period="2026-Q3")
        self.assertEqual((status, body["type"]), (409, "urn:onceward:problem:period-granularity"))
        status, _, body = self.bill(key="k6", period="2126-08")
        self.assertEqual((status, body["type"]), (409, "urn:onceward:problem:period-not-begun"))
        self.assertEqual(self.bill(key="k1", amount_minor=1)[0], 422)
        self.assertEqual(len(self.ledger()), 1)

    def test_refused_requests_use_up_no_key_and_record_nothing(self):
        self.assertEqual(self.bill(amount_minor=-1)[0], 400)
        self.assertEqual(self.bill(metadata={"onceward_x": "1"})[0], 400)
        self.assertEqual(self.state()[0], 404)
        self.assertEqual(self.bill()[0], 200)

    def test_ids_with_any_graphic_character(self):
        customer = "a/b:c+d.e%f?g#h\"i\\j"
        status, _, body = self.bill(customer)
        self.assertEqual((status, body["customer"]), (200, customer))
        status, headers, body = self.bill(customer, "k2", wait=0)
        path = "/v1/billing/a%2Fb%3Ac%2Bd.e%25f%3Fg%23h%22i%5Cj/" + PERIOD
        self.assertEqual(call("GET", self.url + path)[2]["customer"], customer)
        self.assertEqual(self.ledger()[0]["customer"], customer)

    def test_many_callers_with_many_keys_make_one_charge(self):
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda n: self.bill("busy", f"k{n}"), range(64)))
        self.assertEqual({status for status, _, _ in answers}, {200})
        self.assertEqual(sum(not body["deduplicated"] for _, _, body in answers), 1)
        self.assertEqual(len(self.ledger()), 1)

    def test_malformed_requests_get_4xx_and_the_node_goes_on(self):
        host = b"Host: x\r\n"
        for data in (
            b"GET / HTTP/1.1\r\n\r\n",
            b"\r\n\r\nGARBAGE\r\n\r\n",
            b"GET /v1/billing/% HTTP/1.1\r\n" + host + b"\r\n",
            b"POST /v1/billing HTTP/1.1\r\n" + host
            + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
            b"POST /v1/billing HTTP/1.1\r\n" + host
            + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
            b"GET /v1/runs HTTP/1.1\r\n" + host + b"A: b\r\n folded\r\n\r\n",
            b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\n" + host + b"\r\n",
        ):
            status = self.status_of(data)
            self.assertTrue(status is None or 400 <= status < 500, (status, data[:60]))
        self.assertEqual(self.bill()[0], 200)

    def test_body_that_is_too_large_is_413(self):
        status = call("POST", self.url + "/v1/billing", b" " * (2 * 1024 * 1024),
                      {"Idempotency-Key": "k"})[0]  # fmt: skip
        self.assertEqual(status, 413)

    def test_head_has_the_headers_of_get_without_the_body(self):
        self.bill()
        answer = self.raw(
            b"HEAD /v1/billing/cust_1/2026-08 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        )
        head, _, body = answer.partition(b"\r\n\r\n")
        self.assertIn(b"200", head.split(b"\r\n")[0])
        self.assertEqual(body, b"")

    def test_runs_from_plan_to_report(self):
        csv = "customer,amount_minor,currency,payment_method\n" + "".join(
            f"r{n},{1000 + n},usd,pm_card_visa\n" for n in range(30)
        ) + "nopay,100,usd,\n"
        status, _, plan = call("POST", f"{self.url}/v1/runs?period={PERIOD}&dry_run=true", csv,
                               {"Content-Type": "text/csv"})  # fmt: skip
        self.assertEqual((status, plan["to_bill"]), (200, 30), plan)
        self.assertEqual(self.ledger(), [])
        wanted = {"period": PERIOD, "dry_run": False, "plan": plan["plan"]}
        status, headers, run = call("POST", self.url + "/v1/runs", wanted)
        self.assertEqual(status, 201, run)
        self.assertEqual(headers["Location"], "/v1/runs/" + run["id"])
        self.assertEqual(call("POST", self.url + "/v1/runs", wanted)[0], 200)
        self.until(lambda: call("GET", self.url + headers["Location"])[2]["status"] == "completed")
        self.assertEqual(len(self.ledger()), 30)
        report = call("GET", self.url + headers["Location"] + "/report")[2]
        self.assertEqual([line["customer"] for line in report["lines"]], ["nopay"])
        listed = call("GET", f"{self.url}/v1/billing/{PERIOD}?status=completed&limit=1000")[2]
        self.assertEqual(len(listed["obligations"]), 30)
        self.assertEqual(call("POST", self.url + f"/v1/runs/{run['id']}/pause", b"{}")[0], 409)
        self.assertEqual(call("GET", self.url + "/v1/runs/nope")[0], 404)

    def test_bad_run_requests_are_400(self):
        for body in (
            {},
            {"period": PERIOD},
            {"period": "x", "dry_run": True},
            {"period": PERIOD, "dry_run": True, "plan": "00"},
            {"period": PERIOD, "x": 1},
        ):
            self.assertEqual(call("POST", self.url + "/v1/runs", body)[0], 400, body)
        url = f"{self.url}/v1/runs?period={PERIOD}"
        csv = {"Content-Type": "text/csv"}
        self.assertEqual(call("POST", url, "customer\n", csv)[0], 400)
        status, _, body = call("POST", url + "&dry_run=true",
                               "customer,amount_minor,currency\na,x,usd\n", csv)  # fmt: skip
        self.assertEqual(status, 400)
        self.assertIn("2", body["detail"])
        unknown = {"period": PERIOD, "dry_run": False, "plan": "0" * 32}
        self.assertEqual(call("POST", self.url + "/v1/runs", unknown)[0], 404)


del World

if __name__ == "__main__":
    unittest.main(verbosity=2)
