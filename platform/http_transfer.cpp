// How one request is put on the wire by libcurl, and what its end proves.
#include "platform/http_transfer.hpp"

#include <algorithm>
#include <array>

#include <unistd.h>

namespace onceward::platform {

namespace {

constexpr std::size_t kept_value_bytes_max = 1024;

/// The library's macros of the same name check types by old-style casts; this calls the function.
template <class T>
bool set(CURL* easy, CURLoption option, T value) {
  return (curl_easy_setopt)(easy, option, value) == CURLE_OK;
}

struct FailureRow {
  CURLcode code;
  std::string_view name;
};

constexpr std::array failure_rows = {
    FailureRow{CURLE_URL_MALFORMAT, "malformed"},
    FailureRow{CURLE_UNSUPPORTED_PROTOCOL, "malformed"},
    FailureRow{CURLE_COULDNT_RESOLVE_HOST, "dns"},
    FailureRow{CURLE_COULDNT_CONNECT, "connect"},
    FailureRow{CURLE_OPERATION_TIMEDOUT, "timeout"},
    FailureRow{CURLE_SSL_CONNECT_ERROR, "tls"},
    FailureRow{CURLE_PEER_FAILED_VERIFICATION, "tls"},
    FailureRow{CURLE_SSL_CACERT_BADFILE, "tls"},
    FailureRow{CURLE_SSL_CERTPROBLEM, "tls"},
    FailureRow{CURLE_SSL_CIPHER, "tls"},
    FailureRow{CURLE_SSL_ISSUER_ERROR, "tls"},
    FailureRow{CURLE_SSL_INVALIDCERTSTATUS, "tls"},
    FailureRow{CURLE_SSL_ENGINE_INITFAILED, "tls"},
    FailureRow{CURLE_GOT_NOTHING, "empty_answer"},
    FailureRow{CURLE_SEND_ERROR, "reset"},
    FailureRow{CURLE_RECV_ERROR, "reset"},
    FailureRow{CURLE_PARTIAL_FILE, "truncated"},
    // Only our own on_body() refuses to take bytes.
    FailureRow{CURLE_WRITE_ERROR, "too_large"},
    FailureRow{CURLE_ABORTED_BY_CALLBACK, "not_allowed"},
    FailureRow{CURLE_WEIRD_SERVER_REPLY, "protocol"},
    FailureRow{CURLE_HTTP_RETURNED_ERROR, "protocol"},
    FailureRow{CURLE_BAD_CONTENT_ENCODING, "protocol"},
};

std::string_view failure_name(CURLcode code) {
  for (const FailureRow& row : failure_rows) {
    if (row.code == code) return row.name;
  }
  return "other";
}

char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

bool equal_ignoring_case(std::string_view sent, std::string_view lower) noexcept {
  return std::equal(sent.begin(), sent.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return to_lower(a) == b; });
}

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blank = " \t\r\n";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// libcurl copies header lines to the wire as they are: a line break in one would be a header of
/// somebody else's choice.
bool is_one_line(std::string_view line) noexcept {
  return line.find(':') != std::string_view::npos &&
         std::none_of(line.begin(), line.end(), [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return (byte < 0x20U && c != '\t') || byte == 0x7fU;
         });
}

}  // namespace

std::optional<std::string_view> HttpClientResult::header(std::string_view name) const noexcept {
  for (const auto& [kept, value] : headers) {
    if (kept == name) return value;
  }
  return std::nullopt;
}

HttpClientResult unsent(std::string_view failure, std::string detail) {
  HttpClientResult result;
  result.outcome = HttpOutcome::not_sent;
  result.failure = failure;
  result.detail = std::move(detail);
  return result;
}

void link_headers(std::vector<std::string>& lines, curl_slist* tail,
                  std::vector<curl_slist>& nodes) {
  nodes.resize(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    nodes[i].data = lines[i].data();
    nodes[i].next = i + 1 < lines.size() ? &nodes[i + 1] : tail;
  }
}

