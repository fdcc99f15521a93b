// The reader threads and their queue.
#include "ingress/http/read_pool.hpp"

namespace onceward::ingress {

Result<std::unique_ptr<ReadPool>> ReadPool::start(journal::Journal& journal,
                                                  const ReadPoolOptions& options) {
  std::unique_ptr<ReadPool> pool(new ReadPool(options.waiting_max));
  for (std::size_t i = 0; i < options.threads; ++i) {
    auto reader = journal.reader();
    if (!reader) return Unexpected{std::move(reader).error()};
    pool->readers_.push_back(std::move(*reader));
  }
  for (auto& reader : pool->readers_) {
    pool->threads_.emplace_back([self = pool.get(), r = reader.get()] { self->run(*r); });
  }
  return pool;
}

ReadPool::~ReadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
}

bool ReadPool::post(Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || tasks_.size() >= waiting_max_) return false;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
  return true;
}

void ReadPool::run(journal::JournalReader& reader) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task(reader);
    task = nullptr;  // what it holds may end here, not under the lock
    lock.lock();
  }
}

}  // namespace onceward::ingress
