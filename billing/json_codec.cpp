// Events as JSON text. Each event names its members once, in visit(); writing and reading both
// follow that list. Format: docs/event-format.md; pinned by golden files in tests.
#include <array>
#include <string>
#include <type_traits>
#include <utility>

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parser.hpp>

#include "billing/dunning_event_members.hpp"
#include "billing/json_reader.hpp"
#include "billing/json_writer.hpp"
#include "billing/operator_event_members.hpp"
#include "billing/outcome_event_members.hpp"
#include "billing/refund_event_members.hpp"
#include "billing/request_event_members.hpp"

namespace onceward::billing {

namespace {

// Stored names; order as in the variant. Names and versions are permanent.
constexpr std::array<std::string_view, std::variant_size_v<BillingEvent>> names = {
    "BillingInitiated",     "RequestStarted",         "LookUpOwed",         "CancelRequested",
    "PaymentIntentCreated", "PaymentIntentCanceled",  "AttemptDeclined",    "RequestRejected",
    "OutcomeUnknown",       "BillingPending",         "BillingCompleted",   "BillingUncollectible",
    "BillingParked",        "BillingCapped",          "BillingCancelled",   "PeriodWaived",
    "OperatorActed",        "EarlierSystemChecked",   "LookUpAnswered",     "RefundRequested",
    "RefundPending",        "RefundCompleted",        "RefundFailed",       "RefundParked",
    "RefundLookUpOwed",     "RefundsListed",          "OutsideRefundFound", "ObjectHinted",
    "HintedObjectRead",     "UnexpectedPaymentFound", "DisputeRecorded",    "AlarmAcknowledged",
    "OperatorResolved",     "PaymentMethodChanged",   "BillingPaidOutside", "DunningPlanned",
    "FoundStillOwed"};
constexpr std::uint32_t version = 1;

EncodedEvent encode(const BillingEvent& event) {
  EncodedEvent encoded;
  encoded.manifest = Manifest{std::string(names[event.index()]), version};
  encoded.payload.reserve(384);
  std::visit(
      [&encoded](const auto& e) {
        JsonWriter writer(encoded.payload);
        // The visitor is shared with reading, which needs mutable members; writing changes none.
        visit(writer, const_cast<std::remove_cvref_t<decltype(e)>&>(e));
        writer.finish();
      },
      event);
  return encoded;
}

template <std::size_t I = 0>
Result<BillingEvent> decode_as(std::size_t index, const boost::json::object& object,
                               const Manifest& manifest) {
  if constexpr (I < std::variant_size_v<BillingEvent>) {
    if (index != I) return decode_as<I + 1>(index, object, manifest);
    std::variant_alternative_t<I, BillingEvent> event;
    JsonReader reader(object);
    visit(reader, event);
    if (!reader.error().empty()) {
      return fail(ErrorCode::decode_failed, "event " + manifest.name + ": " + reader.error());
    }
    return BillingEvent(std::move(event));
  } else {
    return fail(ErrorCode::unknown_manifest, "event " + manifest.name);
  }
}

Result<BillingEvent> decode(const EncodedEvent& encoded) {
  const Manifest& manifest = encoded.manifest;
  std::size_t index = 0;
  while (index < names.size() && names[index] != manifest.name) ++index;
  if (index == names.size() || manifest.version != version) {
    return fail(ErrorCode::unknown_manifest, "event " + manifest.name + " version " +
                                                 std::to_string(manifest.version) +
                                                 " is not known to this release");
  }
  std::array<unsigned char, 4096> buffer;  // NOLINT: filled by the parser
  boost::json::monotonic_resource memory(buffer.data(), buffer.size());
  boost::json::parser parser(&memory);
  boost::json::error_code failed;
  parser.write(encoded.payload.data(), encoded.payload.size(), failed);
  if (failed) {
    return fail(ErrorCode::decode_failed, "event " + manifest.name + ": " + failed.message());
  }
  const boost::json::value json = parser.release();
  const auto* object = json.if_object();
  if (object == nullptr) {
    return fail(ErrorCode::decode_failed, "event " + manifest.name + " is not a JSON object");
  }
  return decode_as(index, *object, manifest);
}

}  // namespace

EventCodec<BillingEvent> billing_event_codec() {
  return {&encode, &decode};
}

}  // namespace onceward::billing
