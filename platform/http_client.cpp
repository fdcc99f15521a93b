// The thread of HttpClient: takes what was queued, lets libcurl work, hands results back, waits.
#include <onceward/platform/http_client.hpp>

#include "platform/http_events.hpp"
#include "platform/http_transfer.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>

#include <pthread.h>

namespace onceward::platform {

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

/// The pre-request callback came with 7.80, the list of allowed protocols as text with 7.85.
constexpr unsigned curl_version_min = 0x075500;
/// Upper bound of one wait; only a safety net, every event wakes the thread.
constexpr std::chrono::milliseconds wait_max{1'000};

SteadyTime steady_now() {
  return std::chrono::steady_clock::now();
}

struct Submission {
  HttpClientRequest request;
  HttpDone done;
};

struct Timer {
  SteadyTime due;
  std::uint64_t nr = 0;
  std::function<void()> task;
};

/// Heap order: the earliest on top, in the order of calls where equal.
bool is_later(const Timer& a, const Timer& b) {
  return a.due != b.due ? a.due > b.due : a.nr > b.nr;
}

/// Signals are for the main thread; a broken pipe inside the TLS library must not end the process.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

class HttpClient::Impl {
 public:
  explicit Impl(HttpClientOptions options) : options_(std::move(options)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { stop(std::chrono::milliseconds{0}); }

  Result<Unit> set_up();
  void send(HttpClientRequest request, HttpDone done);
  [[nodiscard]] bool call_after(std::chrono::milliseconds delay, std::function<void()> task);
  void stop(std::chrono::milliseconds grace);

 private:
  void run();
  void take_queued();
  void run_due_timers();
  void start_waiting();
  void start_one(Submission submission);
  void finish_ended();
  [[nodiscard]] bool has_ended_by_stop();
  void give_up_all();
  [[nodiscard]] bool has_work();
  [[nodiscard]] std::chrono::milliseconds wait_max_now() const;
  [[nodiscard]] HttpTransfer* free_transfer();
  void answer(HttpClientResult&& result, const HttpDone& done);
  void wake_if(bool needed);

  // --- const after set_up() ---
  HttpClientOptions options_;
  std::vector<curl_slist> common_nodes_;
  // Client's thread only, but for events_.wake(); multi_ reports to both until it is gone.
  HttpIdleSockets idle_;
  HttpEvents events_;
  CurlMulti multi_;
  std::thread::id thread_id_;

  // --- thread-safe ---
  std::atomic<std::size_t> outstanding_{0};

  // --- guarded by mutex_ ---
  std::mutex mutex_;
  std::vector<Submission> queued_;
  std::vector<Timer> queued_timers_;
  std::uint64_t timer_nr_ = 0;
  bool woken_ = false;
  bool stopping_ = false;
  SteadyTime stop_deadline_;  // fixed once stopping_ is true

  // --- client's thread only ---
  std::vector<Submission> taken_;
  std::deque<Submission> waiting_;
  std::vector<Timer> timers_;
  std::vector<std::unique_ptr<HttpTransfer>> transfers_;
  std::vector<HttpTransfer*> free_;
  std::size_t active_ = 0;
  bool stop_seen_ = false;

  std::mutex stop_mutex_;  // one stop() at a time; never held together with mutex_
  std::thread thread_;
};

Result<Unit> HttpClient::Impl::set_up() {
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  const auto version = curl_version_info(CURLVERSION_NOW)->version_num;
  if (global != CURLE_OK || version < curl_version_min) {
    return fail(ErrorCode::io, "libcurl " + std::string(curl_version()) +
                                   " cannot be used: 7.85 or newer is needed to prove what was "
                                   "sent");
  }
  // Without this line a large POST would be sent in two parts, with a wait between.
  options_.common_headers.emplace_back("Expect:");
  link_headers(options_.common_headers, nullptr, common_nodes_);
  multi_.reset(curl_multi_init());
  const auto connections = static_cast<long>(options_.connections_max);
  if (multi_ == nullptr ||
      (curl_multi_setopt)(multi_.get(), CURLMOPT_PIPELINING, long{CURLPIPE_NOTHING}) != CURLM_OK ||
      (curl_multi_setopt)(multi_.get(), CURLMOPT_MAXCONNECTS, connections) != CURLM_OK ||
      (curl_multi_setopt)(multi_.get(), CURLMOPT_MAX_TOTAL_CONNECTIONS, connections) != CURLM_OK) {
    return fail(ErrorCode::io, "libcurl gives no multi handle: out of memory or descriptors");
  }
  if (auto attached = events_.attach(multi_.get()); !attached) return attached;
  auto first = HttpTransfer::create(options_, common_nodes_.data(), idle_);
  if (!first) return Unexpected{first.error()};
  transfers_.push_back(std::move(first).value());
  free_.push_back(transfers_.back().get());
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
  thread_id_ = thread_.get_id();
  return ok();
}

void HttpClient::Impl::send(HttpClientRequest request, HttpDone done) {
  const std::size_t limit = options_.connections_max + options_.waiting_max;
  if (outstanding_.fetch_add(1) >= limit) {
    answer(unsent("busy", "too many requests are waiting for a connection"), done);
    return;
  }
  bool wake = false;
  bool stopped = false;
  {
    const std::lock_guard lock(mutex_);
    stopped = stopping_;
    if (!stopped) {
      queued_.push_back({std::move(request), std::move(done)});
      wake = !std::exchange(woken_, true);
    }
  }
  if (stopped) answer(unsent("stopped", "the client is stopped"), done);
  wake_if(wake);
}

bool HttpClient::Impl::call_after(std::chrono::milliseconds delay, std::function<void()> task) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    queued_timers_.push_back({steady_now() + delay, timer_nr_++, std::move(task)});
    wake = !std::exchange(woken_, true);
  }
  wake_if(wake);
  return true;
}

void HttpClient::Impl::wake_if(bool needed) {
  // The client's own thread looks into the queues before it waits.
  if (!needed || std::this_thread::get_id() == thread_id_) return;
  events_.wake();
}

void HttpClient::Impl::stop(std::chrono::milliseconds grace) {
  const std::lock_guard one_at_a_time(stop_mutex_);
  if (!thread_.joinable()) return;
  ONCEWARD_CHECK(std::this_thread::get_id() != thread_id_, "stop() inside a callback");
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    stop_deadline_ = steady_now() + grace;
  }
  wake_if(true);
  thread_.join();
}

