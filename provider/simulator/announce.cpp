// Implementation of announce().
#include "provider/simulator/announce.hpp"

#include <boost/json/serialize.hpp>
#include <utility>

#include "provider/simulator/json_reader.hpp"

namespace onceward::provider::simulator {

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
  context.events.append(std::move(event));
}

}  // namespace onceward::provider::simulator
