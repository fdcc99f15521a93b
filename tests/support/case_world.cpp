// Time, processes and messages of a CaseWorld.
#include "tests/support/case_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include <onceward/journal/memory_journal.hpp>
#include <onceward/journal/sqlite_journal.hpp>

namespace onceward::testing {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds tick_every{1'000};
// What did not move when it was woken is woken again after this.
constexpr milliseconds tick_again{60'000};
constexpr std::size_t due_batch = 256;

const Timestamp the_end{std::numeric_limits<std::int64_t>::max()};

}  // namespace

CaseOptions CaseWorld::options(billing::Flow flow) {
  CaseOptions options;
  options.policy.ns = Namespace{"acme-billing"};
  options.policy.account = AccountLabel{"default"};
  options.policy.flow = flow;
  return options;
}

CaseWorld::CaseWorld(CaseOptions options)
    : options_(std::move(options)),
      billing_type_(billing::weakened_billing_entity_type(options_.policy, options_.weakening)),
      port_([&] {
        provider::simulator::SimulatorSettings settings;
        settings.seed = options_.seed;
        return settings;
      }()),
      now_(options_.start) {
  open_store();
  add_node("node-1");
  start(0);
}

CaseWorld::~CaseWorld() {
  EXPECT_TRUE(is_audited_) << "the case ended without its audit";
}

void CaseWorld::open_store() {
  if (options_.sqlite_path.empty()) {
    store_ = std::make_unique<journal::MemoryJournal>();
  } else {
    journal::SqliteJournalOptions sqlite;
    sqlite.path = options_.sqlite_path;
    sqlite.identity = {options_.policy.ns, options_.policy.account, Mode::test, "v1", 1};
    auto opened = journal::SqliteJournal::open(sqlite);
    ONCEWARD_CHECK(opened.has_value(), "the store of a case opens");
    store_ = std::move(*opened);
  }
  wrapped_ = options_.wrap_journal ? options_.wrap_journal(*this, *store_) : nullptr;
  journal_ = wrapped_ ? wrapped_.get() : store_.get();
}

void CaseWorld::reopen_store() {
  ONCEWARD_CHECK(!options_.sqlite_path.empty(), "only a store on disk can be reopened");
  wrapped_.reset();
  store_.reset();
  open_store();
  stored();
}

std::unique_ptr<journal::JournalReader> CaseWorld::reader() const {
  auto reader = journal_->reader();
  ONCEWARD_CHECK(reader.has_value(), "the store of a case can be read");
  return std::move(*reader);
}

void CaseWorld::set_limit(const std::string& period, std::int64_t minor,
                          const std::string& customer) {
  CommitUnit unit;
  unit.persistence_id = PersistenceId{"cap/" + period};
  unit.epoch = journal_->epoch_of(ShardNr{});
  unit.writer = WriterId{"case"};
  unit.at = now_;
  unit.limits.push_back(
      {*BillingPeriod::parse(period), CustomerId{customer}, Money{minor, *Currency::parse("usd")}});
  const auto answers = journal_->commit({&unit, 1});
  ONCEWARD_CHECK(std::holds_alternative<Stored>(answers.front()), "the limit is stored");
  has_limit_ = true;
  periods_.insert(*BillingPeriod::parse(period));
}

// --- messages ---

billing::BillCustomer CaseWorld::bill_of(const std::string& customer, const std::string& period,
                                         std::int64_t minor, const std::string& request_id) {
  billing::BillCustomer bill;
  bill.key = key_of(customer, period);
  bill.amount = Money{minor, *Currency::parse("usd")};
  bill.payment_method = PaymentMethod{"pm_card_visa"};
  bill.provider_customer = ProviderCustomer{customer};
  bill.request_id = RequestId{request_id};
  return bill;
}

std::shared_ptr<CaseCall> CaseWorld::send(billing::BillingCommand command, std::size_t node) {
  auto call = std::make_shared<CaseCall>();
  calls_[++last_call_] = call;
  CustomerId customer;
  std::visit(
      [&](const auto& typed) {
        using Typed = std::remove_cvref_t<decltype(typed)>;
        if constexpr (std::is_same_v<Typed, billing::SetPaymentMethod>) {
          customer = typed.customer;
        } else {
          customer = typed.key.customer;
        }
      },
      command);
  if (nodes_[node]->is_up) {
    deliver(*nodes_[node], customer_persistence_id(customer), std::any(std::move(command)),
            ReplyTo{last_call_});
  }
  drain();
  return call;
}

bool CaseWorld::send_to_inbox(const std::string& object, billing::StoreHint hint) {
  if (!nodes_.front()->is_up) return false;
  const int before = inbox_answers_;
  deliver(*nodes_.front(), PersistenceId{"inbox/" + object},
          std::any(billing::InboxCommand{std::move(hint)}), ReplyTo{});
  drain();
  return inbox_answers_ > before;
}

void CaseWorld::deliver(CaseNode& node, const PersistenceId& id, std::any command, ReplyTo to) {
  if (quarantined_.count(id) != 0) {
    return replied(to, billing_type_.turn_down(command, Turndown::quarantined));
  }
  machine(node, id).deliver(input::Command{std::move(command), to, false, false});
}

CaseMachine& CaseWorld::machine(CaseNode& node, const PersistenceId& id) {
  auto& place = node.machines[id];
  if (!place) {
    const bool is_customer = customer_of(id).has_value();
    place =
        std::make_unique<CaseMachine>(*this, node, is_customer ? billing_type_ : inbox_type_, id);
    place->start();
  }
  return *place;
}

void CaseWorld::tells(CaseNode&, const PersistenceId&, output::Tell) {
  ONCEWARD_CHECK(false, "customers tell nobody");
}

void CaseWorld::loads(CaseNode&, const PersistenceId&, const std::any&) {
  ONCEWARD_CHECK(false, "customers load nothing");
}

void CaseWorld::replied(ReplyTo to, const std::any& reply) {
  if (std::any_cast<billing::InboxReply>(&reply) != nullptr) {
    ++inbox_answers_;
    return;
  }
  const auto found = calls_.find(to.value);
  if (found == calls_.end()) return;
  const auto& typed = std::any_cast<const billing::BillingReply&>(reply);
  const auto* told = std::get_if<billing::Told>(&typed);
  if (told != nullptr && told->row.status == ObligationStatus::completed) {
    const auto& rows = port_.provider().ledger().rows();
    const bool is_true = std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
      return row.charge == told->row.charge_id;
    });
    if (!is_true) broken_ += "a reply names a charge that is not in the ledger; ";
  }
  found->second->replies.push_back(typed);
}

