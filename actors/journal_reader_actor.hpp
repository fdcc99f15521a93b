// JournalReaderActor: all reading on one detached thread: histories of entities in batches, due and
// left-over rows, Load queries. Puts recoveries off while the store cannot be read.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <onceward/journal/journal.hpp>

#include "actors/due_plan.hpp"
#include "actors/mail.hpp"
#include "actors/node.hpp"

namespace onceward::actors {

/// Histories read by one replay_many() call.
inline constexpr std::size_t recover_batch_max = 256;

class JournalReaderActor final : public caf::event_based_actor {
 public:
  /// `node` outlives the actor. Open rows last written before `epoch` are taken up at once.
  JournalReaderActor(caf::actor_config& config, Node& node,
                     std::unique_ptr<journal::JournalReader> reader, Epoch epoch);

  caf::behavior make_behavior() override;
  void on_exit() override;

 private:
  void on(mail::Stop&&);
  void on(mail::Recover&& recover);
  void on(mail::RecoverWave&& wave);
  void on(mail::LoadRequest&& load);
  void on(mail::Tick&&);
  void on(mail::StartUp&&);
  void on(mail::RetryRecovery&&);
  void on(mail::BarrierDone&&);
  void on(mail::Flush&&);

  void queue(mail::Recover&& recover);
  void put_off(mail::Recover&& recover);
  void replay_batch(std::vector<mail::Recover> batch);
  void wake(const std::vector<PersistenceId>& ids);
  void take_page(std::size_t limit);
  [[nodiscard]] std::size_t room() const;
  void report(const Error* error);

  Node& node_;
  std::unique_ptr<journal::JournalReader> reader_;

  std::vector<mail::Recover> queued_;
  bool flush_sent_ = false;
  std::size_t waves_expected_ = 0;  // routers that were told to wake and have not answered
  std::multimap<std::int64_t, mail::Recover> put_off_;  // by alarm time

  bool has_problem_ = false;
  DuePlan due_plan_;
  const Epoch epoch_;
  bool pages_left_ = true;
  bool page_running_ = false;
  std::optional<ObligationKey> page_after_;
};

}  // namespace onceward::actors
