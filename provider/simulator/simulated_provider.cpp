// The public face of the request pipeline.
#include <onceward/provider/simulator/simulated_provider.hpp>

#include <algorithm>
#include <utility>

#include "provider/simulator/request_pipeline.hpp"
#include "provider/simulator/webhook_registration.hpp"

namespace onceward::provider::simulator {

class SimulatedProvider::Impl : public RequestPipeline {
 public:
  using RequestPipeline::RequestPipeline;
};

SimulatedProvider::SimulatedProvider(SimulatorSettings settings)
    : impl_(std::make_unique<Impl>(settings)) {}
SimulatedProvider::~SimulatedProvider() = default;

RequestNr SimulatedProvider::receive(const WireRequest& request, Timestamp now) {
  return impl_->receive(request, now);
}

void SimulatedProvider::advance(Timestamp now) {
  impl_->advance(now);
}

std::optional<Timestamp> SimulatedProvider::next_due() const {
  if (impl_->waiting.empty()) return std::nullopt;
  return impl_->waiting.begin()->first.first;
}

std::vector<FinishedRequest> SimulatedProvider::take_finished() {
  return std::exchange(impl_->finished, {});
}

std::vector<StoredRow> SimulatedProvider::take_changes() {
  return impl_->state.take_changes();
}

Result<Unit> SimulatedProvider::restore(const std::vector<StoredRow>& rows) {
  return impl_->state.restore(rows);
}

Result<Unit> SimulatedProvider::set_faults(std::string_view json) {
  return impl_->state.set_faults(json);
}

void SimulatedProvider::clear_faults() {
  impl_->state.faults.replace({});
}

void SimulatedProvider::expire_keys() {
  impl_->state.keys.expire("");
}

void SimulatedProvider::advance_clock(std::chrono::milliseconds by) {
  impl_->state.clock.advance(by);
  impl_->state.clock_changed = true;
  impl_->state.settle();
}

Result<Unit> SimulatedProvider::set_chaos(ChaosSettings settings) {
  return impl_->state.chaos.start(std::move(settings));
}

std::map<std::string, std::uint64_t> SimulatedProvider::chaos_drawn() const {
  return impl_->state.chaos.drawn();
}

WireAnswer SimulatedProvider::control(const std::string& method, const std::string& path,
                                      const std::string& body) {
  const std::size_t query = path.find('?');
  WireRequest request{method, path.substr(0, query), "", {}, body, 0, 0};
  if (query != std::string::npos) request.query = path.substr(query + 1);
  return impl_->control(request);
}

Result<WebhookRegistration> SimulatedProvider::add_webhook_endpoint(NewWebhookEndpoint endpoint) {
  return register_webhook(impl_->state, std::move(endpoint));
}

Result<WebhookRegistration> SimulatedProvider::roll_webhook_secret(
    const std::string& id, std::string secret, std::chrono::milliseconds keep_old_for) {
  return roll_webhook(impl_->state, id, std::move(secret), keep_old_for);
}

std::vector<WebhookCall> SimulatedProvider::take_webhooks(std::size_t max) {
  std::vector<WebhookCall> calls;
  const VirtualClock& clock = impl_->state.clock;
  while (calls.size() < max) {
    auto call = impl_->state.webhooks.take(clock.now(), clock.driver());
    if (!call) break;
    calls.push_back(*std::move(call));
  }
  return calls;
}

void SimulatedProvider::webhook_answered(std::uint64_t nr, std::optional<int> status) {
  impl_->webhook_answered(nr, status);
}

std::size_t SimulatedProvider::deliver_webhooks(const WebhookSink& sink) {
  std::size_t delivered = 0;
  // One at a time: what the receiver does may bring more, or change the clock.
  for (auto calls = take_webhooks(1); !calls.empty(); calls = take_webhooks(1)) {
    webhook_answered(calls[0].nr, sink(calls[0]));
    ++delivered;
  }
  return delivered;
}

std::optional<Timestamp> SimulatedProvider::next_wake() const {
  std::optional<Timestamp> next = next_due();
  const VirtualClock& clock = impl_->state.clock;
  const auto consider = [&](std::optional<Timestamp> at) {
    if (!at) return;
    // A frozen clock brings nothing by itself; what it has brought already is due at once.
    if (clock.frozen() && *at > clock.now()) return;
    const Timestamp driver_at = clock.driver().plus(
        std::chrono::milliseconds(std::max<std::int64_t>(0, at->ms - clock.now().ms)));
    next = next ? std::min(*next, driver_at) : driver_at;
  };
  consider(impl_->state.webhooks.next_due());
  consider(impl_->state.next_settlement());
  return next;
}

Timestamp SimulatedProvider::provider_time() const {
  return impl_->state.clock.now();
}

const Ledger& SimulatedProvider::ledger() const {
  return impl_->state.ledger;
}

std::vector<WireTraceRow> SimulatedProvider::trace() const {
  const auto& rows = impl_->state.trace.rows();
  return {rows.begin(), rows.end()};
}

}  // namespace onceward::provider::simulator