void CaseWorld::answer(PortAnswer answer) {
  for (auto& node : nodes_) {
    if (node->process != answer.caller.process || !node->is_up) continue;
    if (answer.date) node->provider_time.saw(*answer.date, now_.ms - node->boot_at_ms);
    const bool is_money = answer.answer.operation == Operation::create_charge ||
                          answer.answer.operation == Operation::confirm_intent;
    if (is_money && reaches(CrashPoint::answer_read)) {
      node->is_dying = true;
      return;
    }
    --node->in_flight;
    if (quarantined_.count(answer.caller.entity) != 0) return;
    machine(*node, answer.caller.entity).deliver(input::CallAnswered{std::move(answer.answer)});
    return;
  }
}

void CaseWorld::grant_permits(CaseNode& node) {
  while (!node.permit_queue.empty() && node.in_flight < options_.in_flight_max) {
    const auto [id, incarnation] = node.permit_queue.front();
    node.permit_queue.pop_front();
    const auto found = node.machines.find(id);
    if (found == node.machines.end()) continue;
    ++node.in_flight;
    found->second->deliver(input::PermitGranted{incarnation});
  }
}

void CaseWorld::note_call(const ExternalRequest& request) {
  if (is_look_up(request.operation)) return;
  index_requests();
  if (started_.count(request.key.value()) == 0) early_posts_.insert(request.key.value());
}

void CaseWorld::stored() {
  due_is_known_ = false;
  if (has_limit_ && broken_.empty() && !journal_->barrier_pending()) audit_caps(broken_);
}

// --- time ---

void CaseWorld::at(Timestamp when, std::function<void()> action) {
  actions_.emplace(when, std::move(action));
}

