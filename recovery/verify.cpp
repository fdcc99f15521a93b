// Folds every customer's history and compares rows and caps with it.
#include <onceward/recovery/verify.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <onceward/billing/billing_events.hpp>

namespace onceward::recovery {

namespace {

constexpr std::size_t batch_max = 500;

struct Bucket {
  std::int64_t reserved = 0;
  std::int64_t settled = 0;
};
using Buckets = std::map<std::pair<std::string, std::string>, Bucket>;  // (period, currency)

class Verifier {
 public:
  Verifier(journal::JournalReader& reader, const std::function<void(std::uint64_t)>& progress)
      : reader_(reader), progress_(progress), codec_(billing::billing_event_codec()) {}

  Result<VerifyReport> run();
  std::vector<Difference> run_one(const PersistenceId& id);

 private:
  Result<std::vector<PersistenceId>> customers();
  void fold_batch(std::span<const PersistenceId> ids);
  void compare_rows(const billing::BillingState& state);
  void compare_refunds(const billing::BillingState& state);
  Result<Unit> count_refunds();
  void add_to_buckets(const billing::BillingState& state);
  Result<Unit> compare_caps();
  void differ(std::string where, std::string what);

  journal::JournalReader& reader_;
  const std::function<void(std::uint64_t)>& progress_;
  EventCodec<billing::BillingEvent> codec_;
  VerifyReport report_;
  Buckets buckets_;
  std::set<BillingPeriod> periods_;
};

void Verifier::differ(std::string where, std::string what) {
  if (report_.differences.size() > differences_max) return;
  if (report_.differences.size() == differences_max) {
    report_.differences.push_back({"verify", "more differences than are listed"});
    return;
  }
  report_.differences.push_back({std::move(where), std::move(what)});
}

Result<std::vector<PersistenceId>> Verifier::customers() {
  std::set<PersistenceId> seen;
  auto scanned = reader_.scan(0, [&](std::uint64_t, const PersistenceId& id, StoredEvent&&) {
    ++report_.events;
    if (customer_of(id)) seen.insert(id);
    return true;
  });
  if (!scanned) return Unexpected{std::move(scanned).error()};
  return std::vector<PersistenceId>(seen.begin(), seen.end());
}

void Verifier::fold_batch(std::span<const PersistenceId> ids) {
  std::map<PersistenceId, billing::BillingState> states;
  std::map<PersistenceId, std::string> broken;
  for (const auto& id : ids) states[id].customer = *customer_of(id);
  reader_.replay_many(
      ids,
      [&](const PersistenceId& id, StoredEvent&& stored) {
        if (broken.contains(id)) return true;
        auto event = codec_.decode(stored.event);
        auto folded = event ? billing::evolve_obligation(states[id], *event)
                            : Result<Unit>(Unexpected{event.error()});
        if (!folded) {
          broken[id] =
              "event " + std::to_string(stored.sequence_nr.value) + ": " + folded.error().context;
        }
        return true;
      },
      [&](const PersistenceId& id, Result<journal::HistoryEnd> end) {
        if (!end) broken[id] = end.error().context;
      });
  for (const auto& id : ids) {
    ++report_.entities;
    const auto found = broken.find(id);
    if (found != broken.end()) {
      differ(id.value(), found->second);
      continue;
    }
    compare_rows(states[id]);
    compare_refunds(states[id]);
    add_to_buckets(states[id]);
  }
  if (progress_) progress_(report_.entities);
}

void Verifier::compare_rows(const billing::BillingState& state) {
  auto rows = reader_.rows_of(state.customer);
  if (!rows) return differ(state.customer.value(), rows.error().context);
  report_.rows += rows->size();
  std::map<ObligationKey, ObligationRow> stored;
  for (auto& row : *rows) stored.emplace(row.key, std::move(row));
  for (const auto& [of, obligation] : state.obligations) {
    const ObligationRow expected = row_of(state.customer, of, obligation);
    const auto found = stored.find(expected.key);
    if (found == stored.end()) {
      differ(to_display(expected.key), "its row is missing");
      continue;
    }
    if (found->second != expected) {
      differ(to_display(expected.key),
             "row says " + std::string(to_text(found->second.status)) + " " +
                 to_display(found->second.amount) + ", the events say " +
                 std::string(to_text(expected.status)) + " " + to_display(expected.amount));
    }
    stored.erase(found);
  }
  for (const auto& [key, row] : stored) differ(to_display(key), "row without events");
}

void Verifier::compare_refunds(const billing::BillingState& state) {
  auto rows = reader_.refunds_of(state.customer);
  if (!rows) return differ(state.customer.value(), rows.error().context);
  report_.refunds += rows->size();
  std::map<std::pair<ObligationKey, std::uint32_t>, RefundRow> stored;
  for (auto& row : *rows) stored.emplace(std::pair(row.obligation, row.number), std::move(row));
  for (const auto& [of, obligation] : state.obligations) {
    const ObligationKey key{state.customer, of.period, of.purpose};
    for (const auto& refund : obligation.refunds) {
      const RefundRow expected = refund_row_of(key, refund);
      const std::string where = to_display(key) + " refund " + std::to_string(refund.number);
      const auto found = stored.find({key, refund.number});
      if (found == stored.end()) {
        differ(where, "its row is missing");
        continue;
      }
      if (found->second != expected) {
        differ(where, "row says " + std::string(to_text(found->second.status)) + " " +
                          to_display(found->second.amount) + ", the events say " +
                          std::string(to_text(expected.status)) + " " +
                          to_display(expected.amount));
      }
      stored.erase(found);
    }
  }
  for (const auto& [key, row] : stored) {
    differ(to_display(key.first) + " refund " + std::to_string(key.second), "row without events");
  }
}

// Rows of customers that have no history at all.
Result<Unit> Verifier::count_refunds() {
  std::uint64_t rows = 0;
  journal::RefundQuery query;
  query.limit = batch_max;
  for (;;) {
    auto page = reader_.refunds(query);
    if (!page) return Unexpected{std::move(page).error()};
    rows += page->size();
    if (page->size() < batch_max) break;
    query.after = page->back().obligation;
    query.after_number = page->back().number;
  }
  if (rows > report_.refunds) {
    differ("refunds",
           std::to_string(rows - report_.refunds) + " rows belong to customers without events");
  }
  return ok();
}

void Verifier::add_to_buckets(const billing::BillingState& state) {
  for (const auto& [of, obligation] : state.obligations) {
    periods_.insert(of.period);
    auto& bucket = buckets_[{of.period.text(), std::string(obligation.amount.currency.text())}];
    // What was paid elsewhere settles nothing.
    if (obligation.status == ObligationStatus::completed && !obligation.charge_id.empty()) {
      bucket.settled += obligation.amount.minor;
    } else if (holds_reservation(obligation)) {
      bucket.reserved += obligation.amount.minor;
    }
  }
}

Result<Unit> Verifier::compare_caps() {
  for (const auto& period : periods_) {
    auto uses = reader_.cap_use(period);
    if (!uses) return Unexpected{std::move(uses).error()};
    for (const auto& use : *uses) {
      if (!use.customer.value().empty()) continue;
      const auto key = std::make_pair(period.text(), std::string(use.currency.text()));
      const Bucket expected = buckets_[key];
      if (use.reserved_minor != expected.reserved || use.settled_minor != expected.settled) {
        differ("cap " + key.first + " " + key.second,
               "ledger says reserved " + std::to_string(use.reserved_minor) + " settled " +
                   std::to_string(use.settled_minor) + ", the events say " +
                   std::to_string(expected.reserved) + " and " + std::to_string(expected.settled));
      }
      buckets_.erase(key);
    }
  }
  for (const auto& [key, bucket] : buckets_) {
    if (bucket.reserved != 0 || bucket.settled != 0) {
      differ("cap " + key.first + " " + key.second, "the ledger holds no such bucket");
    }
  }
  return ok();
}

Result<VerifyReport> Verifier::run() {
  auto ids = customers();
  if (!ids) return Unexpected{std::move(ids).error()};
  for (std::size_t from = 0; from < ids->size(); from += batch_max) {
    const std::size_t count = std::min(batch_max, ids->size() - from);
    fold_batch(std::span(*ids).subspan(from, count));
  }
  auto compared = compare_caps();
  if (!compared) return Unexpected{std::move(compared).error()};
  auto counted = count_refunds();
  if (!counted) return Unexpected{std::move(counted).error()};
  auto stats = reader_.stats();
  if (!stats) return Unexpected{std::move(stats).error()};
  if (stats->obligations > report_.rows) {
    differ("obligations", std::to_string(stats->obligations - report_.rows) +
                              " rows belong to customers without events");
  }
  return std::move(report_);
}

std::vector<Difference> Verifier::run_one(const PersistenceId& id) {
  if (customer_of(id)) {
    fold_batch(std::span(&id, 1));
  } else {
    const auto all = [](const PersistenceId&, StoredEvent&&) { return true; };
    if (auto end = reader_.replay(id, {}, all); !end) differ(id.value(), end.error().context);
  }
  return std::move(report_.differences);
}

}  // namespace

std::vector<Difference> verify_entity(journal::JournalReader& reader, const PersistenceId& id) {
  return Verifier(reader, nullptr).run_one(id);
}

bool holds_reservation(const billing::ObligationState& obligation) {
  return obligation.reserved;
}

Result<VerifyReport> verify(journal::JournalReader& reader,
                            const std::function<void(std::uint64_t)>& progress) {
  return Verifier(reader, progress).run();
}

}  // namespace onceward::recovery
