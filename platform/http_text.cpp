// Implementation of the strict head scan and of answer writing.
#include "platform/http_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace onceward::platform {
namespace {

char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string_view status_phrase(int status) noexcept {
  static constexpr std::array<std::pair<int, std::string_view>, 27> phrases{{
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {304, "Not Modified"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {402, "Payment Required"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {413, "Content Too Large"},
      {415, "Unsupported Media Type"},
      {417, "Expectation Failed"},
      {422, "Unprocessable Content"},
      {424, "Failed Dependency"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {502, "Bad Gateway"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
      {505, "HTTP Version Not Supported"},
      {507, "Insufficient Storage"},
  }};
  const auto* found = std::find_if(phrases.begin(), phrases.end(),
                                   [&](const auto& entry) { return entry.first == status; });
  return found == phrases.end() ? std::string_view("Status") : found->second;
}

void append_number(std::string& out, std::size_t value, int base = 10) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base);
  out.append(digits.data(), end.ptr);
}

/// A header value may echo foreign bytes; a line break in it would let them write our headers.
void append_header_text(std::string& out, std::string_view text) {
  const std::size_t from = out.size();
  out.append(text);
  std::replace_if(
      out.begin() + static_cast<std::ptrdiff_t>(from), out.end(),
      [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, ' ');
}

bool is_framing_header(std::string_view name) noexcept {
  return equal_ignoring_case(name, "content-length") || equal_ignoring_case(name, "connection") ||
         equal_ignoring_case(name, "transfer-encoding");
}

bool has_body(int status) noexcept {
  return status >= 200 && status != 204 && status != 304;
}

}  // namespace

bool equal_ignoring_case(std::string_view left, std::string_view right) noexcept {
  return left.size() == right.size() &&
         std::equal(left.begin(), left.end(), right.begin(),
                    [](char a, char b) { return to_lower(a) == to_lower(b); });
}

std::optional<std::string_view> find_header(const std::vector<HttpHeader>& headers,
                                            std::string_view name) noexcept {
  for (const HttpHeader& header : headers) {
    if (equal_ignoring_case(header.name, name)) return header.value;
  }
  return std::nullopt;
}

std::size_t count_headers(const std::vector<HttpHeader>& headers, std::string_view name) noexcept {
  return static_cast<std::size_t>(std::count_if(
      headers.begin(), headers.end(),
      [&](const HttpHeader& header) { return equal_ignoring_case(header.name, name); }));
}

HeadScanner::Verdict HeadScanner::scan(std::string_view head) noexcept {
  while (at_ < head.size()) {
    const std::string_view rest = head.substr(at_);
    if (at_ > 0 && (rest.front() == ' ' || rest.front() == '\t')) return Verdict::malformed;
    const std::size_t end = rest.find_first_of(std::string_view("\r\n\0", 3));
    if (end == std::string_view::npos) return Verdict::incomplete;
    if (rest[end] != '\r') return Verdict::malformed;
    if (end + 1 == rest.size()) return Verdict::incomplete;
    if (rest[end + 1] != '\n') return Verdict::malformed;
    if (end == 0 && at_ == 0) return Verdict::malformed;
    at_ += end + 2;
    if (end == 0) return Verdict::complete;
  }
  return Verdict::incomplete;
}

void split_target(HttpRequest& request) {
  std::string_view target = request.target;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (equal_ignoring_case(target.substr(0, scheme.size()), scheme)) {
      const std::size_t slash = target.find('/', scheme.size());
      target = slash == std::string_view::npos ? "/" : target.substr(slash);
    }
  }
  const std::size_t mark = target.find('?');
  request.path = target.substr(0, mark);
  request.query = mark == std::string_view::npos ? "" : target.substr(mark + 1);
}

void append_answer(std::string& out, const HttpResponse& response, const AnswerFraming& framing) {
  out.reserve(out.size() + response.body.size() + 512);
  out.append("HTTP/1.1 ");
  append_number(out, static_cast<std::size_t>(response.status));
  out.append(" ").append(status_phrase(response.status)).append("\r\n");
  for (const HttpHeader& header : response.headers) {
    if (is_framing_header(header.name)) continue;
    append_header_text(out, header.name);
    out.append(": ");
    append_header_text(out, header.value);
    out.append("\r\n");
  }
  if (framing.chunked) {
    // HTTP/1.0 knows no chunks: the body then ends with the connection.
    if (!framing.http_1_0) out.append("Transfer-Encoding: chunked\r\n");
  } else if (has_body(response.status)) {
    out.append("Content-Length: ");
    append_number(out, response.body.size());
    out.append("\r\n");
  }
  if (framing.close) {
    out.append("Connection: close\r\n");
  } else if (framing.http_1_0) {
    out.append("Connection: keep-alive\r\n");
  }
  out.append("\r\n");
  if (!framing.chunked && !framing.head_only && has_body(response.status)) {
    out.append(response.body);
  }
}

void append_chunk(std::string& out, std::string_view data) {
  append_number(out, data.size(), 16);
  out.append("\r\n").append(data).append("\r\n");
}

HttpResponse plain_answer(int status, std::string_view reason) {
  HttpResponse response;
  response.status = status;
  response.headers.push_back({"Content-Type", "text/plain; charset=utf-8"});
  response.body = std::string(reason) + "\n";
  response.close = true;
  return response;
}

}  // namespace onceward::platform
