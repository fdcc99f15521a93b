// HttpTransfer: one easy handle of libcurl with the request it performs now. It owns the options
// that make a request safe, counts what goes on the wire, and judges the result. Used by HttpClient
// only, on its thread.
#pragma once

#include <curl/curl.h>

#include <memory>

#include <onceward/platform/http_client.hpp>

#include "platform/http_idle_sockets.hpp"

namespace onceward::platform {

struct CurlEasyDeleter {
  void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
};
struct CurlMultiDeleter {
  void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
};
using CurlEasy = std::unique_ptr<CURL, CurlEasyDeleter>;
using CurlMulti = std::unique_ptr<CURLM, CurlMultiDeleter>;

/// The list points into `lines`: no copy is made, so neither vector may change while it is in use.
/// `tail` is appended behind the last line.
void link_headers(std::vector<std::string>& lines, curl_slist* tail,
                  std::vector<curl_slist>& nodes);

/// A result for a request that was never started.
[[nodiscard]] HttpClientResult unsent(std::string_view failure, std::string detail);

class HttpTransfer {
 public:
  /// All three must outlive the transfer and its connections. io if libcurl refuses an option.
  [[nodiscard]] static Result<std::unique_ptr<HttpTransfer>> create(
      const HttpClientOptions& options, curl_slist* common_headers, HttpIdleSockets& idle);

  HttpTransfer(const HttpTransfer&) = delete;
  HttpTransfer& operator=(const HttpTransfer&) = delete;

  [[nodiscard]] CURL* easy() const noexcept { return easy_.get(); }

  /// Prepares the handle; the caller adds it to the multi handle if true. False: the request cannot
  /// be put on the wire as it is; give it up.
  [[nodiscard]] bool begin(HttpClientRequest request, HttpDone done);
  /// The transfer has ended but is still in the multi handle: notes the connection if it is kept.
  void note_kept_connection();
  /// After the handle left the multi handle: the result, and the one who waits for it.
  [[nodiscard]] std::pair<HttpClientResult, HttpDone> finish(CURLcode code);
  /// As finish(), for a transfer given up by ourselves.
  [[nodiscard]] std::pair<HttpClientResult, HttpDone> give_up(std::string_view failure);

 private:
  HttpTransfer(const HttpClientOptions& options, curl_slist* common_headers, HttpIdleSockets& idle);
  [[nodiscard]] bool set_constant_options();
  [[nodiscard]] bool set_request_options();
  [[nodiscard]] std::pair<HttpClientResult, HttpDone> hand_over(HttpOutcome outcome);

  static int on_prerequest(void* self, char*, char*, int, int local_port);
  static int on_close_socket(void* idle, curl_socket_t socket);
  static std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* self);

  const HttpClientOptions& options_;
  curl_slist* const common_headers_;
  HttpIdleSockets& idle_;
  CurlEasy easy_;
  HttpClientRequest request_;
  HttpDone done_;
  HttpClientResult result_;
  std::vector<curl_slist> header_nodes_;
  char error_text_[CURL_ERROR_SIZE] = {};
};

}  // namespace onceward::platform
