// Events of the inbox as JSON text. Format: docs/event-format.md; pinned by a golden file.
#include <string>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <onceward/billing/inbox_entity.hpp>

namespace onceward::billing {

namespace {

namespace json = boost::json;

constexpr std::uint32_t version = 1;
constexpr std::string_view stored_name = "HintStored";
constexpr std::string_view resolved_name = "InboxResolved";

EncodedEvent encode(const InboxEvent& event) {
  json::object object;
  std::string_view name = stored_name;
  if (const auto* stored = std::get_if<HintStored>(&event)) {
    object["at"] = stored->at.ms;
    object["event_id"] = stored->event_id;
    object["type"] = stored->type;
    object["kind"] = std::string(to_text(stored->kind));
    object["about"] = stored->about;
  } else {
    const auto& resolved = std::get<InboxResolved>(event);
    name = resolved_name;
    object["at"] = resolved.at.ms;
    object["who"] = resolved.who;
    object["why"] = resolved.why;
  }
  return EncodedEvent{Manifest{std::string(name), version}, json::serialize(object)};
}

// The first member that is missing or wrong is remembered; nothing is defaulted.
class Members {
 public:
  explicit Members(const json::object& object) : object_(object) {}

  std::string text(std::string_view name) {
    const json::value* value = object_.if_contains({name.data(), name.size()});
    const json::string* found = value != nullptr ? value->if_string() : nullptr;
    if (found == nullptr) return complain(name), std::string();
    return std::string(found->data(), found->size());
  }
  Timestamp time(std::string_view name) {
    const json::value* value = object_.if_contains({name.data(), name.size()});
    const std::int64_t* found = value != nullptr ? value->if_int64() : nullptr;
    if (found == nullptr) return complain(name), Timestamp{};
    return Timestamp{*found};
  }
  HintedKind kind(std::string_view name) {
    const auto parsed = parse_hinted_kind(text(name));
    if (!parsed) complain(name);
    return parsed ? *parsed : HintedKind::payment_intent;
  }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  void complain(std::string_view name) {
    if (wrong_.empty()) wrong_ = name;
  }

  const json::object& object_;
  std::string wrong_;
};

Result<InboxEvent> decode(const EncodedEvent& encoded) {
  const Manifest& manifest = encoded.manifest;
  const bool stored = manifest.name == stored_name;
  if (manifest.version != version || (!stored && manifest.name != resolved_name)) {
    return fail(ErrorCode::unknown_manifest, "event " + manifest.name + " version " +
                                                 std::to_string(manifest.version) +
                                                 " is not known to this release");
  }
  json::error_code failed;
  const json::value parsed = json::parse(encoded.payload, failed);
  const json::object* object = failed ? nullptr : parsed.if_object();
  if (object == nullptr) {
    return fail(ErrorCode::decode_failed, "event " + manifest.name + " is not a JSON object");
  }
  Members members(*object);
  InboxEvent event;
  if (stored) {
    HintStored e;
    e.at = members.time("at");
    e.event_id = members.text("event_id");
    e.type = members.text("type");
    e.kind = members.kind("kind");
    e.about = members.text("about");
    event = std::move(e);
  } else {
    InboxResolved e;
    e.at = members.time("at");
    e.who = members.text("who");
    e.why = members.text("why");
    event = std::move(e);
  }
  if (!members.wrong().empty()) {
    return fail(ErrorCode::decode_failed, "event " + manifest.name + ": member '" +
                                              members.wrong() + "' is missing or wrong");
  }
  return event;
}

}  // namespace

EventCodec<InboxEvent> inbox_event_codec() {
  return {&encode, &decode};
}

}  // namespace onceward::billing
