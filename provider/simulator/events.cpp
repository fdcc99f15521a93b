// The JSON of events.
#include "provider/simulator/events.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace onceward::provider::simulator {
namespace {

std::string text_or_null(const std::string& text) {
  return text.empty() ? "null" : boost::json::serialize(boost::json::value(text));
}

}  // namespace

// Built from text, so that `data`, which is kept as text, need not be parsed again.
std::string event_text(const ProviderEvent& event, std::uint64_t pending_webhooks) {
  std::string text = R"({"id":)" + text_or_null(event.id);
  text.append(R"(,"object":"event","api_version":"2024-06-20","created":)");
  text.append(std::to_string(event.created_s)).append(R"(,"data":{"object":)").append(event.data);
  text.append(R"(},"livemode":false,"pending_webhooks":)");
  text.append(std::to_string(pending_webhooks));
  text.append(R"(,"request":{"id":)").append(text_or_null(event.request));
  text.append(R"(,"idempotency_key":)").append(text_or_null(event.key));
  return text.append(R"(},"type":)").append(text_or_null(event.type)).append("}");
}

}  // namespace onceward::provider::simulator
