// limit: billing N customers by hand, as close to what the machine can do as is reasonable: SQLite
// WAL FULL with group commit on one thread, curl_multi on another. No guarantee beyond resume with
// the same key. The yardstick for the runtime, never an example to follow.
//   limit DB PORT N [WINDOW] [CONNS]     WINDOW = customers admitted at once (0 = all)
#include <curl/curl.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using std::string;

constexpr const char* period = "2026-08";

double now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Event {
  int customer = 0;
  int kind = 0;  // 1 initiated, 2 completed
  string payload;
};

class Store {
 public:
  explicit Store(const char* path) {
    check(sqlite3_open(path, &db_));
    sqlite3_exec(db_,
                 "pragma journal_mode=wal; pragma synchronous=full;"
                 "create table if not exists journal(pid text not null, seq int not null,"
                 " kind int not null, payload text not null, primary key(pid,seq)) without rowid",
                 nullptr, nullptr, nullptr);
    insert_ = prepare("insert into journal values(?,?,?,?)");
    begin_ = prepare("begin immediate");
    commit_ = prepare("commit");
  }

  void write(const std::vector<Event>& events) {
    run(begin_);
    for (const auto& e : events) {
      std::array<char, 32> pid{};
      const int n = std::snprintf(pid.data(), pid.size(), "billing-cust_%05d", e.customer);
      sqlite3_bind_text(insert_, 1, pid.data(), n, SQLITE_STATIC);
      sqlite3_bind_int(insert_, 2, e.kind);
      sqlite3_bind_int(insert_, 3, e.kind);
      sqlite3_bind_text(insert_, 4, e.payload.data(), static_cast<int>(e.payload.size()),
                        SQLITE_STATIC);
      run(insert_);
    }
    run(commit_);
  }

  /// state[i]: 0 nothing, 1 initiated, 2 completed.
  std::vector<char> load(int customers) {
    std::vector<char> state(static_cast<size_t>(customers), 0);
    sqlite3_stmt* s = prepare("select pid,max(kind) from journal group by pid");
    while (sqlite3_step(s) == SQLITE_ROW) {
      const auto* pid = reinterpret_cast<const char*>(sqlite3_column_text(s, 0));
      const int i = std::atoi(pid + 13);
      if (i < customers)
        state[static_cast<size_t>(i)] = static_cast<char>(sqlite3_column_int(s, 1));
    }
    sqlite3_finalize(s);
    return state;
  }

 private:
  void check(int rc) {
    if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW) return;
    std::fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(db_));
    std::_Exit(2);
  }
  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* s = nullptr;
    check(sqlite3_prepare_v2(db_, sql, -1, &s, nullptr));
    return s;
  }
  void run(sqlite3_stmt* s) {
    check(sqlite3_step(s));
    sqlite3_reset(s);
  }

  sqlite3* db_ = nullptr;
  sqlite3_stmt *insert_ = nullptr, *begin_ = nullptr, *commit_ = nullptr;
};

struct Slot {
  CURL* handle = nullptr;
  int customer = -1;
  string body, response;
  curl_slist* headers = nullptr;
};

size_t on_data(char* data, size_t size, size_t count, void* user) {
  static_cast<Slot*>(user)->response.append(data, size * count);
  return size * count;
}

class Limit {
 public:
  Limit(const char* db, int port, int customers, int window, int connections)
      : store_(db),
        customers_(customers),
        window_(window > 0 ? window : customers),
        connections_(connections),
        url_("http://127.0.0.1:" + std::to_string(port) + "/v1/charges") {}
  void run();

 private:
  void load();
  void admit(int count);
  void write_loop();
  void start_posts();
  std::vector<Event> take_answers();
  void make_slots();

  Store store_;
  int customers_, window_, connections_;
  string url_;
  std::vector<int> fresh_;
  size_t next_ = 0;

  std::mutex queue_mutex_;  // guards queue_, next_, stop_
  std::condition_variable queue_ready_;
  std::vector<Event> queue_;
  bool stop_ = false;

  std::mutex post_mutex_;  // guards to_post_
  std::vector<int> to_post_;
  std::atomic<int> completed_{0};
  long commits_ = 0;
  int done_before_ = 0;

  CURLM* multi_ = nullptr;
  std::vector<Slot> slots_;
  std::vector<size_t> free_slots_;
  std::vector<int> pending_;
  size_t pending_head_ = 0;
};

void Limit::load() {
  const auto state = store_.load(customers_);
  for (int i = 0; i < customers_; ++i) {
    const char s = state[static_cast<size_t>(i)];
    if (s == 2) {
      ++done_before_;
    } else {
      (s == 1 ? to_post_ : fresh_).push_back(i);
    }
  }
  completed_ = done_before_;
}

void Limit::admit(int count) {
  while (count-- > 0 && next_ < fresh_.size()) {
    const int i = fresh_[next_++];
    std::array<char, 128> payload{};
    std::snprintf(payload.data(), payload.size(),
                  "{\"period\":\"%s\",\"key\":\"bill:cust_%05d:%s\",\"amount\":4999}", period, i,
                  period);
    queue_.push_back({i, 1, payload.data()});
  }
}

