// A memory journal and a fake provider around one machine; every durable step is a place to die.
#include "tests/support/customer_pump.hpp"

#include <utility>

namespace onceward::testing {

CustomerPump::CustomerPump(const billing::BillingPolicy& policy, CustomerId customer)
    : MachinePump(billing::billing_entity_type(policy), customer_persistence_id(customer),
                  WriterId{"world"}),
      customer_(std::move(customer)) {
  journal_.script([this] { return fate_of_commit(); });
}

std::unique_ptr<journal::JournalReader> CustomerPump::reader() const {
  auto reader = const_cast<journal::MemoryJournal&>(journal_).reader();
  ONCEWARD_CHECK(reader.has_value(), "the memory journal has readers");
  return std::move(*reader);
}

void CustomerPump::start() {
  // A fresh process raises the epoch before it reads; this also resolves an unknown commit.
  const auto raised = journal_.barrier();
  ONCEWARD_CHECK(raised.has_value(), "the memory journal's barrier succeeds");
  recover(*reader(), ShardNr{}, *raised);
}

void CustomerPump::permit_wanted(const output::AcquirePermit& wanted) {
  ++permits_out_;
  inputs_.push_back(input::PermitGranted{wanted.incarnation});
}

void CustomerPump::replied(output::Reply reply) {
  if (dies("before reply")) return;
  told(reply.to, *std::any_cast<billing::BillingReply>(&reply.reply), reply.last);
}

void CustomerPump::commit(output::Commit commit) {
  if (dies("before commit")) return;
  auto answers = journal_.commit({&commit.unit, 1});
  if (!journal_.barrier_pending()) committed(commit.unit);
  if (dies("after commit")) return;
  inputs_.push_back(input::CommitAnswered{commit.incarnation, std::move(answers.front())});
}

void CustomerPump::call(output::Call call) {
  if (dies("before send")) return;
  // What the provider port does: past its not_after nothing is put on the wire.
  const bool is_too_late = now().boottime_ms > call.request.not_after_boottime_ms;
  const Fate fate = is_too_late ? Fate::not_sent : fate_of(call.request);
  ExternalAnswer answer = provider_.handle(call.request, fate, true_now());
  called(call.request, answer);
  if (dies("after provider")) return;
  inputs_.push_back(input::CallAnswered{std::move(answer)});
}

std::optional<ObligationRow> CustomerPump::row(const ObligationKey& key) const {
  if (journal_.barrier_pending()) return std::nullopt;
  auto row = reader()->row(key);
  return row ? *row : std::nullopt;
}

}  // namespace onceward::testing