void HttpClient::Impl::run() {
  while (true) {
    take_queued();
    run_due_timers();
    start_waiting();
    events_.act_on_due();
    finish_ended();
    if (has_ended_by_stop()) return;
    events_.wait(has_work() ? std::chrono::milliseconds{0} : wait_max_now());
    finish_ended();
  }
}

void HttpClient::Impl::take_queued() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = false;
    stop_seen_ = stopping_;
    taken_.swap(queued_);
    for (Timer& timer : queued_timers_) {
      timers_.push_back(std::move(timer));
      std::push_heap(timers_.begin(), timers_.end(), is_later);
    }
    queued_timers_.clear();
  }
  for (Submission& submission : taken_) waiting_.push_back(std::move(submission));
  taken_.clear();
}

void HttpClient::Impl::run_due_timers() {
  const SteadyTime now = steady_now();
  while (!timers_.empty() && timers_.front().due <= now) {
    std::pop_heap(timers_.begin(), timers_.end(), is_later);
    const Timer due = std::move(timers_.back());
    timers_.pop_back();
    due.task();
  }
}

void HttpClient::Impl::start_waiting() {
  if (!waiting_.empty()) idle_.end_those_that_speak();
  while (!stop_seen_ && !waiting_.empty() && active_ < options_.connections_max) {
    Submission next = std::move(waiting_.front());
    waiting_.pop_front();
    start_one(std::move(next));
  }
}

HttpTransfer* HttpClient::Impl::free_transfer() {
  if (free_.empty()) {
    auto created = HttpTransfer::create(options_, common_nodes_.data(), idle_);
    if (!created) return nullptr;
    transfers_.push_back(std::move(created).value());
    return transfers_.back().get();
  }
  HttpTransfer* transfer = free_.back();
  free_.pop_back();
  return transfer;
}

