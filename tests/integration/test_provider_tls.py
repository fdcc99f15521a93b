"""A provider behind https: a node sends nothing to a server that it cannot be sure of, says why,
and charges once when the right one answers. Authorities and certificates are made here."""

import pathlib
import shutil
import socket
import ssl
import subprocess
import threading
import unittest

from world import Process, World, call, main_in_parallel

OPENSSL = shutil.which("openssl")


def run(*words):
    subprocess.run(words, check=True, capture_output=True, timeout=30)


def join(certificate, key):
    """Both in one file, as Python wants them."""
    both = pathlib.Path(f"{certificate}.both")
    both.write_text(pathlib.Path(certificate).read_text() + pathlib.Path(key).read_text())
    return str(both)


class Authority:
    """A certificate authority in a directory, which signs what it is asked to."""

    def __init__(self, directory, name):
        self.stem = directory / name
        run(OPENSSL, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", f"{self.stem}.key",
            "-out", f"{self.stem}.pem")  # fmt: skip

    def sign(self, name, alternative):
        """A certificate and key in one file."""
        stem = f"{self.stem}-{name}"
        run(OPENSSL, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-subj", f"/CN={name}", "-keyout", f"{stem}.key", "-out", f"{stem}.csr")  # fmt: skip
        pathlib.Path(f"{stem}.ext").write_text(f"subjectAltName={alternative}\n")
        run(OPENSSL, "x509", "-req", "-in", f"{stem}.csr", "-CA", f"{self.stem}.pem", "-CAkey",
            f"{self.stem}.key", "-CAcreateserial", "-days", "2", "-extfile", f"{stem}.ext",
            "-out", f"{stem}.crt")  # fmt: skip
        return join(f"{stem}.crt", f"{stem}.key")


class TlsFront:
    """Speaks TLS with the certificate of the moment and hands on to the simulator. What a client
    sent is counted: a refused handshake must be the end."""

    def __init__(self, target):
        self.target = target
        self.certificate = None
        self.requests = 0
        self.refused = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept_all, daemon=True).start()

    def accept_all(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate)
        peer.settimeout(20)
        try:
            with context.wrap_socket(peer, server_side=True) as link:
                first = link.recv(65536)
                if not first:
                    self.refused += 1
                    return
                self.requests += 1
                with socket.create_connection(self.target, timeout=20) as inner:
                    inner.sendall(first)
                    back = threading.Thread(target=self.copy, args=(inner, link), daemon=True)
                    back.start()
                    self.copy(link, inner)
                    inner.shutdown(socket.SHUT_WR)
                    back.join(20)
        except OSError:
            self.refused += 1

    @staticmethod
    def copy(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass

    def close(self):
        self.listener.close()


def private_certificates():
    """A command that runs another one in a world where a directory of ours holds the trusted
    authorities of the system; None if the kernel does not let us."""
    for unshare in (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"]):
        words = [*unshare, "mount", "--bind", "/tmp", "/etc/ssl/certs"]
        if shutil.which("unshare") and not subprocess.run(words, capture_output=True).returncode:
            return unshare
    return None


@unittest.skipIf(OPENSSL is None, "no openssl command to make certificates with")
class ProviderTls(World):
    def setUp(self):
        super().setUp()
        self.unshare = private_certificates()
        if self.unshare is None:
            self.skipTest("no mount namespace in which our authority could be the trusted one")
        self.start_sim()
        host, port = self.sim_url.removeprefix("http://").split(":")
        self.front = TlsFront((host, int(port)))
        self.addCleanup(self.front.close)
        self.ours = Authority(self.directory, "ours")
        self.right = self.ours.sign("right", "IP:127.0.0.1")
        trusted = self.directory / "trusted"
        trusted.mkdir()
        shutil.copy(f"{self.ours.stem}.pem", trusted / "ca-certificates.crt")
        self.trusted = trusted
        key = self.directory / "key"
        key.touch(mode=0o600)
        key.write_text("sk_test_1\n")
        self.key = key

    def start_node(self, certificate):
        self.front.certificate = certificate
        config = self.write_config(provider__base_url=f"https://127.0.0.1:{self.front.port}",
                                   provider__key_file=str(self.key))  # fmt: skip
        script = 'mount --bind "$0" /etc/ssl/certs && exec "$@"'
        node = Process(["serve", "-c", str(config)], self.directory / "node.log",
                       before=[*self.unshare, "sh", "-c", script, str(self.trusted)])  # fmt: skip
        self.addCleanup(node.close)
        node.wait_until_up(self.admin_url + "/readyz")

    def is_not_sent_then_charged_once(self, certificate):
        self.start_node(certificate)
        status, _, body = self.bill(wait=1)
        self.assertEqual((status, body["status"]), (202, "in_progress"), body)
        self.assertGreater(self.front.refused, 0, "the node tried")
        self.assertEqual(self.front.requests, 0, "not a byte of a request")
        self.assertEqual(self.state()[2]["reason"], "not_sent/tls")
        status, _, text = call("GET", self.admin_url + "/readyz")
        self.assertEqual(status, 200)
        self.assertIn("[!] provider: no answer: SSL", text)
        self.front.certificate = self.right
        self.until(lambda: self.state(wait=1)[2]["status"] == "completed")
        self.assertEqual(len(self.ledger()), 1)
        self.assertEqual(len([row for row in self.requests() if row["path"].endswith("/confirm")]),
                         1)  # fmt: skip

    def test_the_right_certificate_is_believed(self):
        self.start_node(self.right)
        status, _, body = self.bill()
        self.assertEqual((status, body["status"]), (200, "completed"), body)
        self.assertGreater(self.front.requests, 0)

    def test_an_authority_that_nobody_trusts(self):
        other = Authority(self.directory, "other")
        self.is_not_sent_then_charged_once(other.sign("server", "IP:127.0.0.1"))

    def test_a_certificate_signed_by_itself(self):
        other = Authority(self.directory, "self")
        self.is_not_sent_then_charged_once(join(f"{other.stem}.pem", f"{other.stem}.key"))

    def test_a_certificate_of_another_host(self):
        self.is_not_sent_then_charged_once(self.ours.sign("else", "DNS:elsewhere.example"))


del World

if __name__ == "__main__":
    main_in_parallel()
