// Start, ask, wait, and the checks after each test.
#include "tests/actors/actors_fixture.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace onceward::actors::testing {

namespace {
constexpr std::chrono::seconds patience{10};
}

bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return condition();
}

void Replies::add(std::any reply) {
  const std::lock_guard lock(mutex_);
  texts_.push_back(std::any_cast<CounterReply>(reply).text);
  changed_.notify_all();
}

std::string Replies::at(std::size_t nr) const {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, patience, [&] { return texts_.size() > nr; })) return "nothing";
  return texts_[nr];
}

std::size_t Replies::size() const {
  const std::lock_guard lock(mutex_);
  return texts_.size();
}

void ActorsTest::TearDown() {
  provider.let_go();
  if (runtime) runtime->drain(0);
  for (const auto& asked : asked_) EXPECT_GE(asked->size(), 1u) << "a command was never answered";
  if (runtime) {
    EXPECT_EQ(runtime->stats().entities, 0u);
    EXPECT_EQ(runtime->stats().recovering, 0u);
    EXPECT_EQ(runtime->stats().commands_in_flight, 0u);
  }
  runtime.reset();
  EXPECT_TRUE(provider.settles()) << provider.books();
  EXPECT_TRUE(provider.is_balanced()) << provider.books();
}

RuntimeOptions ActorsTest::quick() {
  RuntimeOptions options;
  options.routers = 4;
  options.tick_ms = 20;
  options.worker_threads = 2;  // on every machine: what races shows only then
  return options;
}

void ActorsTest::start(RuntimeOptions options) {
  const auto tell_result = [](const PersistenceId& from, std::uint64_t nr, std::any reply) {
    return std::any(CounterCommand{Told{from.value() + "#" + std::to_string(nr) + ":" +
                                        std::any_cast<CounterReply>(reply).text}});
  };
  auto started = Runtime::start(std::move(options), journal, provider, clock,
                                {{"customer/", counter_type(switches), tell_result, load}});
  ASSERT_TRUE(started) << started.error().context;
  runtime = std::move(*started);
}

Asked ActorsTest::ask(const PersistenceId& id, CounterCommand command) {
  auto replies = std::make_shared<Replies>();
  asked_.push_back(replies);
  runtime->ask(id, std::any(std::move(command)),
               [replies](std::any reply) { replies->add(std::move(reply)); });
  return replies;
}

std::string ActorsTest::reply(const std::string& name, CounterCommand command) {
  return ask(counter_id(name), std::move(command))->at(0);
}

void ActorsTest::store_open(const std::string& name, const std::string& period, Timestamp next,
                            bool sent) {
  CommitUnit unit;
  unit.persistence_id = counter_id(name);
  unit.epoch = journal.epoch_of(ShardNr{0});
  unit.writer = WriterId{"earlier"};
  unit.at = clock.now().wall;
  unit.events.push_back(encode_counter_event({CounterEvent::Kind::initiated, period}));
  if (sent) unit.events.push_back(encode_counter_event({CounterEvent::Kind::sent, period}));
  unit.rows.push_back({RowWrite::Kind::claim, counter_row(unit.persistence_id, period,
                                                          ObligationStatus::in_progress, next)});
  const auto answers = journal.commit(std::span(&unit, 1));
  ASSERT_TRUE(std::holds_alternative<Stored>(answers.front()));
}

void ActorsTest::next_fates(std::vector<journal::CommitFate> fates) {
  const std::lock_guard lock(journal.mutex());
  memory.script([fates = std::move(fates), nr = std::size_t{0}]() mutable {
    return nr < fates.size() ? fates[nr++] : journal::CommitFate::normal;
  });
}

std::vector<journal::Quarantined> ActorsTest::quarantined() {
  return journal.reader().value()->quarantined().value();
}

}  // namespace onceward::actors::testing
