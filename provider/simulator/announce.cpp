// Implementation of announce().
#include "provider/simulator/announce.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <utility>

#include "provider/simulator/json_reader.hpp"
#include "provider/simulator/search_index.hpp"
#include "provider/simulator/webhook_sender.hpp"

namespace onceward::provider::simulator {
namespace {

/// The status as static text, which is what the search index keeps.
std::string_view status_text(const std::string& status) {
  static constexpr std::string_view all[] = {"requires_payment_method",
                                             "requires_confirmation",
                                             "requires_action",
                                             "processing",
                                             "succeeded",
                                             "canceled",
                                             "pending",
                                             "failed"};
  const auto* found = std::find(std::begin(all), std::end(all), status);
  return found == std::end(all) ? "" : *found;
}

/// What webhook rules match on. Refunds and disputes are about the customer of their charge.
RequestFacts facts_of(const ProviderEvent& event, const boost::json::object& object,
                      ObjectStore& store) {
  RequestFacts facts;
  facts.method = "POST";
  facts.event = event.type;
  facts.key = event.key;
  JsonReader reader(object);
  const Charge* charge = store.charges().find(reader.text("charge"));
  if (charge != nullptr) {
    facts.customer = find(charge->metadata, "onceward_customer");
    facts.provider_customer = charge->customer;
    return facts;
  }
  facts.customer = find(reader.text_members("metadata"), "onceward_customer");
  facts.provider_customer = reader.text("customer");
  return facts;
}

void send(EndpointContext& context, const ProviderEvent& event, const RequestFacts& facts,
          const WebhookPlan& plan) {
  for (const std::uint64_t nr : context.webhooks.enqueue(event, facts, plan, context.now)) {
    context.awaited_webhooks.push_back(nr);
  }
}

}  // namespace

void announce(EndpointContext& context, std::string type, const boost::json::object& object,
              Cause cause) {
  JsonReader reader(object);
  ProviderEvent event;
  event.id = context.store.next_id("evt_");
  event.type = std::move(type);
  event.created_s = context.now_s();
  event.object = reader.text("id");
  event.status = reader.text("status");
  event.request = std::move(cause.request);
  event.key = std::move(cause.key);
  event.data = boost::json::serialize(object);
  const std::string_view status = status_text(event.status);
  if (!status.empty()) context.search.note(event.object, status, context.now);

  const RequestFacts facts = facts_of(event, object, context.store);
  const WebhookPlan plan = context.webhooks.plan(facts, context.driver_now);
  send(context, event, facts, plan);
  context.events.append(event);
  if (!plan.twin) return;
  event.id = context.store.next_id("evt_");
  send(context, event, facts, plan);
  context.events.append(std::move(event));
}

}  // namespace onceward::provider::simulator
