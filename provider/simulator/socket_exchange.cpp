// Requests and answers between the HTTP server and the pure provider.
#include "provider/simulator/socket_exchange.hpp"

#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

namespace onceward::provider::simulator {
namespace {

/// A fatal handshake_failure, as a server of TLS 1.0 to 1.2 sends it.
constexpr std::string_view tls_alert{"\x15\x03\x01\x00\x02\x02\x28", 7};

/// The complete head and the first bytes of the body, for an answer that is cut.
std::string cut_bytes(const WireAnswer& answer) {
  if (!answer.body_bytes_sent) return {};
  std::string bytes = "HTTP/1.1 " + std::to_string(answer.status) + " OK\r\n";
  for (const auto& [name, value] : answer.headers) {
    bytes.append(name).append(": ").append(value).append("\r\n");
  }
  const std::string sent = answer.body.substr(0, *answer.body_bytes_sent);
  switch (answer.framing) {
    case WireFraming::length:
      bytes.append("Content-Length: ").append(std::to_string(answer.body.size()));
      return bytes.append("\r\n\r\n").append(sent);
    case WireFraming::wrong_length:
      bytes.append("Content-Length: ").append(std::to_string(answer.body.size() + 1));
      return bytes.append("\r\n\r\n").append(sent);
    case WireFraming::chunked: {
      std::array<char, 20> size{};
      (void)std::snprintf(size.data(), size.size(), "%zx", sent.size());  // fits
      bytes.append("Transfer-Encoding: chunked\r\n\r\n");
      // A whole chunk; the one that ends the body does not come.
      if (!sent.empty()) bytes.append(size.data()).append("\r\n").append(sent).append("\r\n");
      return bytes;
    }
  }
  return bytes;
}

}  // namespace

WireRequest to_wire(platform::HttpRequest request) {
  WireRequest wire;
  wire.method = std::move(request.method);
  wire.path = std::move(request.path);
  wire.query = std::move(request.query);
  for (auto& header : request.headers) {
    wire.headers.emplace_back(std::move(header.name), std::move(header.value));
  }
  wire.body = std::move(request.body);
  wire.connection = request.connection_id;
  wire.nr_on_connection = request.nr_on_connection;
  return wire;
}

void deliver(WireAnswer answer, platform::HttpResponder responder) {
  switch (answer.ending) {
    case WireEnding::whole: {
      platform::HttpResponse response;
      response.status = answer.status;
      for (auto& [name, value] : answer.headers) {
        response.headers.push_back({std::move(name), std::move(value)});
      }
      response.body = std::move(answer.body);
      return responder.answer(std::move(response));
    }
    case WireEnding::fin:
      return responder.raw(cut_bytes(answer), platform::SocketEnd::fin);
    case WireEnding::rst:
      return responder.raw(cut_bytes(answer), platform::SocketEnd::rst);
    case WireEnding::hang:
      return responder.hang();
    case WireEnding::refused:
      return responder.raw("", platform::SocketEnd::rst);
    case WireEnding::tls_failed:
      return responder.raw(std::string(tls_alert), platform::SocketEnd::fin);
  }
}

}  // namespace onceward::provider::simulator
