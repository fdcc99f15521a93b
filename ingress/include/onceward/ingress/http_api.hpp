// HttpApi: the node's HTTP API (docs/http-api.md) as a handler of requests: billing, customers,
// runs. It translates, waits and answers; what is decided is decided by the entities.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <onceward/actors/runtime.hpp>
#include <onceward/core/digest.hpp>
#include <onceward/core/ids.hpp>
#include <onceward/ingress/webhook_signature.hpp>
#include <onceward/journal/journal.hpp>
#include <onceward/platform/http_server.hpp>

namespace onceward::ingress {

class RunService;

/// What a token allows: `viewer` reads, `service` also bills, `operator_` does everything.
enum class Role : std::uint8_t { viewer, service, operator_ };

/// A bearer token, known by its hash alone. `name` is the principal: caller keys are scoped by it.
struct Token {
  std::string name;
  Role role = Role::viewer;
  Digest sha256;  ///< of the token's text
};

struct HttpApiOptions {
  /// Empty: nobody is asked, and everybody is one principal. Only for loopback.
  std::vector<Token> tokens;
  /// With `live`, the provider's test payment methods (`pm_card_...`) are refused with 400: they
  /// would be recorded and could never be charged.
  Mode mode = Mode::test;
  /// As in the provider's metadata: events about objects of another namespace have no effect here.
  Namespace ns{};
  /// Of the webhook endpoint; without one, webhooks are answered 503.
  WebhookSecrets webhook_secrets{};
  /// Requests to bill inside the handler at once; one more is answered 503.
  std::size_t requests_max = 20'000;
  std::size_t reader_threads = 2;
  /// A request whose obligation is not visible in the store this long after it was handed over is
  /// answered as unknown, also if the caller would not wait at all.
  std::chrono::milliseconds acceptance_max{10'000};
  /// An obligation that waits for the payer, or for a bank, this long after it was initiated is
  /// shown in attention.
  std::chrono::milliseconds action_required_max{std::chrono::hours{24 * 3}};
  std::chrono::milliseconds processing_max{std::chrono::hours{24 * 10}};
  /// The same for an outcome that is still unknown, or a request that the provider never takes:
  /// as long as it surely remembers a key.
  std::chrono::milliseconds unresolved_max{std::chrono::hours{23}};
};

/// What the API works on; all of it must outlive the HttpApi, but the runtime must have been
/// drained before the HttpApi is destroyed (its answers come here).
struct HttpApiPorts {
  actors::Runtime& runtime;
  journal::Journal& journal;
  const Clock& clock;
  /// Null: the routes of runs are answered 404.
  RunService* runs = nullptr;
  /// Why no new work is taken (starting, draining); absent: it is. Thread-safe, does not block.
  std::function<std::optional<std::string>()> not_ready;
};

/// Thread-safe; handle() does not block. Reads go through readers of its own.
class HttpApi {
 public:
  /// Called exactly once per request, from any thread.
  using Answer = std::function<void(platform::HttpResponse)>;

  /// store_* if a reader cannot be opened.
  [[nodiscard]] static Result<std::unique_ptr<HttpApi>> start(HttpApiOptions options,
                                                              const HttpApiPorts& ports);
  HttpApi(const HttpApi&) = delete;
  HttpApi& operator=(const HttpApi&) = delete;
  /// Ends waits without an answer; no request may be inside.
  ~HttpApi();

  /// Answers every request, also for unknown paths and wrong methods.
  void handle(platform::HttpRequest request, Answer answer);
  /// handle() as a server takes it.
  [[nodiscard]] platform::HttpHandler handler();

 private:
  class Impl;
  explicit HttpApi(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace onceward::ingress
