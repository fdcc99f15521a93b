// The targets of the conformance suite.
#include "tests/provider/conformance/target.hpp"

#include <boost/json/parse.hpp>
#include <cstdio>
#include <cstdlib>
#include <future>

#include <onceward/platform/http_client.hpp>
#include <onceward/provider/simulator/simulator.hpp>

#include "tests/provider/api_client.hpp"

namespace onceward::test {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

std::string to_lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

Headers headers_of(const ConformanceRequest& request, const std::string& secret) {
  Headers headers;
  if (request.authorized) headers.emplace_back("Authorization", "Bearer " + secret);
  if (request.method == "POST") headers.emplace_back("Content-Type", std::string(form_type));
  if (!request.key.empty()) headers.emplace_back("Idempotency-Key", request.key);
  return headers;
}

class InProcessTarget final : public ConformanceTarget {
 public:
  [[nodiscard]] ConformanceReply ask(const ConformanceRequest& request) override {
    const std::size_t mark = request.path.find('?');
    const std::string query =
        mark == std::string::npos ? std::string() : request.path.substr(mark + 1);
    const Answered answered =
        client_.ask({request.method, request.path.substr(0, mark), query,
                     headers_of(request, "sk_test_conformance"), request.form, 1, 1});
    ConformanceReply reply;
    reply.status = answered.wire.arrives_whole() ? answered.status() : 0;
    reply.body = answered.json();
    for (const auto& [name, value] : answered.wire.headers) {
      reply.headers.emplace_back(to_lower(name), value);
    }
    client_.pass(std::chrono::seconds(1));
    return reply;
  }

 private:
  ApiClient client_;
};

class UrlTarget : public ConformanceTarget {
 public:
  UrlTarget(std::string url, std::string secret)
      : url_(std::move(url)), secret_(std::move(secret)) {
    while (!url_.empty() && url_.back() == '/') url_.pop_back();
    platform::HttpClientOptions options;
    options.kept_headers = {"idempotent-replayed", "request-id", "original-request", "date",
                            "stripe-should-retry"};
    client_ = platform::HttpClient::start(std::move(options)).value();
  }

  [[nodiscard]] ConformanceReply ask(const ConformanceRequest& request) override {
    platform::HttpClientRequest wire;
    wire.method = request.method == "POST" ? platform::HttpMethod::post : platform::HttpMethod::get;
    wire.url = url_ + request.path;
    for (const auto& [name, value] : headers_of(request, secret_)) {
      if (name != "Content-Type") wire.headers.push_back(name + ": " + value);
    }
    wire.body = request.form;
    std::promise<platform::HttpClientResult> done;
    client_->send(std::move(wire),
                  [&](platform::HttpClientResult&& result) { done.set_value(std::move(result)); });
    const platform::HttpClientResult result = done.get_future().get();
    ConformanceReply reply;
    if (result.outcome == platform::HttpOutcome::complete) reply.status = result.status;
    if (reply.status == 0) {
      std::fprintf(stderr, "%s %s: %s\n", request.method.c_str(), request.path.c_str(),
                   result.detail.c_str());
    }
    reply.body = parse_json(result.body);
    reply.headers = result.headers;
    return reply;
  }

 private:
  std::string url_;
  const std::string secret_;
  std::unique_ptr<platform::HttpClient> client_;
};

class SocketTarget final : public ConformanceTarget {
 public:
  explicit SocketTarget(std::unique_ptr<sim::Simulator> simulator)
      : simulator_(std::move(simulator)), url_(simulator_->url(), "sk_test_conformance") {}
  [[nodiscard]] ConformanceReply ask(const ConformanceRequest& request) override {
    return url_.ask(request);
  }

 private:
  std::unique_ptr<sim::Simulator> simulator_;
  UrlTarget url_;
};

}  // namespace

std::string ConformanceReply::at(std::string_view path) const {
  return test::at(body, path);
}

std::string ConformanceReply::header(std::string_view name) const {
  for (const auto& [known, value] : headers) {
    if (known == name) return value;
  }
  return {};
}

std::vector<std::string> conformance_target_names() {
  std::vector<std::string> names = {"in_process", "socket"};
  if (!variable(conformance_url_variable, "").empty()) names.emplace_back("url");
  return names;
}

std::unique_ptr<ConformanceTarget> make_conformance_target(const std::string& name) {
  if (name == "in_process") return std::make_unique<InProcessTarget>();
  if (name == "url") {
    return std::make_unique<UrlTarget>(variable(conformance_url_variable, ""),
                                       variable(conformance_key_variable, "sk_test_conformance"));
  }
  auto simulator = sim::Simulator::start({});
  if (!simulator) {
    std::fprintf(stderr, "no simulator: %s\n", simulator.error().context.c_str());
    return nullptr;
  }
  return std::make_unique<SocketTarget>(*std::move(simulator));
}

}  // namespace onceward::test