Result<std::unique_ptr<HttpTransfer>> HttpTransfer::create(const HttpClientOptions& options,
                                                           curl_slist* common_headers,
                                                           HttpIdleSockets& idle) {
  std::unique_ptr<HttpTransfer> transfer(new HttpTransfer(options, common_headers, idle));
  if (transfer->easy_ == nullptr || !transfer->set_constant_options()) {
    return fail(ErrorCode::io, "libcurl " + std::string(curl_version()) +
                                   " refuses an option that safe requests need");
  }
  return transfer;
}

HttpTransfer::HttpTransfer(const HttpClientOptions& options, curl_slist* common_headers,
                           HttpIdleSockets& idle)
    : options_(options), common_headers_(common_headers), idle_(idle), easy_(curl_easy_init()) {}

bool HttpTransfer::set_constant_options() {
  CURL* easy = easy_.get();
  const auto connect_ms = static_cast<long>(options_.connect_timeout.count());
  return set(easy, CURLOPT_PRIVATE, static_cast<void*>(this)) &&
         set(easy, CURLOPT_ERRORBUFFER, &error_text_[0]) &&
         set(easy, CURLOPT_PREREQFUNCTION, &HttpTransfer::on_prerequest) &&
         set(easy, CURLOPT_PREREQDATA, static_cast<void*>(this)) &&
         set(easy, CURLOPT_CLOSESOCKETFUNCTION, &HttpTransfer::on_close_socket) &&
         set(easy, CURLOPT_CLOSESOCKETDATA, static_cast<void*>(&idle_)) &&
         set(easy, CURLOPT_HEADERFUNCTION, &HttpTransfer::on_header) &&
         set(easy, CURLOPT_HEADERDATA, static_cast<void*>(this)) &&
         set(easy, CURLOPT_WRITEFUNCTION, &HttpTransfer::on_body) &&
         set(easy, CURLOPT_WRITEDATA, static_cast<void*>(this)) &&
         // HTTP/1.1 alone: one request at a time on a connection keeps the proof of sends simple.
         set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1)) &&
         set(easy, CURLOPT_HTTP09_ALLOWED, 0L) && set(easy, CURLOPT_FOLLOWLOCATION, 0L) &&
         set(easy, CURLOPT_PROTOCOLS_STR, "http,https") && set(easy, CURLOPT_PATH_AS_IS, 1L) &&
         set(easy, CURLOPT_NOSIGNAL, 1L) &&
         // An empty text also switches off what the environment says.
         set(easy, CURLOPT_PROXY, "") && set(easy, CURLOPT_NETRC, long{CURL_NETRC_IGNORED}) &&
         set(easy, CURLOPT_SSL_VERIFYPEER, 1L) && set(easy, CURLOPT_SSL_VERIFYHOST, 2L) &&
         set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2)) &&
         (options_.ca_file.empty() || set(easy, CURLOPT_CAINFO, options_.ca_file.c_str())) &&
         set(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_ms) &&
         set(easy, CURLOPT_MAXAGE_CONN, static_cast<long>(options_.idle_connection_max.count()));
}

bool HttpTransfer::set_request_options() {
  CURL* easy = easy_.get();
  link_headers(request_.headers, common_headers_, header_nodes_);
  curl_slist* headers = header_nodes_.empty() ? common_headers_ : header_nodes_.data();
  const auto timeout_ms = std::max<long>(1, static_cast<long>(request_.timeout.count()));
  if (!set(easy, CURLOPT_URL, request_.url.c_str()) || !set(easy, CURLOPT_HTTPHEADER, headers) ||
      !set(easy, CURLOPT_TIMEOUT_MS, timeout_ms)) {
    return false;
  }
  if (request_.method == HttpMethod::get) return set(easy, CURLOPT_HTTPGET, 1L);
  const auto size = static_cast<curl_off_t>(request_.body.size());
  return set(easy, CURLOPT_POST, 1L) && set(easy, CURLOPT_POSTFIELDSIZE_LARGE, size) &&
         set(easy, CURLOPT_POSTFIELDS, request_.body.c_str());
}

