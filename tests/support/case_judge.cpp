// The judge of a CaseWorld: what the provider's ledger, its wire log and the store say, and the
// audit that every case ends with.
#include <algorithm>
#include <utility>

#include <onceward/recovery/verify.hpp>

#include "tests/support/case_world.hpp"

namespace onceward::testing {

namespace {

constexpr const char* name_space = "acme-billing";

std::string value_of(const Params& params, const std::string& name) {
  for (const auto& [key, value] : params) {
    if (key == name) return value;
  }
  return {};
}

bool carries(const SentPost& post, const ObligationKey& of) {
  return value_of(post.params, "metadata[onceward_namespace]") == name_space &&
         value_of(post.params, "metadata[onceward_customer]") == of.customer.value() &&
         value_of(post.params, "metadata[onceward_period]") == of.period.text() &&
         value_of(post.params, "metadata[onceward_purpose]") == of.purpose.value();
}

}  // namespace

void CaseWorld::faults(const std::vector<std::string>& rules) {
  std::string json;
  for (const auto& rule : rules) json += (json.empty() ? "{" : ",{") + rule + "}";
  const auto set = port_.provider().set_faults("{\"rules\":[" + json + "]}");
  if (!set) broken_ += "a fault rule is wrong: " + set.error().context + "; ";
}

ObligationKey CaseWorld::key_of(const std::string& customer, const std::string& period,
                                const std::string& purpose) {
  return {CustomerId{customer}, *BillingPeriod::parse(period), Purpose{purpose}};
}

std::optional<ObligationRow> CaseWorld::row(const ObligationKey& key) const {
  const auto row = reader()->row(key);
  return row ? *row : std::nullopt;
}

std::optional<ObligationStatus> CaseWorld::status(const std::string& customer,
                                                  const std::string& period) const {
  const auto found = row(key_of(customer, period));
  return found ? std::optional(found->status) : std::nullopt;
}

std::vector<billing::BillingEvent> CaseWorld::events(const std::string& customer) const {
  std::vector<billing::BillingEvent> events;
  const auto end =
      reader()->replay(customer_persistence_id(CustomerId{customer}), SequenceNr{},
                       [&](const PersistenceId&, StoredEvent&& stored) {
                         auto event = billing::billing_event_codec().decode(stored.event);
                         ONCEWARD_CHECK(event.has_value(), "what was stored can be read");
                         events.push_back(std::move(*event));
                         return true;
                       });
  ONCEWARD_CHECK(end.has_value(), "the history of a customer can be read");
  return events;
}

void CaseWorld::index_requests() const {
  const auto end = reader()->scan(
      indexed_to_, [&](std::uint64_t, const PersistenceId& id, StoredEvent&& stored) {
        if (stored.event.manifest.name != "RequestStarted") return true;
        auto event = billing::billing_event_codec().decode(stored.event);
        ONCEWARD_CHECK(event.has_value(), "what was stored can be read");
        auto& started = std::get<billing::RequestStarted>(*event);
        const auto customer = customer_of(id);
        ONCEWARD_CHECK(customer.has_value(), "requests are of customers");
        const ObligationKey of{*customer, started.of.period, started.of.purpose};
        const std::string key = started.key.value();
        ++started_.emplace(key, Started{of, std::move(started), 0}).first->second.starts;
        return true;
      });
  if (end) indexed_to_ = *end;
}

int CaseWorld::L(const std::string& customer, const std::string& period) const {
  return static_cast<int>(port_.provider().ledger().find(customer, period).size());
}

int CaseWorld::W(const std::string& customer, const std::string& period) const {
  index_requests();
  int posts = 0;
  for (const auto& sent : port_.provider().trace()) {
    const auto found = started_.find(sent.key);
    if (sent.method != "POST" || found == started_.end()) continue;
    const ObligationKey& of = found->second.of;
    posts += billing::moves_money(found->second.event.step) && of.customer.value() == customer &&
             of.period.text() == period;
  }
  return posts;
}

int CaseWorld::K(const std::string& customer, const std::string& period) const {
  index_requests();
  std::set<std::string> keys;
  for (const auto& sent : port_.provider().trace()) {
    const auto found = started_.find(sent.key);
    if (sent.method != "POST" || found == started_.end()) continue;
    const ObligationKey& of = found->second.of;
    if (billing::moves_money(found->second.event.step) && of.customer.value() == customer &&
        of.period.text() == period) {
      keys.insert(sent.key);
    }
  }
  return static_cast<int>(keys.size());
}

std::map<ObligationKey, int> CaseWorld::posts_by_obligation() const {
  index_requests();
  std::map<ObligationKey, int> posts;
  for (const auto& sent : port_.provider().trace()) {
    const auto found = started_.find(sent.key);
    if (sent.method == "POST" && found != started_.end()) ++posts[found->second.of];
  }
  return posts;
}

std::vector<std::string> CaseWorld::quarantines() const {
  std::vector<std::string> found;
  const auto quarantined = reader()->quarantined();
  if (!quarantined) return {"the store cannot be read"};
  for (const auto& one : *quarantined) {
    found.push_back(one.persistence_id.value() + ": " + one.reason);
  }
  return found;
}

std::vector<ObligationRow> CaseWorld::all_rows() const {
  std::set<CustomerId> customers;
  const auto end = reader()->scan(0, [&](std::uint64_t, const PersistenceId& id, StoredEvent&&) {
    if (const auto customer = customer_of(id)) customers.insert(*customer);
    return true;
  });
  ONCEWARD_CHECK(end.has_value(), "the store of a case can be read");
  std::vector<ObligationRow> rows;
  for (const auto& customer : customers) {
    auto own = reader()->rows_of(customer);
    ONCEWARD_CHECK(own.has_value(), "the rows of a customer can be read");
    rows.insert(rows.end(), own->begin(), own->end());
  }
  return rows;
}

// Every POST of ours had its key and its durable record before it left, and is on the wire as it
// was sent.
void CaseWorld::audit_posts(std::string& found) const {
  index_requests();
  for (const auto& key : early_posts_) found += "key " + key + " left before it was recorded; ";
  std::map<std::string, int> on_wire;
  for (const auto& sent : port_.provider().trace()) {
    if (sent.method == "POST" && !sent.key.empty()) ++on_wire[sent.key];
  }
  std::map<std::string, int> sends;
  for (const auto& post : port_.posts()) {
    const auto started = started_.find(post.key);
    if (started == started_.end()) {
      found += "a POST without a committed RequestStarted: " + post.key + "; ";
      continue;
    }
    --on_wire[post.key];
    if (!post.is_resend && ++sends[post.key] > started->second.starts) {
      found += "key " + post.key + " was sent more often than recorded; ";
    }
    const bool is_charge = post.operation == Operation::create_charge;
    if ((is_charge || post.operation == Operation::create_intent) &&
        !carries(post, started->second.of)) {
      found += "a create or charge without its metadata: " + post.key + "; ";
    }
    if (is_charge && value_of(post.params, "metadata[onceward_attempt]") !=
                         std::to_string(started->second.event.attempt)) {
      found += "a charge without its attempt: " + post.key + "; ";
    }
  }
  for (const auto& [key, left] : on_wire) {
    if (left != 0 && started_.count(key) != 0) found += "unexplained sends of key " + key + "; ";
  }
}

// Charges and completed obligations are the same set.
void CaseWorld::audit_ledger(std::string& found) const {
  std::map<std::string, std::vector<std::string>> charges;
  for (const auto& row : port_.provider().ledger().rows()) {
    if (row.name_space != name_space) continue;
    charges[row.customer + "/" + row.period + "/" + row.purpose].push_back(row.charge);
  }
  for (const auto& row : all_rows()) {
    const std::string name = to_display(row.key);
    const auto own = charges.find(name);
    const std::size_t count = own == charges.end() ? 0 : own->second.size();
    if (count > 1 && made_by_others.count(name) == 0)
      found += name + " charged " + std::to_string(count) + " times; ";
    const bool is_completed = row.status == ObligationStatus::completed;
    const bool has_charge =
        count > 0 && std::count(own->second.begin(), own->second.end(), row.charge_id) == 1;
    if (is_completed && !has_charge) {
      found += name + " completed without its charge; ";
    }
    if (!is_completed && count > 0 && row.status != ObligationStatus::unknown &&
        row.status != ObligationStatus::in_progress && row.status != ObligationStatus::parked) {
      found += name + " charged, but " + std::string(to_text(row.status)) + "; ";
    }
    if (is_open(row.status) && !is_operator_owned(row.status) && !row.next_action_at) {
      found += name + " is open and nobody will look at it; ";
    }
    if (own != charges.end()) charges.erase(own);
  }
  for (const auto& [name, ids] : charges) {
    if (made_by_others.count(name) == 0) found += name + " charged without an obligation; ";
  }
}

void CaseWorld::audit_caps(std::string& found) const {
  for (const auto& period : periods_) {
    const auto uses = reader()->cap_use(period);
    if (!uses) continue;
    for (const auto& use : *uses) {
      if (use.limit_minor && *use.limit_minor < use.reserved_minor + use.settled_minor) {
        found += "the cap of " + period.text() + " is exceeded; ";
      }
    }
  }
}

std::string CaseWorld::audit() {
  is_audited_ = true;
  std::string found = broken_;
  const auto verified = recovery::verify(*reader(), nullptr);
  if (!verified) return found + "verify failed: " + verified.error().context;
  for (const auto& one : verified->differences) found += one.where + ": " + one.what + "; ";
  audit_posts(found);
  audit_ledger(found);
  audit_caps(found);
  return found;
}

}  // namespace onceward::testing
