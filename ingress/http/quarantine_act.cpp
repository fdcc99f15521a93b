// The order is what counts: proof, record, lift. A stop in between leaves the entity quarantined.
#include "ingress/http/quarantine_act.hpp"

#include <algorithm>
#include <any>
#include <array>
#include <utility>

#include <onceward/billing/billing_commands.hpp>
#include <onceward/billing/quarantine_entity.hpp>
#include <onceward/recovery/verify.hpp>

#include "ingress/http/command_exchange.hpp"

namespace onceward::ingress {

namespace {

namespace json = boost::json;

constexpr std::string_view lift_scope = "lift_quarantine";

platform::HttpResponse refusal(ProblemKind kind, std::string detail) {
  Problem problem;
  problem.kind = kind;
  problem.detail = std::move(detail);
  return problem_answer(std::move(problem));
}

/// Why it would not be safe to run the entity; empty if it is.
std::string danger_of(journal::JournalReader& reader, const journal::Quarantined& quarantined) {
  if (quarantined.reason.starts_with(billing::lost_obligation)) {
    return "something that was recorded for it is gone, and what was charged may be gone with it: "
           "restore a backup and compare with the provider";
  }
  const auto differences = recovery::verify_entity(reader, quarantined.persistence_id);
  if (differences.empty()) return {};
  const auto& first = differences.front();
  return first.where + ": " + first.what +
         (differences.size() > 1 ? ", and " + std::to_string(differences.size() - 1) + " more"
                                 : "") +
         "; a period could be billed twice: restore what is missing, and see `onceward journal "
         "verify`";
}

platform::HttpResponse lifted_answer(const PersistenceId& entity, const std::string& who,
                                     const std::string& why) {
  return json_answer(
      200,
      json::object{{"entity", entity.value()}, {"status", "lifted"}, {"who", who}, {"why", why}});
}

void run_again(Services& services, const PersistenceId& entity, billing::QuarantineLifted lifted,
               Answer answer) {
  services.ports.runtime.lift_quarantine(
      entity, [entity, lifted = std::move(lifted), answer = std::move(answer)](Result<Unit> done) {
        if (!done) return answer(error_answer({ErrorCode::not_ready, done.error().context}));
        answer(lifted_answer(entity, lifted.who, lifted.why));
      });
}

void on_recorded(Services& services, const PersistenceId& entity, const std::any& reply,
                 const Answer& answer) {
  const auto* known = std::any_cast<billing::QuarantineReply>(&reply);
  if (known == nullptr) return answer(turned_down_answer(Turndown::uncertain));
  if (const auto* told = std::get_if<billing::QuarantineTold>(known)) {
    return run_again(services, entity, told->record.last.value_or(billing::QuarantineLifted{}),
                     answer);
  }
  if (const auto* refused = std::get_if<billing::QuarantineRefused>(known)) {
    return answer(bad_request({ErrorCode::invalid_argument, refused->detail}));
  }
  answer(turned_down_answer(std::get<billing::QuarantineTurnedDown>(*known).why));
}

void record(Services& services, const LiftAct& act, const journal::Quarantined& quarantined,
            Answer answer) {
  const auto since = std::to_string(quarantined.since.ms);
  const std::array<std::string_view, 2> payload{act.entity.value(), since};
  billing::LiftQuarantine lift;
  lift.mark = billing::command_mark(lift_scope, act.request_id, payload);
  lift.quarantined_for = quarantined.reason;
  lift.quarantined_since = quarantined.since;
  lift.who = act.who;
  lift.why = act.why;
  services.ports.runtime.ask(billing::quarantine_persistence_id(act.entity),
                             std::any(billing::QuarantineCommand(std::move(lift))),
                             [&services, entity = act.entity, answer](const std::any& reply) {
                               on_recorded(services, entity, reply, answer);
                             });
}

void check_and_record(Services& services, journal::JournalReader& reader, const LiftAct& act,
                      const Answer& answer) {
  const auto all = reader.quarantined();
  if (!all) return answer(read_failed(all.error()));
  const auto found = std::find_if(all->begin(), all->end(), [&](const auto& entry) {
    return entry.persistence_id == act.entity;
  });
  if (found == all->end()) {
    const auto mark = reader.mark(lift_scope, act.request_id.value(), services.now().wall);
    if (!mark) return answer(read_failed(mark.error()));
    if (*mark) return answer(lifted_answer(act.entity, act.who, act.why));  // said again
    return answer(refusal(ProblemKind::not_found, act.entity.value() + " is not quarantined"));
  }
  auto danger = danger_of(reader, *found);
  if (!danger.empty()) return answer(refusal(ProblemKind::not_possible, std::move(danger)));
  record(services, act, *found, answer);
}

}  // namespace

void lift_quarantine(Services& services, LiftAct act, Answer answer) {
  const bool posted = services.slow_pool.post(
      [&services, act = std::move(act), answer](journal::JournalReader& reader) {
        check_and_record(services, reader, act, answer);
      });
  if (!posted) answer(error_answer({ErrorCode::busy, "too many reads are waiting"}));
}

}  // namespace onceward::ingress