bool HttpTransfer::begin(HttpClientRequest request, HttpDone done) {
  request_ = std::move(request);
  done_ = std::move(done);
  result_ = HttpClientResult{};
  error_text_[0] = '\0';
  return std::all_of(request_.headers.begin(), request_.headers.end(), is_one_line) &&
         set_request_options();
}

void HttpTransfer::note_kept_connection() {
  curl_socket_t socket = CURL_SOCKET_BAD;
  long local_port = 0;
  const bool known = (curl_easy_getinfo)(easy_.get(), CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK &&
                     (curl_easy_getinfo)(easy_.get(), CURLINFO_LOCAL_PORT, &local_port) == CURLE_OK;
  idle_.end_use(this, known ? socket : CURL_SOCKET_BAD, static_cast<int>(local_port));
}

std::pair<HttpClientResult, HttpDone> HttpTransfer::finish(CURLcode code) {
  long status = 0;
  (void)(curl_easy_getinfo)(easy_.get(), CURLINFO_RESPONSE_CODE, &status);  // cannot fail
  result_.status = static_cast<int>(status);
  if (code == CURLE_OK) {
    ONCEWARD_CHECK(result_.wire_requests > 0, "an answer to a request that was never announced");
    return hand_over(HttpOutcome::complete);
  }
  result_.failure = failure_name(code);
  result_.detail = error_text_[0] != '\0' ? error_text_ : curl_easy_strerror(code);
  // The pre-request callback is the last thing before the first byte. Not called: nothing left.
  // Called: who knows, whatever the code says.
  return hand_over(result_.wire_requests == 0 ? HttpOutcome::not_sent : HttpOutcome::broken);
}

std::pair<HttpClientResult, HttpDone> HttpTransfer::give_up(std::string_view failure) {
  result_.failure = failure;
  result_.detail = "given up by the client";
  return hand_over(result_.wire_requests == 0 ? HttpOutcome::not_sent : HttpOutcome::broken);
}

std::pair<HttpClientResult, HttpDone> HttpTransfer::hand_over(HttpOutcome outcome) {
  result_.outcome = outcome;
  std::pair<HttpClientResult, HttpDone> ended{std::move(result_), std::move(done_)};
  done_ = nullptr;
  request_.may_send = nullptr;  // it may hold what its caller wants freed
  return ended;
}

int HttpTransfer::on_prerequest(void* self, char*, char*, int, int local_port) {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  transfer.idle_.begin_use(self, local_port);
  if (transfer.request_.may_send && !transfer.request_.may_send()) return CURL_PREREQFUNC_ABORT;
  ++transfer.result_.wire_requests;
  return CURL_PREREQFUNC_OK;
}

int HttpTransfer::on_close_socket(void* idle, curl_socket_t socket) {
  static_cast<HttpIdleSockets*>(idle)->forget(socket);
  return ::close(socket);
}

std::size_t HttpTransfer::on_header(char* bytes, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  const std::string_view line(bytes, size * count);
  if (line.starts_with("HTTP/")) transfer.result_.headers.clear();  // an interim answer came before
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return line.size();
  for (const std::string& kept : transfer.options_.kept_headers) {
    if (!equal_ignoring_case(line.substr(0, colon), kept)) continue;
    const auto value = trimmed(line.substr(colon + 1)).substr(0, kept_value_bytes_max);
    if (!transfer.result_.header(kept)) transfer.result_.headers.emplace_back(kept, value);
  }
  return line.size();
}

std::size_t HttpTransfer::on_body(char* bytes, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<HttpTransfer*>(self);
  const std::size_t length = size * count;
  std::string& body = transfer.result_.body;
  if (length > transfer.options_.response_bytes_max - body.size()) return 0;
  body.append(bytes, length);
  return length;
}

}  // namespace onceward::platform
