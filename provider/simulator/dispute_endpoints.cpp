// /v1/disputes: a payer takes the money back through his bank. Disputes are opened by the control
// API only.
#include <array>

#include "provider/simulator/disputes.hpp"
#include "provider/simulator/list_page.hpp"

namespace onceward::provider::simulator {
namespace {

constexpr ParamSpec list_params[] = {
    {"charge", ParamKind::id},         {"payment_intent", ParamKind::id},
    {"created", ParamKind::range},     {"limit", ParamKind::integer},
    {"starting_after", ParamKind::id}, {"ending_before", ParamKind::id},
    {"expand", ParamKind::list},
};
constexpr ParamSpec read_params[] = {{"expand", ParamKind::list}};

EndpointAnswer read(EndpointContext& context, const Params&, const std::string& id) {
  const Dispute* dispute = context.store.disputes().find(id);
  if (dispute == nullptr) return refuse(no_such(404, "dispute", id, "id"));
  return {200, to_json(*dispute)};
}

EndpointAnswer list(EndpointContext& context, const Params& params, const std::string&) {
  const std::string charge = params.text("charge");
  const std::string intent = params.text("payment_intent");
  return list_page(
      context.store.disputes().all(), params, "/v1/disputes",
      [&](const Dispute& dispute) {
        return (charge.empty() || dispute.charge == charge) &&
               (intent.empty() || dispute.payment_intent == intent);
      },
      [](const Dispute& dispute) { return to_json(dispute); }, context.page_max);
}

/// The merchant gives in.
EndpointAnswer close(EndpointContext& context, const Params&, const std::string& id) {
  Dispute* dispute = context.store.disputes().find(id);
  if (dispute == nullptr) return refuse(no_such(404, "dispute", id, "id"));
  if (!close_dispute(context, *dispute, false)) {
    return refuse(
        invalid_param("status_transition_invalid", "", "This dispute is already closed."));
  }
  return {200, to_json(*dispute)};
}

constexpr std::array<Endpoint, 3> endpoints{{
    {"GET", "/v1/disputes", list_params, check_page, list},
    {"GET", "/v1/disputes/{}", read_params, nullptr, read},
    {"POST", "/v1/disputes/{}/close", read_params, nullptr, close},
}};

}  // namespace

std::span<const Endpoint> dispute_endpoints() noexcept {
  return endpoints;
}

}  // namespace onceward::provider::simulator
