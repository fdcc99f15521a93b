// Shared facts of one runtime; no decisions.
#include "actors/node.hpp"

#include <utility>

namespace onceward::actors {

Node::Node(RuntimeOptions opts, journal::Journal& journal_port, provider::Provider& provider_port,
           const Clock& clock_port, std::vector<EntityBinding> entity_bindings)
    : options(std::move(opts)),
      journal(journal_port),
      provider(provider_port),
      clock(clock_port),
      bindings(std::move(entity_bindings)),
      gate(std::make_shared<Gate>(options.routers)),
      alarm([this](Alarm which) { ring(which); }),
      writer_prefix_(options.node + "/" + std::to_string(clock.now().wall.ms) + "/") {}

Now Node::now() const {
  Now now = clock.now();
  if (!now.provider) now.provider = provider.provider_now();
  return now;
}

const EntityBinding* Node::binding_of(const PersistenceId& id) const noexcept {
  for (const auto& binding : bindings) {
    if (id.value().starts_with(binding.prefix)) return &binding;
  }
  return nullptr;
}

Incarnation Node::next_incarnation() noexcept {
  return {incarnations.fetch_add(1, std::memory_order_relaxed) + 1};
}

WriterId Node::writer_id(Incarnation incarnation) const {
  return WriterId{writer_prefix_ + std::to_string(incarnation.value)};
}

bool Node::try_permit() {
  return !draining.load(std::memory_order_relaxed) && provider.try_acquire();
}

bool Node::is_crowded() const noexcept {
  return entities.count() - leaving.load(std::memory_order_relaxed) >
         static_cast<std::int64_t>(options.resident_max);
}

void Node::ring(Alarm which) {
  switch (which) {
    case Alarm::tick:
      return post(reader, ReaderMail{mail::Tick{}});
    case Alarm::start_up:
      return post(reader, ReaderMail{mail::StartUp{}});
    case Alarm::recovery:
      return post(reader, ReaderMail{mail::RetryRecovery{}});
    case Alarm::barrier:
      return post(writer, WriterMail{mail::RetryBarrier{}});
  }
}

void Node::report_writer(std::string problem) {
  const std::lock_guard lock(mutex_);
  writer_problem_ = std::move(problem);
}

void Node::report_reader(std::string problem) {
  const std::lock_guard lock(mutex_);
  reader_problem_ = std::move(problem);
}

RuntimeStats Node::stats() const {
  const auto size = [](const Tally& tally) { return static_cast<std::size_t>(tally.count()); };
  RuntimeStats stats;
  stats.entities = size(entities);
  stats.recovering = size(recovering);
  stats.commands_in_flight = size(commands);
  stats.activations = activations.load();
  stats.passivations = passivations.load();
  stats.commits = groups.load();
  stats.units = units.load();
  stats.turned_down = turned_down.load();
  stats.store_uncertain = store_uncertain.load();
  const std::lock_guard lock(mutex_);
  stats.store_problem = writer_problem_.empty() ? reader_problem_ : writer_problem_;
  return stats;
}

}  // namespace onceward::actors
