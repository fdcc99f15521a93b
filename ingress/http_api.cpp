// Owns what the routes share and gives every answer its Date.
#include <onceward/ingress/http_api.hpp>

#include "ingress/http/header_values.hpp"
#include "ingress/http/router.hpp"

namespace onceward::ingress {

namespace {

/// Two alarms for each request inside at most, and the watches of GETs beside them.
constexpr std::size_t alarms_max = 65'536;
/// Plans and reports that wait for each other; each holds its body in memory.
constexpr std::size_t slow_waiting_max = 16;

}  // namespace

class HttpApi::Impl {
 public:
  Impl(HttpApiOptions options, const HttpApiPorts& ports, std::unique_ptr<ReadPool> readers,
       std::unique_ptr<ReadPool> slow_readers)
      : tokens(std::move(options.tokens)),
        webhook_secrets(std::move(options.webhook_secrets)),
        keys(options.requests_max),
        alarms(ports.clock, alarms_max),
        reader_pool(std::move(readers)),
        slow_pool(std::move(slow_readers)),
        services{ports,
                 *reader_pool,
                 *slow_pool,
                 alarms,
                 keys,
                 under_way,
                 webhook_secrets,
                 options.acceptance_max.count(),
                 options.mode,
                 options.ns,
                 {.action_required_ms = options.action_required_max.count(),
                  .processing_ms = options.processing_max.count(),
                  .unresolved_ms = options.unresolved_max.count()}} {}

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  /// Alarms post to the readers and readers set alarms: the thread that starts things ends first,
  /// but its object outlives the readers.
  ~Impl() { alarms.stop(); }

  const std::vector<Token> tokens;
  const WebhookSecrets webhook_secrets;
  CallerKeys keys;
  CommandsUnderWay under_way;
  Alarms alarms;
  std::unique_ptr<ReadPool> reader_pool;
  std::unique_ptr<ReadPool> slow_pool;
  Services services;
};

Result<std::unique_ptr<HttpApi>> HttpApi::start(HttpApiOptions options, const HttpApiPorts& ports) {
  auto pool = ReadPool::start(ports.journal, {.threads = options.reader_threads});
  if (!pool) return Unexpected{std::move(pool).error()};
  auto slow_pool = ReadPool::start(ports.journal, {.threads = 1, .waiting_max = slow_waiting_max});
  if (!slow_pool) return Unexpected{std::move(slow_pool).error()};
  auto impl =
      std::make_unique<Impl>(std::move(options), ports, std::move(*pool), std::move(*slow_pool));
  return std::unique_ptr<HttpApi>(new HttpApi(std::move(impl)));
}

HttpApi::HttpApi(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpApi::~HttpApi() = default;

void HttpApi::handle(platform::HttpRequest request, Answer answer) {
  const auto date = http_date(impl_->services.now().wall);
  route(impl_->services, impl_->tokens, api_routes(), std::move(request),
        [date, answer = std::move(answer)](platform::HttpResponse response) {
          add_header(response, "Date", date);
          answer(std::move(response));
        });
}

platform::HttpHandler HttpApi::handler() {
  return [this](platform::HttpRequest request, platform::HttpResponder responder) {
    // Shared only because an Answer must be copyable; it is called once.
    auto shared = std::make_shared<platform::HttpResponder>(std::move(responder));
    handle(std::move(request),
           [shared](platform::HttpResponse response) { shared->answer(std::move(response)); });
  };
}

}  // namespace onceward::ingress
