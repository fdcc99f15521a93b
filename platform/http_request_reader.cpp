// Implementation on Beast's basic_parser: its callbacks fill HttpRequest directly, so that header
// order and repeats survive. The checks here decide what Beast would tolerate.
#include "platform/http_request_reader.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <optional>
#include <utility>

#include "platform/http_text.hpp"

namespace onceward::platform {
namespace {

namespace http = boost::beast::http;
using BeastError = boost::beast::error_code;
using BeastText = boost::beast::string_view;

/// A chunk header or trailer that is still incomplete after this many bytes is refused.
constexpr std::size_t chunk_line_bytes_max = 4096;

std::string to_text(BeastText text) {
  return {text.data(), text.size()};
}

RefusedRequest refuse(int status, std::string reason) {
  return {status, std::move(reason)};
}

RefusedRequest refusal_for(const BeastError& error) {
  if (error == http::error::header_limit) return refuse(431, "request headers are too large");
  if (error == http::error::body_limit) return refuse(413, "request body is too large");
  if (error == http::error::bad_version)
    return refuse(505, "only HTTP/1.1 and HTTP/1.0 are spoken");
  return refuse(400, "malformed request: " + error.message());
}

}  // namespace

class HttpRequestReader::Parser final : public http::basic_parser<true> {
 public:
  HttpRequest request;
  bool http_1_0 = false;

 private:
  void on_request_impl(http::verb, BeastText method, BeastText target, int version,
                       BeastError&) override {
    request.method = to_text(method);
    request.target = to_text(target);
    http_1_0 = version == 10;
  }
  void on_response_impl(int, BeastText, int, BeastError&) override {}
  void on_field_impl(http::field, BeastText name, BeastText value, BeastError&) override {
    // Trailers would otherwise join the headers after these were checked.
    if (!in_header_) return;
    request.headers.push_back({to_text(name), to_text(value)});
  }
  void on_header_impl(BeastError&) override { in_header_ = false; }
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, BeastError&) override {
    if (length) request.body.reserve(static_cast<std::size_t>(*length));
  }
  std::size_t on_body_impl(BeastText body, BeastError&) override {
    request.body.append(body.data(), body.size());
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, BeastText, BeastError&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, BeastText body, BeastError&) override {
    request.body.append(body.data(), body.size());
    return body.size();
  }
  void on_finish_impl(BeastError&) override {}

  bool in_header_ = true;
};

struct HttpRequestReader::State {
  std::size_t header_bytes_max = 0;
  std::size_t body_bytes_max = 0;
  HeadScanner scanner;
  std::optional<Parser> parser;  // present while a body is being read
  bool continue_told = false;
};

HttpRequestReader::HttpRequestReader(const HttpServerOptions& options)
    : state_(std::make_unique<State>()) {
  state_->header_bytes_max = options.header_bytes_max;
  state_->body_bytes_max = options.body_bytes_max;
}
HttpRequestReader::~HttpRequestReader() = default;

ReadOutcome HttpRequestReader::read(std::string& input) {
  return state_->parser ? read_body(input) : read_header(input);
}

namespace {

/// What RFC 9112 leaves to strict servers: everything that two parsers could read differently.
std::optional<RefusedRequest> check_headers(const HttpRequest& request, bool http_1_0) {
  const auto& headers = request.headers;
  const std::size_t lengths = count_headers(headers, "content-length");
  const std::size_t encodings = count_headers(headers, "transfer-encoding");
  if (lengths + encodings > 1) {
    return refuse(400, "body length is given more than once");
  }
  if (const auto length = find_header(headers, "content-length")) {
    if (length->empty() || length->find_first_not_of("0123456789") != std::string_view::npos) {
      return refuse(400, "Content-Length is not a plain number");
    }
  }
  if (const auto encoding = find_header(headers, "transfer-encoding")) {
    if (http_1_0) return refuse(400, "Transfer-Encoding in an HTTP/1.0 request");
    if (!equal_ignoring_case(*encoding, "chunked")) {
      return refuse(501, "the only transfer encoding understood is chunked");
    }
  }
  const std::size_t hosts = count_headers(headers, "host");
  if (hosts > 1 || (hosts == 0 && !http_1_0)) {
    return refuse(400, "exactly one Host header is required");
  }
  if (const auto expect = find_header(headers, "expect")) {
    if (!equal_ignoring_case(*expect, "100-continue")) {
      return refuse(417, "the only expectation understood is 100-continue");
    }
  }
  return std::nullopt;
}

}  // namespace

ReadOutcome HttpRequestReader::read_header(std::string& input) {
  if (input.empty()) return NeedMore{};
  State& state = *state_;
  switch (state.scanner.scan(input)) {
    case HeadScanner::Verdict::malformed:
      return refuse(400, "malformed request: lines end with CRLF, headers are not folded");
    case HeadScanner::Verdict::incomplete:
      if (input.size() > state.header_bytes_max) return refusal_for(http::error::header_limit);
      return NeedMore{NeedMore::Phase::header, false};
    case HeadScanner::Verdict::complete:
      break;
  }
  const std::size_t head_bytes = state.scanner.head_bytes();
  if (head_bytes > state.header_bytes_max) return refusal_for(http::error::header_limit);

  Parser& parser = state.parser.emplace();
  parser.header_limit(static_cast<std::uint32_t>(head_bytes + 1));
  parser.body_limit(state.body_bytes_max);
  parser.eager(true);
  BeastError error;
  const std::size_t taken = parser.put(boost::asio::buffer(input.data(), head_bytes), error);
  if (error && error != http::error::need_more) return refusal_for(error);
  if (!parser.is_header_done()) return refuse(400, "malformed request head");
  if (auto refused = check_headers(parser.request, parser.http_1_0)) return *std::move(refused);
  input.erase(0, taken);
  state.continue_told = false;
  return read_body(input);
}

ReadOutcome HttpRequestReader::read_body(std::string& input) {
  State& state = *state_;
  Parser& parser = *state.parser;
  while (!parser.is_done() && !input.empty()) {
    BeastError error;
    const std::size_t taken = parser.put(boost::asio::buffer(input), error);
    if (error && error != http::error::need_more) return refusal_for(error);
    input.erase(0, taken);
    if (taken == 0 || error == http::error::need_more) break;
  }
  if (parser.is_done()) return finish();
  if (parser.chunked() && input.size() > chunk_line_bytes_max) {
    return refuse(400, "chunk header or trailer is too large");
  }
  const bool expects =
      !state.continue_told && input.empty() && find_header(parser.request.headers, "expect");
  state.continue_told = true;
  return NeedMore{NeedMore::Phase::body, expects};
}

ReadOutcome HttpRequestReader::finish() {
  Parser& parser = *state_->parser;
  ReadRequest done{std::move(parser.request), parser.keep_alive(), parser.http_1_0};
  split_target(done.request);
  state_->parser.reset();
  state_->scanner.reset();
  return done;
}

}  // namespace onceward::platform
