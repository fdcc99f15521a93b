// StripeProvider: permits, time and credentials under one lock; the calls themselves on the thread
// of the HTTP client.
#include <onceward/provider/stripe_provider.hpp>

#include <onceward/platform/http_client.hpp>
#include <onceward/platform/system_clock.hpp>

#include "provider/permit_queue.hpp"
#include "provider/stripe/call_state.hpp"
#include "provider/stripe/options_check.hpp"
#include "provider/stripe/provider_time.hpp"

#include <algorithm>
#include <mutex>

namespace onceward::provider {

using platform::HttpClient;
using platform::HttpClientResult;
using stripe::CallState;

namespace {

/// Answers that the provider gives only after it has accepted our credentials.
bool proves_credentials(Observation observation) noexcept {
  switch (observation) {
    case Observation::object:
    case Observation::declined:
    case Observation::invalid_request:
    case Observation::unexpected_state:
    case Observation::key_mismatch:
    case Observation::not_found:
    case Observation::key_in_use:
    case Observation::lock_timeout:
      return true;
    case Observation::unauthorized:
    case Observation::rate_limited:
    case Observation::other_client_error:
    case Observation::server_error:
    case Observation::gateway_error:
    case Observation::redirect:
    case Observation::bad_body:
    case Observation::not_sent:
    case Observation::broken:
      return false;
  }
  return false;
}

/// Whether it was the provider who answered, and not nobody or somebody else.
bool is_providers_answer(Observation observation) noexcept {
  switch (observation) {
    case Observation::gateway_error:
    case Observation::redirect:
    case Observation::bad_body:
    case Observation::not_sent:
    case Observation::broken:
      return false;
    case Observation::object:
    case Observation::declined:
    case Observation::invalid_request:
    case Observation::unexpected_state:
    case Observation::key_mismatch:
    case Observation::not_found:
    case Observation::key_in_use:
    case Observation::lock_timeout:
    case Observation::unauthorized:
    case Observation::rate_limited:
    case Observation::other_client_error:
    case Observation::server_error:
      return true;
  }
  return false;
}

platform::HttpClientOptions client_options(const StripeProviderOptions& options) {
  platform::HttpClientOptions client;
  client.connections_max = options.max_in_flight;
  // Permits let no more calls in than there are connections; only start() may have to wait.
  client.waiting_max = options.max_in_flight + 1;
  client.connect_timeout = options.connect_timeout;
  client.ca_file = options.ca_file;
  client.common_headers = {
      std::string("Authorization: Bearer ").append(options.secret_key.reveal()),
      "Stripe-Version: " + options.stripe_version,
      "User-Agent: onceward",
      "Accept: application/json",
  };
  for (const auto name : {stripe::header_date, stripe::header_retry_after, stripe::header_replayed,
                          stripe::header_key, stripe::header_request_id}) {
    client.kept_headers.emplace_back(name);
  }
  return client;
}

PermitQueueOptions permit_options(const StripeProviderOptions& options) {
  PermitQueueOptions permits;
  permits.in_flight_max = options.max_in_flight;
  permits.rate_per_second = options.rate_per_second;
  permits.probe_interval_ms = options.probe_interval.count();
  return permits;
}

}  // namespace

class StripeProvider::Impl {
 public:
  explicit Impl(StripeProviderOptions options)
      : options_(std::move(options)),
        boottime_ms_(options_.boottime_ms ? options_.boottime_ms : &platform::boottime_ms),
        permits_(permit_options(options_), boottime_ms_()) {}

  Result<Unit> open();
  void start();
  bool try_acquire();
  void acquire(PermitSink granted);
  void release();
  void call(ExternalRequest request, AnswerSink sink);
  std::optional<Timestamp> provider_now() const;
  ProviderStats stats() const;
  void stop(std::int64_t grace_ms);

 private:
  /// Shared by the callbacks of one call; the last of them drops it.
  struct Call {
    CallState state;
    AnswerSink sink;
  };
  using CallPtr = std::shared_ptr<Call>;

  void send(const CallPtr& call);
  void take(const CallPtr& call, const HttpClientResult& result);
  void answer_unsent(CallPtr call, Observation observation, std::string_view code,
                     std::string_view message);
  void deliver(Call& call, ExternalAnswer&& answer);
  void note_time(const HttpClientResult& result);
  void note_credentials(Observation observation, std::string_view message);
  void note_reach(const ExternalAnswer& answer);
  void grant_permits();

