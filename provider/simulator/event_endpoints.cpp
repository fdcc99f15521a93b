// /v1/events: what happened, with the key of the request that made it happen.
#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>

#include "provider/simulator/list_page.hpp"

namespace onceward::provider::simulator {
namespace {

constexpr ParamSpec list_params[] = {
    {"type", ParamKind::id},           {"types", ParamKind::list},
    {"created", ParamKind::range},     {"limit", ParamKind::integer},
    {"starting_after", ParamKind::id}, {"ending_before", ParamKind::id},
    {"expand", ParamKind::list},
};
constexpr ParamSpec read_params[] = {{"expand", ParamKind::list}};

boost::json::object show(const ProviderEvent& event) {
  return boost::json::parse(event_text(event, 0)).as_object();  // our own text: it parses
}

/// "charge.*" stands for all types of charges, as it does at the provider.
bool is_of_type(const ProviderEvent& event, const std::string& type) {
  if (type.size() > 1 && type.substr(type.size() - 2) == ".*") {
    return event.type.substr(0, type.size() - 1) == type.substr(0, type.size() - 1);
  }
  return event.type == type;
}

std::optional<ApiError> check_list(const Params& params) {
  if (params.has("type") && params.has("types")) {
    return invalid_param("parameters_exclusive", "types", "Send type or types, not both.");
  }
  if (params.list("types").size() > 20) {
    return invalid_param("", "types", "types has at most 20 values.");
  }
  return check_page(params);
}

EndpointAnswer list(EndpointContext& context, const Params& params, const std::string&) {
  std::vector<std::string> types = params.list("types");
  if (params.has("type")) types.push_back(params.text("type"));
  const auto fits = [&](const ProviderEvent& event) {
    return types.empty() || std::any_of(types.begin(), types.end(), [&](const std::string& type) {
             return is_of_type(event, type);
           });
  };
  return list_page(context.events.all(), params, "/v1/events", fits, show, context.page_max);
}

EndpointAnswer read(EndpointContext& context, const Params&, const std::string& id) {
  const auto& events = context.events.all();
  const auto found = std::find_if(events.begin(), events.end(),
                                  [&](const ProviderEvent& event) { return event.id == id; });
  if (found == events.end()) return refuse(no_such(404, "event", id, "id"));
  return {200, show(*found)};
}

constexpr std::array<Endpoint, 2> endpoints{{
    {"GET", "/v1/events", list_params, check_list, list},
    {"GET", "/v1/events/{}", read_params, nullptr, read},
}};

}  // namespace

std::span<const Endpoint> event_endpoints() noexcept {
  return endpoints;
}

}  // namespace onceward::provider::simulator
