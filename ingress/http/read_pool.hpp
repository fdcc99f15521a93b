// ReadPool: a few threads, each with a reader of the journal, that do what would block the I/O
// threads. A bounded queue in front of them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <onceward/journal/journal.hpp>

namespace onceward::ingress {

struct ReadPoolOptions {
  std::size_t threads = 2;
  std::size_t waiting_max = 20'000;
};

/// Thread-safe. The journal must outlive it.
class ReadPool {
 public:
  /// Runs on one of the pool's threads; must not throw.
  using Task = std::function<void(journal::JournalReader&)>;

  /// store_* if a reader cannot be opened.
  [[nodiscard]] static Result<std::unique_ptr<ReadPool>> start(journal::Journal& journal,
                                                               const ReadPoolOptions& options);
  ReadPool(const ReadPool&) = delete;
  ReadPool& operator=(const ReadPool&) = delete;
  /// Runs what is queued, then ends the threads.
  ~ReadPool();

  /// False, and the task is not kept, if the queue is full.
  [[nodiscard]] bool post(Task task);

 private:
  explicit ReadPool(std::size_t waiting_max) : waiting_max_(waiting_max) {}
  void run(journal::JournalReader& reader);

  const std::size_t waiting_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;                                        // guarded
  bool stopping_ = false;                                         // guarded
  std::vector<std::unique_ptr<journal::JournalReader>> readers_;  // each used by one thread only
  std::vector<std::thread> threads_;
};

}  // namespace onceward::ingress