// Until nothing can go on without time.
void CaseWorld::drain() {
  for (bool has_moved = true; has_moved;) {
    has_moved = false;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      CaseNode& node = *nodes_[n];
      if (!node.is_up || node.is_paused) continue;
      grant_permits(node);
      std::vector<CaseMachine*> machines;
      for (auto& [id, machine] : node.machines) {
        if (machine->has_work() || !machine->is_running()) machines.push_back(machine.get());
      }
      for (CaseMachine* machine : machines) {
        if (!machine->is_running() && node.is_owner) machine->start();
        if (machine->has_work() && machine->is_running()) has_moved = true;
        if (!machine->work()) node.is_dying = true;
        if (!machine->broken().empty()) broken_ += machine->broken() + "; ";
        if (node.is_dying || !node.is_owner) break;
      }
      if (node.is_dying) {
        die(node);
        node.start_at = now_.plus(options_.downtime);
      } else if (!node.is_owner) {
        step_down(node);
      } else {
        drop_idle(node);
      }
    }
    auto answers = port_.advance(now_);
    for (auto& one : answers) answer(std::move(one));
    has_moved = has_moved || !answers.empty();
  }
}

void CaseWorld::drop_idle(CaseNode& node) {
  std::erase_if(node.machines, [&](const auto& entry) {
    return entry.second->is_idle() || quarantined_.count(entry.first) != 0;
  });
}

std::optional<Timestamp> CaseWorld::earliest_due() {
  if (due_is_known_) return due_;
  const auto rows = reader()->due(the_end, 1);
  if (!rows) return std::nullopt;
  due_ = rows->empty() ? std::nullopt : rows->front().next_action_at;
  due_is_known_ = true;
  return due_;
}

std::optional<Timestamp> CaseWorld::next_tick(CaseNode& node) {
  if (!node.is_up || node.is_paused || !node.is_owner) return std::nullopt;
  auto due = earliest_due();
  if (!due) return std::nullopt;
  const Timestamp at{due->ms - node.wall_skew_ms};
  if (!node.last_tick) return at;
  const bool is_stuck = at <= *node.last_tick;
  return std::max(at, node.last_tick->plus(is_stuck ? tick_again : tick_every));
}

void CaseWorld::tick(CaseNode& node) {
  node.last_tick = now_;
  const auto rows = reader()->due(Timestamp{now_.ms + node.wall_skew_ms}, due_batch);
  if (!rows) return;
  for (const auto& row : *rows) wake(node, row);
}

void CaseWorld::wake(CaseNode& node, const ObligationRow& row) {
  const PersistenceId id = customer_persistence_id(row.key.customer);
  if (quarantined_.count(id) == 0) machine(node, id).deliver(input::Wake{});
}

// One instant at which something happens; false if there is none up to `end`.
bool CaseWorld::step_to(Timestamp end) {
  if (webhook_sink_) {
    while (port_.provider().deliver_webhooks(webhook_sink_) > 0) drain();
  }
  std::optional<Timestamp> next = port_.next_due();
  const auto earlier = [&](std::optional<Timestamp> at) {
    if (at && (!next || *at < *next)) next = at;
  };
  if (!actions_.empty()) earlier(actions_.begin()->first);
  for (auto& node : nodes_) {
    earlier(node->start_at);
    earlier(next_tick(*node));
  }
  if (!next || end < *next) return false;
  now_ = std::max(now_, *next);
  for (auto& one : port_.advance(now_)) answer(std::move(one));
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n]->start_at && *nodes_[n]->start_at <= now_) start(n);
  }
  while (!actions_.empty() && actions_.begin()->first <= now_) {
    auto action = std::move(actions_.begin()->second);
    actions_.erase(actions_.begin());
    action();
  }
  for (auto& node : nodes_) {
    const auto at = next_tick(*node);
    if (at && *at <= now_) tick(*node);
  }
  return true;
}

void CaseWorld::run_until(Timestamp end) {
  constexpr int steps_max = 1'000'000;
  drain();
  for (int steps = 0; step_to(end); ++steps) {
    ONCEWARD_CHECK(steps < steps_max, "a case comes to its end");
    drain();
  }
  now_ = std::max(now_, end);
  drain();
}

}  // namespace onceward::testing