void HttpClient::Impl::start_one(Submission submission) {
  HttpTransfer* transfer = free_transfer();
  if (transfer == nullptr) {
    answer(unsent("other", "libcurl gives no handle"), submission.done);
    return;
  }
  if (!transfer->begin(std::move(submission.request), std::move(submission.done))) {
    auto [result, done] = transfer->give_up("malformed");
    free_.push_back(transfer);
    answer(std::move(result), done);
    return;
  }
  ONCEWARD_CHECK(curl_multi_add_handle(multi_.get(), transfer->easy()) == CURLM_OK,
                 "a handle is used twice");
  ++active_;
}

void HttpClient::Impl::finish_ended() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    // Removing the handle invalidates the message.
    const CURLcode code = message->data.result;
    void* self = nullptr;
    (void)(curl_easy_getinfo)(message->easy_handle, CURLINFO_PRIVATE, &self);  // cannot fail
    auto* transfer = static_cast<HttpTransfer*>(self);
    transfer->note_kept_connection();
    curl_multi_remove_handle(multi_.get(), transfer->easy());
    auto [result, done] = transfer->finish(code);
    free_.push_back(transfer);
    --active_;
    answer(std::move(result), done);
  }
}

void HttpClient::Impl::answer(HttpClientResult&& result, const HttpDone& done) {
  outstanding_.fetch_sub(1);
  done(std::move(result));
}

bool HttpClient::Impl::has_ended_by_stop() {
  if (!stop_seen_) return false;
  while (!waiting_.empty()) {
    const Submission next = std::move(waiting_.front());
    waiting_.pop_front();
    answer(unsent("stopped", "the client was stopped before the request was sent"), next.done);
  }
  if (steady_now() >= stop_deadline_) give_up_all();
  return active_ == 0;
}

void HttpClient::Impl::give_up_all() {
  for (const auto& transfer : transfers_) {
    if (std::find(free_.begin(), free_.end(), transfer.get()) != free_.end()) continue;
    curl_multi_remove_handle(multi_.get(), transfer->easy());
    auto [result, done] = transfer->give_up("stopped");
    free_.push_back(transfer.get());
    --active_;
    answer(std::move(result), done);
  }
}

bool HttpClient::Impl::has_work() {
  if (!waiting_.empty() && active_ < options_.connections_max) return true;
  const std::lock_guard lock(mutex_);
  return !queued_.empty() || !queued_timers_.empty() || stopping_ != stop_seen_;
}

std::chrono::milliseconds HttpClient::Impl::wait_max_now() const {
  SteadyTime until = steady_now() + wait_max;
  if (!timers_.empty()) until = std::min(until, timers_.front().due);
  if (stop_seen_) until = std::min(until, stop_deadline_);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_now());
  return std::max(left, std::chrono::milliseconds{0});
}

Result<std::unique_ptr<HttpClient>> HttpClient::start(HttpClientOptions options) {
  constexpr std::size_t connections_limit = 65'536;
  if (options.connections_max == 0 || options.connections_max > connections_limit) {
    return fail(ErrorCode::invalid_argument, "connections_max must be 1 to 65536");
  }
  if (options.connect_timeout.count() <= 0 || options.idle_connection_max.count() <= 0) {
    return fail(ErrorCode::invalid_argument, "timeouts of the HTTP client must be above zero");
  }
  auto impl = std::make_unique<Impl>(std::move(options));
  auto started = impl->set_up();
  if (!started) return Unexpected{started.error()};
  return std::unique_ptr<HttpClient>(new HttpClient(std::move(impl)));
}

HttpClient::HttpClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpClient::~HttpClient() = default;

void HttpClient::send(HttpClientRequest request, HttpDone done) {
  impl_->send(std::move(request), std::move(done));
}

bool HttpClient::call_after(std::chrono::milliseconds delay, std::function<void()> task) {
  return impl_->call_after(delay, std::move(task));
}

void HttpClient::stop(std::chrono::milliseconds grace) {
  impl_->stop(grace);
}

}  // namespace onceward::platform
