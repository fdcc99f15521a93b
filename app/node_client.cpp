// One request and its answer over the HTTP client, made synchronous.
#include "app/node_client.hpp"

#include <future>

#include "app/config/config_check.hpp"
#include "app/config/config_load.hpp"
#include "app/config/secrets.hpp"

namespace onceward::app {

namespace {

constexpr std::string_view url_default = "http://127.0.0.1:8080";
constexpr std::size_t answer_bytes_max = 64 * 1024 * 1024;

Result<std::string> node_url(const Source& source) {
  if (!source.node_url.empty()) {
    const auto parsed = parse_base_url(source.node_url);
    if (!parsed || (parsed->scheme != "http" && parsed->scheme != "https")) {
      return fail(ErrorCode::invalid_config,
                  "--node must be a URL such as " + std::string(url_default));
    }
    std::string url = source.node_url;
    while (url.back() == '/') url.pop_back();
    return url;
  }
  if (source.config_file.empty()) return std::string(url_default);
  ConfigSources sources;
  sources.file = source.config_file;
  sources.environment = config_environment();
  auto loaded = load_config(sources);
  if (!loaded) return Unexpected{std::move(loaded).error()};
  return "http://" + loaded->config.http.listen;
}

Error lost(const std::string& url, const platform::HttpClientResult& result) {
  if (result.outcome == platform::HttpOutcome::not_sent) {
    return {ErrorCode::unreachable, "the node " + url + " cannot be reached (" + result.detail +
                                        "); start it with `onceward serve`, or name it by --node"};
  }
  return {ErrorCode::store_uncertain, "the node " + url + " gave no whole answer (" +
                                          result.detail + "); it may have acted: ask again"};
}

}  // namespace

std::string NodeAnswer::text_at(std::string_view member) const {
  const auto* object = body.if_object();
  const auto* value = object == nullptr ? nullptr : object->if_contains(member);
  if (value == nullptr || value->is_null()) return {};
  if (const auto* found = value->if_string()) return {found->data(), found->size()};
  return boost::json::serialize(*value);
}

Result<NodeClient> NodeClient::open(const Source& source) {
  auto url = node_url(source);
  if (!url) return Unexpected{std::move(url).error()};
  std::string token;
  if (!source.token_file.empty()) {
    auto read = read_secret({.what = "the token of --token-file",
                             .file = source.token_file,
                             .credential = "",
                             .credentials_directory = ""});
    if (!read) return Unexpected{std::move(read).error()};
    token = std::move(*read);
  }
  platform::HttpClientOptions options;
  options.connections_max = 1;
  options.response_bytes_max = answer_bytes_max;
  options.connect_timeout = std::chrono::milliseconds{5'000};
  auto http = platform::HttpClient::start(std::move(options));
  if (!http) return Unexpected{std::move(http).error()};
  return NodeClient(std::move(*url), std::move(token), std::move(*http));
}

Result<NodeAnswer> NodeClient::ask(NodeRequest request) {
  platform::HttpClientRequest wire;
  wire.method = request.method;
  wire.url = url_ + request.path;
  wire.headers = std::move(request.headers);
  if (request.method == platform::HttpMethod::post) {
    wire.headers.push_back("Content-Type: " + request.content_type);
  }
  if (!token_.empty()) wire.headers.push_back("Authorization: Bearer " + token_);
  wire.body = std::move(request.body);
  wire.timeout = request.timeout;
  std::promise<platform::HttpClientResult> promise;
  auto answered = promise.get_future();
  http_->send(std::move(wire), [&promise](platform::HttpClientResult&& result) {
    promise.set_value(std::move(result));
  });
  auto result = answered.get();
  if (result.outcome != platform::HttpOutcome::complete) return Unexpected{lost(url_, result)};
  NodeAnswer answer;
  answer.status = result.status;
  boost::json::error_code error;
  answer.body = boost::json::parse(result.body, error);
  if (error) answer.body = nullptr;
  answer.text = std::move(result.body);
  return answer;
}

std::string url_part(std::string_view text) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
    if (is_plain) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += hex[byte >> 4U];
    out += hex[byte & 15U];
  }
  return out;
}

}  // namespace onceward::app
