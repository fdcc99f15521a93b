// One object at a time: whose it is, whether the fold has it, and if not, the events that say so.
#include <onceward/recovery/restored.hpp>

#include <algorithm>
#include <utility>
#include <variant>

#include <onceward/billing/billing_events.hpp>
#include <onceward/billing/billing_state.hpp>

namespace onceward::recovery {

namespace {

using billing::BillingState;
using billing::PeriodPurpose;

constexpr std::string_view alarm_text = "found at the provider after a restore";

std::string member(const ProviderObject& object, std::string_view name) {
  for (const auto& [key, value] : object.metadata) {
    if (key == name) return value;
  }
  return {};
}

bool is_intent(const ProviderObject& object) {
  return object.object == "payment_intent";
}

std::string charge_of(const ProviderObject& object) {
  return is_intent(object) ? object.charge : object.id;
}

/// It may still take money by itself, whoever waits for it.
bool is_unfinished(const ProviderObject& object) {
  return object.status == "processing" || object.status == "requires_action" ||
         object.status == "requires_capture" || object.status == "pending";
}

/// One customer's history, read to its end.
struct History {
  BillingState state;
  journal::HistoryEnd end;
};

class Comparison {
 public:
  Comparison(journal::JournalReader& reader, journal::Journal* journal,
             const RestoredOptions& options)
      : reader_(reader),
        journal_(journal),
        options_(options),
        codec_(billing::billing_event_codec()) {}

  Result<Unit> take(const ProviderObject& object);
  RestoredReport report;

 private:
  Result<History> history(const CustomerId& customer);
  Result<Unit> compare(const ProviderObject& object, const ObligationKey& key);
  Result<Unit> record(const ProviderObject& object, const ObligationKey& key, History history);

