// TlsServer: accepts TLS on loopback with a fresh self-signed certificate for 127.0.0.1 and answers
// every request with one fixed answer. For tests of what a client trusts.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace onceward::test {

class TlsServer {
 public:
  /// `subject_alt_name` as OpenSSL spells it, e.g. "IP:127.0.0.1" or "DNS:elsewhere.example".
  TlsServer(const std::string& subject_alt_name, std::string answer)
      : context_(SSL_CTX_new(TLS_server_method())), answer_(std::move(answer)) {
    key_.reset(EVP_EC_gen("P-256"));
    certificate_.reset(X509_new());
    X509_set_version(certificate_.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate_.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate_.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate_.get()), 3600);
    X509_set_pubkey(certificate_.get(), key_.get());
    X509_NAME* name = X509_get_subject_name(certificate_.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
    X509_set_issuer_name(certificate_.get(), name);
    X509_EXTENSION* extension =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, subject_alt_name.c_str());
    X509_add_ext(certificate_.get(), extension, -1);
    X509_EXTENSION_free(extension);
    X509_sign(certificate_.get(), key_.get(), EVP_sha256());
    SSL_CTX_use_certificate(context_.get(), certificate_.get());
    SSL_CTX_use_PrivateKey(context_.get(), key_.get());
    listen();
    acceptor_ = std::thread([this] { accept_all(); });
  }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;
  ~TlsServer() {
    stopping_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
  }

  [[nodiscard]] std::string url() const { return "https://127.0.0.1:" + std::to_string(port_); }
  /// Requests whose bytes were read after a completed handshake.
  [[nodiscard]] int requests() const { return requests_; }
  void write_certificate(const std::string& path) const {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"),
                                                               &std::fclose);
    PEM_write_X509(file.get(), certificate_.get());
  }

 private:
  struct Free {
    void operator()(SSL_CTX* p) const { SSL_CTX_free(p); }
    void operator()(SSL* p) const { SSL_free(p); }
    void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
    void operator()(X509* p) const { X509_free(p); }
  };

  void listen() {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, generic, length) != 0 || ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, generic, &length) != 0) {
      std::abort();
    }
    port_ = ntohs(address.sin_port);
  }

  void accept_all() {
    // OpenSSL writes without MSG_NOSIGNAL, and clients hang up on bad certificates.
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    while (!stopping_) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      const timeval patience{5, 0};
      ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      serve(fd);
      ::close(fd);
    }
  }

  void serve(int fd) {
    const std::unique_ptr<SSL, Free> tls(SSL_new(context_.get()));
    SSL_set_fd(tls.get(), fd);
    if (SSL_accept(tls.get()) != 1) return;
    char bytes[16384];
    if (SSL_read(tls.get(), bytes, sizeof bytes) <= 0) return;
    ++requests_;
    SSL_write(tls.get(), answer_.data(), static_cast<int>(answer_.size()));
    SSL_shutdown(tls.get());
  }

  std::unique_ptr<SSL_CTX, Free> context_;
  std::unique_ptr<EVP_PKEY, Free> key_;
  std::unique_ptr<X509, Free> certificate_;
  const std::string answer_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<int> requests_{0};
  std::thread acceptor_;
};

}  // namespace onceward::test
