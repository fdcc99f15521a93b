// The loop: all machines up to their commits, then one group.
#include "tests/recovery/harness/billing_flow.hpp"

#include <utility>

namespace onceward::testing {
namespace {

billing::BillingPolicy policy() {
  billing::BillingPolicy made;
  made.ns = Namespace{"test-billing"};
  made.account = AccountLabel{"default"};
  return made;
}

}  // namespace

BillingFlow::BillingFlow(journal::Journal& journal)
    : journal_(journal),
      type_(billing::billing_entity_type(policy())),
      now_(*parse_iso("2026-09-01T00:00:00Z")) {}

void BillingFlow::step(Entity& entity, Input input) {
  StepContext context{Now{now_, 1'000'000, 1, now_}, false};
  context.permit_offered = std::holds_alternative<input::Command>(input) ||
                           std::holds_alternative<input::CallAnswered>(input);
  std::vector<Output> outputs;
  entity.machine->step(std::move(input), context, outputs);
  for (Output& output : outputs) entity.outputs.push_back(std::move(output));
}

void BillingFlow::start(Entity& entity, const std::string& customer, const std::string& period) {
  const PersistenceId id = customer_persistence_id(CustomerId{customer});
  const ShardNr shard = journal::shard_of(id, 4);
  entity.machine = type_.create({id, shard, Incarnation{++incarnation_}, WriterId{"flow"}});
  std::vector<StoredEvent> events;
  const auto reader = journal_.reader().value();
  const auto end = reader->replay(id, {}, [&](const PersistenceId&, StoredEvent&& event) {
    events.push_back(std::move(event));
    return true;
  });
  step(entity, input::Replayed{std::move(events)});
  step(entity, input::RecoveryDone{end.value().last, end.value().head, end.value().epoch});

  billing::BillCustomer bill;
  bill.key = {CustomerId{customer}, *BillingPeriod::parse(period), Purpose{"subscription"}};
  bill.amount = Money{4990, *Currency::parse("usd")};
  bill.payment_method = PaymentMethod{"pm_1"};
  bill.provider_customer = ProviderCustomer{"cus_" + customer};
  bill.request_id = RequestId{"request-" + customer + period};
  bill.caller_mark = Mark{"key", customer + "/" + period, "fingerprint", std::nullopt};
  step(entity, input::Command{billing::BillingCommand{bill}, ReplyTo{1}, false});
}

void BillingFlow::run_to_commit(Entity& entity) {
  while (!entity.outputs.empty() &&
         !std::holds_alternative<output::Commit>(entity.outputs.front())) {
    Output next = std::move(entity.outputs.front());
    entity.outputs.pop_front();
    if (auto* call = std::get_if<output::Call>(&next)) {
      const bool declines = std::exchange(entity.is_to_decline, false) &&
                            call->request.operation != Operation::create_intent;
      const Fate fate = declines ? Fate::declined : Fate::ok;
      step(entity, input::CallAnswered{provider_.handle(call->request, fate, now_)});
    } else if (const auto* acquire = std::get_if<output::AcquirePermit>(&next)) {
      step(entity, input::PermitGranted{acquire->incarnation});
    }
  }
}

bool BillingFlow::bill(const std::vector<std::string>& customers, const std::string& period) {
  std::vector<Entity> entities(customers.size());
  for (std::size_t at = 0; at < customers.size(); ++at) {
    entities[at].is_to_decline = at % 3 == 2;
    start(entities[at], customers[at], period);
  }
  for (;;) {
    std::vector<std::pair<Entity*, Incarnation>> waiting;
    std::vector<CommitUnit> group;
    for (Entity& entity : entities) {
      run_to_commit(entity);
      if (entity.outputs.empty()) continue;
      auto commit = std::move(std::get<output::Commit>(entity.outputs.front()));
      entity.outputs.pop_front();
      group.push_back(std::move(commit.unit));
      waiting.emplace_back(&entity, commit.incarnation);
    }
    if (group.empty()) return true;
    if (before_commit) before_commit();
    auto answers = journal_.commit(group);
    for (const CommitAnswer& answer : answers) {
      if (!std::holds_alternative<Stored>(answer)) return false;
    }
    if (stored) stored();
    for (std::size_t at = 0; at < waiting.size(); ++at) {
      step(*waiting[at].first, input::CommitAnswered{waiting[at].second, std::move(answers[at])});
    }
  }
}

}  // namespace onceward::testing
