// One event per lift, once per request id. Its stored form: docs/event-format.md.
#include <onceward/billing/quarantine_entity.hpp>

#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "billing/json_reader.hpp"
#include "billing/json_writer.hpp"

namespace onceward::billing {

namespace {

constexpr std::string_view prefix = "quarantine/";
constexpr std::string_view lifted_name = "QuarantineLifted";
constexpr std::uint32_t version = 1;

QuarantineEntity::Decided answer_only(QuarantineReply reply) {
  QuarantineEntity::Decided decided;
  decided.reply = std::move(reply);
  return decided;
}

QuarantineRecord after(QuarantineRecord record, const QuarantineLifted& lifted) {
  ++record.lifts;
  record.last = lifted;
  return record;
}

template <class Members, class E>
void members_of(Members& members, E& event) {
  members("at", event.at);
  members("since", event.since);
  members("quarantined_for", event.quarantined_for);
  members("who", event.who);
  members("why", event.why);
}

EncodedEvent encode(const QuarantineEvent& event) {
  EncodedEvent encoded{Manifest{std::string(lifted_name), version}, {}};
  JsonWriter writer(encoded.payload);
  members_of(writer, std::get<QuarantineLifted>(event));
  writer.finish();
  return encoded;
}

Result<QuarantineEvent> decode(const EncodedEvent& encoded) {
  const Manifest& manifest = encoded.manifest;
  if (manifest.name != lifted_name || manifest.version != version) {
    return fail(ErrorCode::unknown_manifest, "event " + manifest.name + " version " +
                                                 std::to_string(manifest.version) +
                                                 " is not known to this release");
  }
  boost::json::error_code failed;
  const boost::json::value parsed = boost::json::parse(encoded.payload, failed);
  const boost::json::object* object = failed ? nullptr : parsed.if_object();
  if (object == nullptr) {
    return fail(ErrorCode::decode_failed, "event " + manifest.name + " is not a JSON object");
  }
  JsonReader reader(*object);
  QuarantineLifted event;
  members_of(reader, event);
  if (!reader.error().empty()) {
    return fail(ErrorCode::decode_failed, "event " + manifest.name + ": " + reader.error());
  }
  return QuarantineEvent(std::move(event));
}

}  // namespace

PersistenceId quarantine_persistence_id(const PersistenceId& entity) {
  return PersistenceId{std::string(prefix) + entity.value()};
}

EventCodec<QuarantineEvent> quarantine_event_codec() {
  return {&encode, &decode};
}

QuarantineRecord QuarantineEntity::initial(const PersistenceId& id) const {
  ONCEWARD_CHECK(id.value().starts_with(prefix), "named quarantine/<persistence id>");
  QuarantineRecord record;
  record.entity = PersistenceId{id.value().substr(prefix.size())};
  return record;
}

QuarantineEntity::Decided QuarantineEntity::decide(const State& state, const Command& command,
                                                   const Context& context) const {
  const auto& lift = std::get<LiftQuarantine>(command);
  const auto* refused =
      context.refusal == nullptr ? nullptr : std::get_if<MarkRefused>(context.refusal);
  if (refused != nullptr) {
    const bool same = lift.mark && refused->existing.fingerprint == lift.mark->fingerprint;
    if (same) return answer_only(QuarantineTold{state});
    return answer_only(QuarantineRefused{"the request id was used with another content"});
  }
  if (lift.who.empty() || lift.why.empty()) {
    return answer_only(QuarantineRefused{"who lifts it, and why, must be given"});
  }
  QuarantineLifted lifted{context.now.wall, lift.quarantined_since, lift.quarantined_for, lift.who,
                          lift.why};
  Decided decided;
  decided.reply = QuarantineTold{after(state, lifted)};
  decided.events.emplace_back(std::move(lifted));
  if (lift.mark) decided.marks.push_back(*lift.mark);
  return decided;
}

QuarantineEntity::Decided QuarantineEntity::decide_answer(const State&, const ExternalAnswer&,
                                                          const Context&) const {
  return {};
}

QuarantineEntity::Decided QuarantineEntity::resume(const State&, const Context&) const {
  return {};
}

Result<Unit> QuarantineEntity::evolve(State& state, const Event& event) const {
  state = after(std::move(state), std::get<QuarantineLifted>(event));
  return ok();
}

std::optional<QuarantineReply> QuarantineEntity::answer_waiter(const State&, const Command&) const {
  return std::nullopt;  // nothing waits here
}

QuarantineReply QuarantineEntity::turn_down(const Command&, Turndown why) const {
  return QuarantineTurnedDown{why};
}

EntityType quarantine_entity_type() {
  return make_entity_type<QuarantineEntity>(
      "quarantine", std::make_shared<const QuarantineEntity>(), quarantine_event_codec());
}

}  // namespace onceward::billing
