// What scenarios, counts and sets of oracles can do by themselves.
#include <onceward/harness/scenario.hpp>

#include <onceward/harness/world.hpp>

namespace onceward::harness {

void Counts::add(const Counts& o) noexcept {
  steps += o.steps;
  crash_points += o.crash_points;
  crashes += o.crashes;
  ambiguities += o.ambiguities;
  duplicates += o.duplicates;
  lost_replies += o.lost_replies;
  provider_faults += o.provider_faults;
  takeovers += o.takeovers;
  switches += o.switches;
  permit_waits += o.permit_waits;
}

std::uint64_t Counts::faults() const noexcept {
  return crashes + ambiguities + duplicates + lost_replies + provider_faults + takeovers;
}

std::string_view to_text(Lane lane) noexcept {
  switch (lane) {
    case Lane::caller:
      return "caller";
    case Lane::node_a:
      return "node A";
    case Lane::node_b:
      return "node B";
    case Lane::journal:
      return "journal";
    case Lane::provider:
      return "provider";
  }
  check_failed("lane", __FILE__, __LINE__, "a Lane outside its enumerators");
}

Oracles::Oracles(const Oracles& other) {
  all_.reserve(other.all_.size());
  for (const auto& oracle : other.all_) all_.push_back(oracle->clone());
}

Oracles& Oracles::operator=(const Oracles& other) {
  if (this != &other) *this = Oracles(other);
  return *this;
}

std::string problem_of(const Scenario& s) {
  const std::string who = "scenario `" + s.name + "`: ";
  if (s.name.empty()) return "a scenario needs a name";
  if (!s.type.create) return who + "no entity type; make one with entity_under_test()";
  if (s.entities.empty()) return who + "no entity";
  if (s.asks.empty()) return who + "no command: nothing would happen";
  for (const auto& ask : s.asks) {
    if (ask.entity >= s.entities.size()) return who + "a command for an entity that is not listed";
  }
  if (!s.provider) return who + "no provider model";
  if (!s.read_reply) return who + "no read_reply: nobody could tell what a reply claims";
  if (!s.oracles || s.oracles().empty()) return who + "no oracle: every schedule would hold";
  if (s.faults.provider_faults > 0 && s.faults.fates.empty()) {
    return who + "provider faults without any fate to choose from";
  }
  if (s.faults.downtimes.empty()) return who + "no downtime; 0 is one";
  return {};
}

}  // namespace onceward::harness
