// One mark per hint makes a repeat harmless; everything else is a record for people.
#include <onceward/billing/inbox_entity.hpp>

#include <utility>

namespace onceward::billing {

namespace {

using Decided = InboxEntity::Decided;

Decided answer_only(InboxReply reply) {
  Decided decided;
  decided.reply = std::move(reply);
  return decided;
}

const MarkRefused* refused_mark(const Context& context) {
  return context.refusal != nullptr ? std::get_if<MarkRefused>(context.refusal) : nullptr;
}

// Events as the item will be after them: the reply tells of what is stored with it.
Decided store(const InboxItem& item, InboxEvent event, std::optional<Mark> mark) {
  Decided decided;
  InboxItem after = item;
  if (auto folded = evolve_inbox(after, event); !folded) {
    decided.quarantine = std::move(folded).error().context;
    return decided;
  }
  decided.events.push_back(std::move(event));
  if (mark) decided.marks.push_back(std::move(*mark));
  decided.reply = InboxTold{std::move(after), false};
  return decided;
}

Decided decide_hint(const InboxItem& item, const StoreHint& hint, const Context& context) {
  if (refused_mark(context) != nullptr) return answer_only(InboxTold{item, true});
  if (hint.mark.key.empty() || hint.type.empty()) {
    return answer_only(InboxRefused{"a hint needs the id and the type of its event"});
  }
  return store(item, HintStored{context.now.wall, hint.mark.key, hint.type, hint.kind, hint.about},
               hint.mark);
}

Decided decide_resolve(const InboxItem& item, const ResolveInbox& resolve, const Context& context) {
  if (const MarkRefused* refused = refused_mark(context)) {
    const bool same = resolve.mark && refused->existing.fingerprint == resolve.mark->fingerprint;
    if (same) return answer_only(InboxTold{item, true});
    return answer_only(InboxRefused{"the request id was used with another content"});
  }
  if (item.hints == 0) return answer_only(NoSuchItem{});
  if (resolve.who.empty() || resolve.why.empty()) {
    return answer_only(InboxRefused{"who resolves it, and why, must be given"});
  }
  if (!item.open) return answer_only(InboxTold{item, true});
  return store(item, InboxResolved{context.now.wall, resolve.who, resolve.why}, resolve.mark);
}

}  // namespace

Result<Unit> evolve_inbox(InboxItem& item, const InboxEvent& event) {
  if (const auto* stored = std::get_if<HintStored>(&event)) {
    if (item.hints == 0) item.first_at = stored->at;
    ++item.hints;
    item.kind = stored->kind;
    item.type = stored->type;
    item.event_id = stored->event_id;
    item.about = stored->about;
    item.last_at = stored->at;
    item.open = true;
    return ok();
  }
  const auto& resolved = std::get<InboxResolved>(event);
  if (!item.open) {
    return fail(ErrorCode::impossible_transition,
                "inbox/" + item.object + ": resolved although it was not open");
  }
  item.open = false;
  item.who = resolved.who;
  item.why = resolved.why;
  return ok();
}

InboxItem InboxEntity::initial(const PersistenceId& id) const {
  auto object = inbox_object_of(id);
  ONCEWARD_CHECK(object.has_value(), "inbox entities are named inbox/<object>");
  InboxItem item;
  item.object = std::move(*object);
  return item;
}

InboxEntity::Decided InboxEntity::decide(const State& state, const Command& command,
                                         const Context& context) const {
  if (const auto* hint = std::get_if<StoreHint>(&command)) {
    return decide_hint(state, *hint, context);
  }
  return decide_resolve(state, std::get<ResolveInbox>(command), context);
}

InboxEntity::Decided InboxEntity::decide_answer(const State&, const ExternalAnswer&,
                                                const Context&) const {
  return {};
}

InboxEntity::Decided InboxEntity::resume(const State&, const Context&) const {
  return {};
}

Result<Unit> InboxEntity::evolve(State& state, const Event& event) const {
  return evolve_inbox(state, event);
}

std::optional<InboxReply> InboxEntity::answer_waiter(const State&, const Command&) const {
  return std::nullopt;  // nothing waits here
}

InboxReply InboxEntity::turn_down(const Command&, Turndown why) const {
  return InboxTurnedDown{why};
}

EntityType inbox_entity_type() {
  return make_entity_type<InboxEntity>("inbox", std::make_shared<const InboxEntity>(),
                                       inbox_event_codec());
}

}  // namespace onceward::billing
