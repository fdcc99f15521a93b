// What an entity actor does with the outputs of its machine, in their order, and its table of
// waiting callers.
#include <algorithm>
#include <utility>

#include "actors/entity_actor.hpp"

namespace onceward::actors {

void EntityActor::perform(std::vector<Output>& outputs) {
  for (auto& output : outputs) {
    std::visit([this](auto&& alternative) { perform(std::move(alternative)); }, output);
  }
}

void EntityActor::perform(output::Commit&& commit) {
  ++commits_;
  post(node_.writer,
       WriterMail{mail::CommitRequest{caf::actor_cast<caf::actor>(this), commit.incarnation,
                                      std::move(commit.unit), WorkToken(node_.gate->work())}});
}

void EntityActor::perform(output::AcquirePermit&& acquire) {
  // No new calls begin while the node drains; the next start takes up what is owed.
  if (node_.draining.load(std::memory_order_relaxed)) return;
  ++permits_asked_;
  node_.provider.acquire(
      [gate = node_.gate, id = id_, incarnation = acquire.incarnation, provider = &node_.provider] {
        gate->deliver(id, mail::PermitGranted{incarnation, PermitToken(*provider)});
      });
}

void EntityActor::perform(output::ReleasePermit&&) {
  --permits_;
  node_.provider.release();
}

void EntityActor::perform(output::Call&& call) {
  // Nobody would take the answer. The request is stored as started: the next start resolves it.
  if (node_.stopping.load()) return perform(output::ReleasePermit{});
  --permits_;
  ++calls_;
  // The answer goes through the router: it also finds a later incarnation. Shared, because the
  // provider's callback type is copyable; one copy is ever called, once.
  struct Ticket {
    std::shared_ptr<Gate> gate;
    PersistenceId id;
    WorkToken work;
  };
  auto ticket = std::make_shared<Ticket>(Ticket{node_.gate, id_, WorkToken(node_.gate->work())});
  node_.provider.call(std::move(call.request), [ticket](ExternalAnswer&& answer) {
    ticket->gate->deliver(ticket->id,
                          mail::CallAnswered{std::move(answer), std::move(ticket->work)});
  });
}

void EntityActor::perform(output::Reply&& reply) {
  Open* waiting = find(reply.to);
  if (waiting == nullptr) return;
  waiting->command->reply(std::move(reply.reply));
  if (reply.last) close(*waiting);
}

void EntityActor::perform(output::Tell&& tell) {
  const EntityBinding* target = node_.binding_of(tell.to);
  ONCEWARD_CHECK(target != nullptr, "an entity tells one that no binding serves");
  auto open = OpenCommand::admit(
      node_, *target, std::move(tell.command),
      [gate = node_.gate, teller = id_, to = tell.to, nr = tell.correlation](std::any reply) {
        gate->deliver(teller, mail::TellAnswered{to, nr, std::move(reply)});
      });
  if (open) node_.gate->deliver(tell.to, mail::Command{std::move(open)});
}

void EntityActor::perform(output::Load&& load) {
  ONCEWARD_CHECK(binding_.load, "an entity type that loads needs a load function");
  ++loads_;
  post(node_.reader, ReaderMail{mail::LoadRequest{id_, std::move(load.query)}});
}

void EntityActor::perform(output::Stop&& stop) {
  machine_.reset();
  for (auto& answer : stop.answers_in_hand) {
    answers_.push_back(mail::CallAnswered{std::move(answer), WorkToken(node_.gate->work())});
  }
  if (stop.why == output::Stop::Why::quarantine) return quarantine(std::move(stop.error.context));
  const std::int64_t now_ms = node_.alarm.elapsed_ms();
  for (auto& command : stop.commands_in_hand) {
    held_.push_back(Held{std::move(command), true, now_ms});
  }
  recover_later();
}

ReplyTo EntityActor::open(std::unique_ptr<OpenCommand> command) {
  open_.push_back(Open{ReplyTo{++last_reply_to_}, std::move(command)});
  return open_.back().reply_to;
}

EntityActor::Open* EntityActor::find(ReplyTo to) {
  const auto found = std::find_if(open_.begin(), open_.end(),
                                  [&](const Open& open) { return open.reply_to == to; });
  return found == open_.end() ? nullptr : &*found;
}

void EntityActor::close(const Open& open) {
  open_.erase(open_.begin() + (&open - open_.data()));
}

void EntityActor::turn_down(ReplyTo to, Turndown why) {
  Open* waiting = find(to);
  if (waiting == nullptr) return;
  waiting->command->turn_down(why);
  close(*waiting);
}

void EntityActor::turn_down_all(Turndown why) {
  for (const auto& open : open_) open.command->turn_down(why);
  open_.clear();
}

void EntityActor::release_permits() {
  for (; permits_ > 0; --permits_) node_.provider.release();
}

}  // namespace onceward::actors