  // --- const after construction ---
  const StripeProviderOptions options_;
  const std::function<std::int64_t()> boottime_ms_;

  // --- guarded by mutex_, which is never held over a call out of this class ---
  mutable std::mutex mutex_;
  PermitQueue permits_;
  stripe::ProviderTime time_;
  std::string unreachable_reason_;
  std::uint64_t calls_ = 0;
  std::uint64_t wire_requests_ = 0;
  std::optional<std::int64_t> timer_at_ms_;

  // --- client's thread only ---
  stripe::AnswerParser parser_;

  // Last: its thread uses all of the above until it is joined.
  std::unique_ptr<HttpClient> client_;
};

Result<Unit> StripeProvider::Impl::open() {
  auto client = HttpClient::start(client_options(options_));
  if (!client) return Unexpected{client.error()};
  client_ = std::move(client).value();
  return ok();
}

void StripeProvider::Impl::start() {
  // Any answer brings the time. This request needs a right that the key must have anyhow.
  ExternalRequest request;
  request.operation = Operation::list_intents;
  request.params = {{"limit", "1"}};
  auto state = std::make_shared<CallState>(std::move(request));
  auto http = state->next_request(options_.base_url);
  http.timeout = options_.timeout;
  client_->send(std::move(http), [this, state](HttpClientResult&& result) {
    note_time(result);
    const auto answer = state->take(result, parser_);
    // Absent: a good page with more behind it.
    note_credentials(answer ? answer->observation : Observation::object,
                     answer ? answer->message : std::string());
    if (answer) note_reach(*answer);
    {
      const std::lock_guard lock(mutex_);
      wire_requests_ += result.wire_requests;
    }
    grant_permits();
  });
}

bool StripeProvider::Impl::try_acquire() {
  const std::lock_guard lock(mutex_);
  return permits_.try_take(boottime_ms_());
}

void StripeProvider::Impl::acquire(PermitSink granted) {
  {
    const std::lock_guard lock(mutex_);
    permits_.wait(std::move(granted));
  }
  grant_permits();
}

void StripeProvider::Impl::release() {
  {
    const std::lock_guard lock(mutex_);
    permits_.give_back_unused(boottime_ms_());
  }
  grant_permits();
}

void StripeProvider::Impl::grant_permits() {
  std::vector<PermitSink> granted;
  std::optional<std::chrono::milliseconds> delay;
  {
    const std::lock_guard lock(mutex_);
    const std::int64_t now = boottime_ms_();
    granted = permits_.take_grants(now);
    const auto next = permits_.next_grant_at_ms(now);
    if (next && (!timer_at_ms_ || *next < *timer_at_ms_)) {
      timer_at_ms_ = next;
      delay = std::chrono::milliseconds(std::max<std::int64_t>(1, *next - now));
    }
  }
  for (const PermitSink& sink : granted) sink();
  if (!delay) return;
  // Dropped by a stopped client: then nothing is granted any more.
  (void)client_->call_after(*delay, [this] {
    {
      const std::lock_guard lock(mutex_);
      timer_at_ms_.reset();
    }
    grant_permits();
  });
}

void StripeProvider::Impl::call(ExternalRequest request, AnswerSink sink) {
  ONCEWARD_CHECK(is_look_up(request.operation) || !request.key.value().empty(),
                 "a POST without idempotency key");
  const bool expired = boottime_ms_() > request.not_after_boottime_ms;
  auto call = std::make_shared<Call>(Call{CallState(std::move(request)), std::move(sink)});
  {
    const std::lock_guard lock(mutex_);
    ++calls_;
  }
  const auto unsendable = call->state.unsendable();
  if (!unsendable.empty()) {
    answer_unsent(std::move(call), Observation::invalid_request, "unsendable", unsendable);
  } else if (expired) {
    answer_unsent(std::move(call), Observation::not_sent, "expired",
                  "the request's last moment to be sent has passed");
  } else {
    send(call);
  }
}

void StripeProvider::Impl::answer_unsent(CallPtr call, Observation observation,
                                         std::string_view code, std::string_view message) {
  auto task = [this, call, observation, code, message] {
    deliver(*call, call->state.unsent_answer(observation, code, message));
  };
  if (!client_->call_after(std::chrono::milliseconds{0}, task)) task();
}

void StripeProvider::Impl::send(const CallPtr& call) {
  auto http = call->state.next_request(options_.base_url);
  http.timeout = options_.timeout;
  http.may_send = [this, not_after = call->state.request().not_after_boottime_ms] {
    return boottime_ms_() <= not_after;
  };
  client_->send(std::move(http), [this, call](HttpClientResult&& result) { take(call, result); });
}

void StripeProvider::Impl::take(const CallPtr& call, const HttpClientResult& result) {
  note_time(result);
  auto answer = call->state.take(result, parser_);
  if (!answer) {
    send(call);
    return;
  }
  if (answer->code == "not_allowed") answer->code = "expired";  // by may_send, see send()
  note_credentials(answer->observation, answer->message);
  note_reach(*answer);
  deliver(*call, *std::move(answer));
}

void StripeProvider::Impl::deliver(Call& call, ExternalAnswer&& answer) {
  answer.message = stripe::clean_message(answer.message, options_.secret_key.reveal());
  {
    const std::lock_guard lock(mutex_);
    wire_requests_ += call.state.wire_requests();
    permits_.end_call(call.state.wire_requests());
  }
  call.sink(std::move(answer));
  grant_permits();
}

void StripeProvider::Impl::note_time(const HttpClientResult& result) {
  if (result.outcome != platform::HttpOutcome::complete) return;
  const auto header = result.header(stripe::header_date);
  if (!header) return;
  const auto date = stripe::parse_http_date(*header);
  if (!date) return;
  const std::lock_guard lock(mutex_);
  time_.saw(*date, boottime_ms_());
}

void StripeProvider::Impl::note_credentials(Observation observation, std::string_view message) {
  const std::lock_guard lock(mutex_);
  if (observation == Observation::unauthorized) {
    permits_.pause(stripe::clean_message(message, options_.secret_key.reveal()), boottime_ms_());
  } else if (proves_credentials(observation)) {
    permits_.resume();
  }
}

void StripeProvider::Impl::note_reach(const ExternalAnswer& answer) {
  // Ours, not the provider's: the request was too old, or the node is stopping.
  if (answer.code == "expired" || answer.code == "stopped") return;
  std::string reason;
  if (!is_providers_answer(answer.observation)) {
    reason = stripe::clean_message(answer.message, options_.secret_key.reveal());
    if (reason.empty()) reason = to_text(answer.observation);
  }
  const std::lock_guard lock(mutex_);
  unreachable_reason_ = std::move(reason);
}

std::optional<Timestamp> StripeProvider::Impl::provider_now() const {
  const std::lock_guard lock(mutex_);
  return time_.now(boottime_ms_());
}

ProviderStats StripeProvider::Impl::stats() const {
  const std::lock_guard lock(mutex_);
  ProviderStats stats;
  stats.calls = calls_;
  stats.wire_requests = wire_requests_;
  stats.in_flight = permits_.in_flight();
  stats.waiting_for_permit = permits_.waiting();
  stats.paused_reason = permits_.paused_reason();
  stats.unreachable_reason = unreachable_reason_;
  return stats;
}

void StripeProvider::Impl::stop(std::int64_t grace_ms) {
  {
    const std::lock_guard lock(mutex_);
    permits_.close();
  }
  client_->stop(std::chrono::milliseconds(std::max<std::int64_t>(0, grace_ms)));
}

Result<std::unique_ptr<StripeProvider>> StripeProvider::create(StripeProviderOptions options) {
  auto checked = stripe::check_options(std::move(options));
  if (!checked) return Unexpected{checked.error()};
  auto impl = std::make_unique<Impl>(std::move(checked).value());
  auto opened = impl->open();
  if (!opened) return Unexpected{opened.error()};
  return std::unique_ptr<StripeProvider>(new StripeProvider(std::move(impl)));
}

StripeProvider::StripeProvider(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StripeProvider::~StripeProvider() = default;

void StripeProvider::start() {
  impl_->start();
}
bool StripeProvider::try_acquire() {
  return impl_->try_acquire();
}
void StripeProvider::acquire(PermitSink granted) {
  impl_->acquire(std::move(granted));
}
void StripeProvider::release() {
  impl_->release();
}
void StripeProvider::call(ExternalRequest request, AnswerSink answer) {
  impl_->call(std::move(request), std::move(answer));
}
std::optional<Timestamp> StripeProvider::provider_now() const {
  return impl_->provider_now();
}
ProviderStats StripeProvider::stats() const {
  return impl_->stats();
}
void StripeProvider::stop(std::int64_t grace_ms) {
  impl_->stop(grace_ms);
}

}  // namespace onceward::provider
