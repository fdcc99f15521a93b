// The façade: starts the actors, stops them in order. Order of a stop: no new commands, calls in
// flight answered and stored, gate closed, routers and entities, then writer and reader, then CAF.
#include <onceward/actors/runtime.hpp>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>

#include "actors/journal_reader_actor.hpp"
#include "actors/journal_writer_actor.hpp"
#include "actors/node.hpp"
#include "actors/router_actor.hpp"

namespace onceward::actors {

namespace {

constexpr std::chrono::milliseconds stop_report_after{30'000};

caf::actor_system_config& prepared(caf::actor_system_config& config, std::size_t worker_threads) {
  register_mail_types();
  configure(config, worker_threads);
  return config;
}

/// CAF 0.17.6 leaves a reference to the system's logger in each thread that makes a system or
/// spawns into one, and the system's destructor waits until these threads have ended or made
/// another system. A caller's thread would let a stop from any other thread hang.
template <class F>
void on_own_thread(F&& work) {
  std::thread(std::forward<F>(work)).join();
}

class CafRuntime final : public Runtime {
 public:
  CafRuntime(RuntimeOptions options, journal::Journal& journal, provider::Provider& provider,
             const Clock& clock, std::vector<EntityBinding> bindings)
      : node_(std::move(options), journal, provider, clock, std::move(bindings)) {}
  ~CafRuntime() override { stop(0); }

  void begin(std::unique_ptr<journal::JournalReader> reader, Epoch epoch,
             std::vector<std::vector<PersistenceId>> quarantined) {
    std::vector<caf::actor> routers;
    on_own_thread([&] {
      system_ =
          std::make_unique<caf::actor_system>(prepared(config_, node_.options.worker_threads));
      node_.writer = system_->spawn<JournalWriterActor, caf::detached>(std::ref(node_));
      node_.reader = system_->spawn<JournalReaderActor, caf::detached>(std::ref(node_),
                                                                       std::move(reader), epoch);
      for (auto& ids : quarantined) {
        routers.push_back(system_->spawn<RouterActor>(std::ref(node_), std::move(ids)));
      }
    });
    node_.gate->open(std::move(routers));
    node_.alarm.set(Alarm::start_up, 0);
    node_.alarm.set(Alarm::tick, node_.options.tick_ms);
  }

  void ask(const PersistenceId& to, std::any command, ReplySink reply) override {
    const EntityBinding* binding = node_.binding_of(to);
    ONCEWARD_CHECK(binding != nullptr, "no binding serves this persistence id");
    auto open = OpenCommand::admit(node_, *binding, std::move(command), std::move(reply));
    if (open) node_.gate->deliver(to, mail::Command{std::move(open)});
  }

  void wake(const PersistenceId& id) override {
    ONCEWARD_CHECK(node_.binding_of(id) != nullptr, "no binding serves this persistence id");
    node_.gate->deliver(id, mail::Wake{});
  }

  void lift_quarantine(const PersistenceId& id, std::function<void(Result<Unit>)> done) override {
    node_.gate->post_to(node_.gate->router_of(id),
                        RouterMail{mail::Lift{id, std::make_unique<OpenLift>(std::move(done))}});
  }

  [[nodiscard]] bool is_recovered() const override { return node_.recovered.load(); }
  [[nodiscard]] RuntimeStats stats() const override { return node_.stats(); }
  void drain(std::int64_t grace_ms) override { stop(grace_ms); }

 private:
  void stop(std::int64_t grace_ms) {
    const std::lock_guard lock(stop_mutex_);
    if (!system_) return;
    node_.draining.store(true);
    (void)node_.gate->work()->wait_zero(std::chrono::milliseconds(grace_ms));  // else resumable
    node_.stopping.store(true);
    node_.alarm.stop();
    for (const auto& router : node_.gate->close()) post(router, RouterMail{mail::Stop{}});
    wait(node_.routers, "routers");
    wait(node_.entities, "entities");
    post(node_.writer, WriterMail{mail::Stop{}});
    post(node_.reader, ReaderMail{mail::Stop{}});
    wait(node_.services, "journal actors");
    // A detached thread of 0.17.6 ends with the last handle of its actor.
    node_.writer = {};
    node_.reader = {};
    system_.reset();
  }

  // Store or user code may hang; then this says where, so that a supervisor's kill is explained.
  static void wait(Tally& tally, const char* what) {
    while (!tally.wait_zero(stop_report_after)) {
      std::fprintf(stderr, "onceward: stop waits for %lld %s\n",
                   static_cast<long long>(tally.count()), what);
    }
  }

  Node node_;
  caf::actor_system_config config_;
  std::unique_ptr<caf::actor_system> system_;  // guarded by stop_mutex_ once begun; null = stopped
  std::mutex stop_mutex_;
};

Result<Unit> check(const RuntimeOptions& options, const std::vector<EntityBinding>& bindings) {
  const auto positive = [](std::string_view name, auto value) -> Result<Unit> {
    if (value >= 1) return ok();
    return fail(ErrorCode::invalid_config, "runtime: " + std::string(name) + " must be at least 1");
  };
  for (const auto& checked :
       {positive("routers", options.routers), positive("shards", options.shards),
        positive("resident_max", options.resident_max),
        positive("admission_max", options.admission_max),
        positive("worker_threads", options.worker_threads),
        positive("due_batch", options.due_batch), positive("tick_ms", options.tick_ms),
        positive("deaths_max", options.deaths_max)}) {
    if (!checked) return checked;
  }
  for (auto binding = bindings.begin(); binding != bindings.end(); ++binding) {
    if (binding->prefix.empty() || !binding->type.create || !binding->type.turn_down) {
      return fail(ErrorCode::invalid_config,
                  "runtime: the binding for '" + binding->prefix + "' lacks a prefix or a type");
    }
    const auto overlaps = [&](const EntityBinding& other) {
      return other.prefix.starts_with(binding->prefix) || binding->prefix.starts_with(other.prefix);
    };
    if (std::any_of(bindings.begin(), binding, overlaps)) {
      return fail(ErrorCode::invalid_config,
                  "runtime: two bindings serve ids that begin with '" + binding->prefix + "'");
    }
  }
  return ok();
}

}  // namespace

std::size_t default_worker_threads() noexcept {
  return std::max<std::size_t>(1, std::thread::hardware_concurrency() / 2);
}

Result<std::unique_ptr<Runtime>> Runtime::start(RuntimeOptions options, journal::Journal& journal,
                                                provider::Provider& provider, const Clock& clock,
                                                std::vector<EntityBinding> bindings) {
  if (auto checked = check(options, bindings); !checked) {
    return Unexpected{std::move(checked).error()};
  }
  auto reader = journal.reader();
  if (!reader) return Unexpected{std::move(reader).error()};
  auto quarantined = (*reader)->quarantined();
  if (!quarantined) return Unexpected{std::move(quarantined).error()};
  Epoch epoch;
  for (std::uint32_t nr = 0; nr < options.shards; ++nr) {
    epoch = std::max(epoch, journal.epoch_of(ShardNr{nr}));
  }

  const Gate hash(options.routers);
  std::vector<std::vector<PersistenceId>> by_router(options.routers);
  for (auto& entry : *quarantined) {
    by_router[hash.router_of(entry.persistence_id)].push_back(std::move(entry.persistence_id));
  }
  auto runtime = std::make_unique<CafRuntime>(std::move(options), journal, provider, clock,
                                              std::move(bindings));
  runtime->begin(std::move(*reader), epoch, std::move(by_router));
  return std::unique_ptr<Runtime>(std::move(runtime));
}

}  // namespace onceward::actors