  journal::JournalReader& reader_;
  journal::Journal* journal_;
  const RestoredOptions& options_;
  EventCodec<billing::BillingEvent> codec_;
};

Result<History> Comparison::history(const CustomerId& customer) {
  History found;
  found.state.customer = customer;
  std::string broken;
  const auto end = reader_.replay(
      customer_persistence_id(customer), {}, [&](const PersistenceId&, StoredEvent&& stored) {
        const auto event = codec_.decode(stored.event);
        const auto folded = event ? billing::evolve_obligation(found.state, *event)
                                  : Result<Unit>(Unexpected{event.error()});
        if (!folded) broken = folded.error().context;
        return broken.empty();
      });
  if (!end) return Unexpected{end.error()};
  if (!broken.empty()) return fail(ErrorCode::store_corrupt, broken);
  found.end = *end;
  return found;
}

Result<Unit> Comparison::take(const ProviderObject& object) {
  if (member(object, "onceward_namespace") != options_.ns.value()) return ok();
  ++report.ours;
  const auto customer = parse_customer_id(member(object, "onceward_customer"));
  const auto period = BillingPeriod::parse(member(object, "onceward_period"));
  const auto purpose = parse_purpose(member(object, "onceward_purpose"));
  if (!customer || !period || !purpose) {
    report.blocking.push_back({object.id, "its metadata names no obligation"});
    return ok();
  }
  return compare(object, ObligationKey{*customer, *period, *purpose});
}

Result<Unit> Comparison::compare(const ProviderObject& object, const ObligationKey& key) {
  const bool is_paid = object.status == "succeeded" && !charge_of(object).empty();
  if (!is_paid && !is_unfinished(object)) return ok();
  auto read = history(key.customer);
  if (!read) {
    // A damaged history is quarantined when it is woken; its money cannot be recorded.
    if (read.error().code == ErrorCode::store_io) return Unexpected{read.error()};
    report.blocking.push_back({to_display(key), object.id + ": " + read.error().context});
    return ok();
  }
  const auto known = read->state.obligations.find({key.period, key.purpose});
  const bool is_there = known != read->state.obligations.end();
  if (!is_paid) {
    // Of an intent that the store knows, the node reads the outcome before it does anything. Any
    // other one may be of an attempt that the store has forgotten.
    if (is_there && known->second.intent == object.id) return ok();
    report.blocking.push_back(
        {to_display(key), object.id + " is " + object.status +
                              " and unknown to the store: wait for its end, or cancel it"});
    return ok();
  }
  if (is_there && known->second.status == ObligationStatus::completed) {
    if (known->second.charge_id == charge_of(object)) {
      ++report.known;
    } else {
      report.twins.push_back({to_display(key), "paid by " + known->second.charge_id +
                                                   ", the provider also holds " +
                                                   charge_of(object)});
    }
    return ok();
  }
  return record(object, key, std::move(*read));
}

Result<Unit> Comparison::record(const ProviderObject& object, const ObligationKey& key,
                                History history) {
  const PeriodPurpose of{key.period, key.purpose};
  const auto currency = Currency::parse(object.currency);
  if (!currency || object.amount_minor <= 0) {
    report.blocking.push_back({to_display(key), object.id + " has no amount or currency"});
    return ok();
  }
  const Money paid{object.amount_minor, *currency};
  std::vector<billing::BillingEvent> events;
  const bool is_new = !history.state.obligations.contains(of);
  if (is_new) {
    billing::BillingInitiated initiated;
    initiated.of = of;
    initiated.at = options_.now;
    initiated.amount = paid;
    initiated.provider_customer = history.state.provider_customer.value().empty()
                                      ? ProviderCustomer(object.customer)
                                      : history.state.provider_customer;
    initiated.request_id = RequestId("reconcile-" + object.id);
    initiated.next_action_at = options_.now;
    events.emplace_back(std::move(initiated));
  }
  std::string alarm(alarm_text);
  if (!is_new && history.state.obligations.at(of).amount != paid) {
    alarm += ", with " + to_display(paid);
  }
  const std::uint32_t attempt = is_new ? 1 : history.state.obligations.at(of).attempt;
  events.emplace_back(billing::BillingCompleted{of, options_.now, charge_of(object),
                                                is_intent(object) ? object.id : std::string(),
                                                attempt, alarm});
  CommitUnit unit;
  unit.persistence_id = customer_persistence_id(key.customer);
  unit.shard = journal::shard_of(unit.persistence_id, options_.shards);
  unit.writer = options_.writer;
  unit.expected = history.end.last;
  unit.head = history.end.head;
  unit.at = options_.now;
  for (const auto& event : events) {
    if (auto folded = billing::evolve_obligation(history.state, event); !folded) return folded;
    unit.events.push_back(codec_.encode(event));
  }
  const auto& obligation = history.state.obligations.at(of);
  unit.rows.push_back({is_new ? RowWrite::Kind::claim : RowWrite::Kind::update,
                       billing::row_of(key.customer, of, obligation)});
  unit.caps.push_back({CapOp::Kind::settle, key, attempt, obligation.amount, false});
  ++report.recorded;
  report.recordings.push_back({to_display(key), charge_of(object) + ", " + to_display(paid)});
  if (journal_ == nullptr) return ok();
  unit.epoch = journal_->epoch_of(unit.shard);
  const auto answers = journal_->commit({&unit, 1});
  if (std::holds_alternative<Stored>(answers.front())) return ok();
  return fail(ErrorCode::store_uncertain,
              to_display(key) + ": charge " + charge_of(object) +
                  " could not be recorded: the store still refuses to bill; run it again");
}

}  // namespace

Result<RestoredReport> compare_restored(journal::JournalReader& reader, journal::Journal* journal,
                                        std::span<const ProviderObject> objects,
                                        const RestoredOptions& options) {
  Comparison comparison(reader, journal, options);
  for (const ProviderObject& object : objects) {
    if (auto taken = comparison.take(object); !taken) return Unexpected{std::move(taken).error()};
  }
  return std::move(comparison.report);
}

}  // namespace onceward::recovery