void Limit::write_loop() {
  for (;;) {
    std::vector<Event> group;
    {
      std::unique_lock lock(queue_mutex_);
      queue_ready_.wait(lock, [this] { return stop_ || !queue_.empty(); });
      if (queue_.empty()) return;
      group.swap(queue_);
    }
    store_.write(group);
    ++commits_;
    int finished = 0;
    {
      std::lock_guard lock(post_mutex_);
      for (const auto& e : group) {
        if (e.kind == 1) {
          to_post_.push_back(e.customer);
        } else {
          ++finished;
        }
      }
    }
    if (finished > 0) {
      completed_ += finished;
      std::lock_guard lock(queue_mutex_);
      admit(finished);
    }
    curl_multi_wakeup(multi_);
  }
}

void Limit::make_slots() {
  multi_ = curl_multi_init();
  curl_multi_setopt(multi_, CURLMOPT_MAX_TOTAL_CONNECTIONS, static_cast<long>(connections_));
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(connections_));
  slots_.resize(static_cast<size_t>(connections_));
  for (size_t i = 0; i < slots_.size(); ++i) {
    CURL* h = slots_[i].handle = curl_easy_init();
    free_slots_.push_back(i);
    curl_easy_setopt(h, CURLOPT_URL, url_.c_str());
    curl_easy_setopt(h, CURLOPT_PRIVATE, &slots_[i]);
    curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(h, CURLOPT_WRITEDATA, &slots_[i]);
    curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
  }
}

void Limit::start_posts() {
  {
    std::lock_guard lock(post_mutex_);
    pending_.insert(pending_.end(), to_post_.begin(), to_post_.end());
    to_post_.clear();
  }
  while (pending_head_ < pending_.size() && !free_slots_.empty()) {
    Slot& s = slots_[free_slots_.back()];
    free_slots_.pop_back();
    s.customer = pending_[pending_head_++];
    s.response.clear();
    std::array<char, 128> text{};
    std::snprintf(text.data(), text.size(), "customer=cust_%05d&period=%s&amount=4999", s.customer,
                  period);
    s.body = text.data();
    std::snprintf(text.data(), text.size(), "Idempotency-Key: bill:cust_%05d:%s", s.customer,
                  period);
    curl_slist_free_all(s.headers);
    s.headers = curl_slist_append(nullptr, text.data());
    curl_easy_setopt(s.handle, CURLOPT_HTTPHEADER, s.headers);
    curl_easy_setopt(s.handle, CURLOPT_POSTFIELDS, s.body.c_str());
    curl_multi_add_handle(multi_, s.handle);
  }
}

std::vector<Event> Limit::take_answers() {
  std::vector<Event> out;
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    Slot* s = nullptr;
    long code = 0;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &s);
    curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &code);
    curl_multi_remove_handle(multi_, s->handle);
    free_slots_.push_back(static_cast<size_t>(s - slots_.data()));
    const size_t p = s->response.find("\"id\":\"");
    if (message->data.result != CURLE_OK || code != 200 || p == string::npos) {
      pending_.push_back(s->customer);  // again with the same key
      continue;
    }
    const string id = s->response.substr(p + 6, s->response.find('"', p + 6) - p - 6);
    out.push_back(
        {s->customer, 2, "{\"period\":\"" + string(period) + "\",\"charge\":\"" + id + "\"}"});
  }
  return out;
}

void Limit::run() {
  const double start = now_ms();
  load();
  make_slots();
  {
    std::lock_guard lock(queue_mutex_);
    admit(std::max(0, window_ - static_cast<int>(to_post_.size())));
  }
  std::thread writer([this] { write_loop(); });
  queue_ready_.notify_one();
  int running = 0;
  while (completed_ < customers_) {
    start_posts();
    curl_multi_perform(multi_, &running);
    auto answers = take_answers();
    if (!answers.empty()) {
      {
        std::lock_guard lock(queue_mutex_);
        for (auto& e : answers) queue_.push_back(std::move(e));
      }
      queue_ready_.notify_one();
      if (!free_slots_.empty() && pending_head_ < pending_.size()) continue;
    }
    curl_multi_poll(multi_, nullptr, 0, 1000, nullptr);
  }
  {
    std::lock_guard lock(queue_mutex_);
    stop_ = true;
  }
  queue_ready_.notify_one();
  writer.join();
  std::printf("{\"ms\":%.1f,\"n\":%d,\"done_before\":%d,\"commits\":%ld}\n", now_ms() - start,
              customers_, done_before_, commits_);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: limit DB PORT N [WINDOW] [CONNS]\n");
    return 2;
  }
  curl_global_init(CURL_GLOBAL_DEFAULT);
  Limit(argv[1], std::atoi(argv[2]), std::atoi(argv[3]), argc > 4 ? std::atoi(argv[4]) : 0,
        argc > 5 ? std::atoi(argv[5]) : 64)
      .run();
}
