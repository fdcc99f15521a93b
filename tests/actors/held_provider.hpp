// HeldProvider: a provider port whose answers come from a thread of its own, at once or when the
// test lets them go. Keeps a ledger, and the books of its permits.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include <onceward/provider/provider.hpp>

namespace onceward::actors::testing {

/// Thread-safe.
class HeldProvider final : public provider::Provider {
 public:
  explicit HeldProvider(std::size_t permits = 64);
  ~HeldProvider() override;

  bool try_acquire() override;
  void acquire(provider::PermitSink granted) override;
  void release() override;
  void call(ExternalRequest request, provider::AnswerSink answer) override;
  std::optional<Timestamp> provider_now() const override;
  provider::ProviderStats stats() const override;
  void stop(std::int64_t grace_ms) override;

  /// From now on answers wait for let_go().
  void hold();
  void let_go();
  /// The next `n` charges are made, but answered as broken.
  void break_answers(int n);

  /// Charges made for a key.
  [[nodiscard]] int charges(const IdempotencyKey& key) const;
  [[nodiscard]] int posts() const;
  [[nodiscard]] int look_ups() const;
  [[nodiscard]] std::size_t held() const;
  /// Blocks until nothing is queued or held and every permit is back; false after ten seconds.
  [[nodiscard]] bool settles() const;
  /// acquired == called + released, and all permits are back.
  [[nodiscard]] bool is_balanced() const;
  [[nodiscard]] std::string books() const;

 private:
  struct Waiting {
    ExternalRequest request;
    provider::AnswerSink answer;
  };
  void run();
  [[nodiscard]] ExternalAnswer execute(const ExternalRequest& request);
  void give_back(std::unique_lock<std::mutex>& lock);

  const std::size_t permits_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::size_t free_;
  std::deque<provider::PermitSink> queue_;
  std::deque<Waiting> calls_;
  std::map<IdempotencyKey, int> ledger_;
  bool is_held_ = false;
  bool is_stopped_ = false;
  bool is_answering_ = false;
  int broken_left_ = 0;
  int posts_ = 0;
  int look_ups_ = 0;
  std::uint64_t acquired_ = 0;
  std::uint64_t called_ = 0;
  std::uint64_t released_ = 0;
  std::thread thread_;
};

}  // namespace onceward::actors::testing
