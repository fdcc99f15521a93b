// mock_provider: the fastest payment provider that can be told apart from a real one: one thread,
// epoll, in memory. For ratios only; the simulator (`onceward sim`) behaves like a provider.
//   mock_provider PORT [DELAY_MS]       commits at arrival, answers after the delay
//   POST /v1/charges · /v1/payment_intents[/{id}/confirm] · GET of the same · GET /stats · GET
//   /dups POST /reset?delay=MS
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

using std::string;
using std::string_view;

double now_ms() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

string_view http_date() {  // made anew once a second
  static std::time_t last = 0;
  static std::array<char, 40> text{};
  const std::time_t t = std::time(nullptr);
  if (t != last) {
    last = t;
    std::tm g{};
    gmtime_r(&t, &g);
    std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &g);
  }
  return text.data();
}

string http(int code, const string& body, string_view extra = "") {
  string out = "HTTP/1.1 " + std::to_string(code) + (code == 200 ? " OK" : " Bad Request");
  out += "\r\nDate: ";
  out += http_date();
  out += "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size());
  out += "\r\n";
  out += extra;
  out += "\r\n";
  return out + body;
}

string_view header(string_view head, string_view name) {
  for (size_t p = head.find("\r\n"); p != string_view::npos;) {
    p += 2;
    const size_t end = head.find("\r\n", p);
    string_view line = head.substr(p, end == string_view::npos ? end : end - p);
    if (line.size() > name.size() && line[name.size()] == ':' &&
        strncasecmp(line.data(), name.data(), name.size()) == 0) {
      line.remove_prefix(name.size() + 1);
      while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
      return line;
    }
    p = end;
  }
  return {};
}

string decode(string_view v) {
  string out;
  for (size_t i = 0; i < v.size(); ++i) {
    if (v[i] == '+') {
      out += ' ';
    } else if (v[i] == '%' && i + 2 < v.size()) {
      out += static_cast<char>(std::strtol(string(v.substr(i + 1, 2)).c_str(), nullptr, 16));
      i += 2;
    } else {
      out += v[i];
    }
  }
  return out;
}

template <class F>
void each_pair(string_view body, F&& f) {
  for (size_t p = 0; p < body.size();) {
    size_t end = body.find('&', p);
    if (end == string_view::npos) end = body.size();
    const string_view pair = body.substr(p, end - p);
    const size_t eq = pair.find('=');
    if (eq != string_view::npos) f(pair.substr(0, eq), pair.substr(eq + 1));
    p = end + 1;
  }
}

string form(string_view body, string_view name) {
  string found;
  each_pair(body, [&](string_view n, string_view v) {
    if (n == name) found = decode(v);
  });
  return found;
}

string quoted(const string& v) {
  string out = "\"";
  for (const char c : v) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 32) out += c;
  }
  return out + "\"";
}

// amount, currency, customer and metadata of a form as JSON members.
string fields(string_view body) {
  string meta;
  each_pair(body, [&](string_view n, string_view v) {
    const string name = decode(n);
    if (name.rfind("metadata[", 0) != 0 || name.back() != ']') return;
    meta += (meta.empty() ? "" : ",") + quoted(name.substr(9, name.size() - 10)) + ":" +
            quoted(decode(v));
  });
  string amount = form(body, "amount");
  if (amount.empty()) amount = "0";
  return ",\"amount\":" + amount + ",\"amount_received\":" + amount +
         ",\"currency\":" + quoted(form(body, "currency")) +
         ",\"customer\":" + quoted(form(body, "customer")) +
         ",\"livemode\":false,\"created\":" + std::to_string(std::time(nullptr)) +
         ",\"metadata\":{" + meta + "}";
}

struct Conn {
  string in, out;
  unsigned generation = 0;
  bool open = false;
};
struct Charge {
  string id, customer, body;
};
struct Intent {
  string id, customer, fields;
  bool paid = false;
};
struct Due {
  double at = 0;
  int fd = 0;
  unsigned generation = 0;
  string response;
};

class MockProvider {
 public:
  MockProvider(int port, double delay_ms) : port_(port), delay_ms_(delay_ms), conns_(65536) {}
  int run();

 private:
  void accept_all();
  void read_from(int fd);
  bool take_request(int fd);
  void handle(int fd, string_view line, string_view head, string_view body);
  string get(string_view line) const;
  void post(int fd, string_view line, string_view head, string_view body);
  bool book(string_view line, string_view body, Charge& charge);
  string stats() const;
  void reset(string_view line);
  void flush(int fd);
  void close_conn(int fd);
  void send_due();

  int port_, listen_ = -1, epoll_ = -1;
  double delay_ms_;
  std::vector<Conn> conns_;
  std::unordered_map<string, Charge> charges_;    // by key
  std::unordered_map<string, Intent> intents_;    // by id
  std::unordered_map<string, int> per_customer_;  // customer -> successful charges
  std::deque<Due> due_;                           // one delay for all: already sorted
  long requests_ = 0, reuses_ = 0, no_key_ = 0;
  int live_ = 0, live_max_ = 0, in_flight_ = 0, in_flight_max_ = 0;
  double first_ = 0, last_ = 0;
};

string intent_json(const Intent& i) {
  return "{\"id\":\"" + i.id + "\",\"object\":\"payment_intent\",\"status\":\"" +
         (i.paid ? "succeeded" : "requires_confirmation") +
         "\",\"latest_charge\":" + (i.paid ? "\"ch_" + i.id + "\"" : "null") + i.fields + "}";
}

string MockProvider::get(string_view line) const {
  const string_view path = line.substr(4, line.find(' ', 4) - 4);
  constexpr string_view one = "/v1/payment_intents/";
  if (path.rfind(one, 0) == 0) {
    const auto found = intents_.find(string(path.substr(one.size())));
    return found == intents_.end() ? http(400, "{}") : http(200, intent_json(found->second));
  }
  const bool charges = path.rfind("/v1/charges", 0) == 0;
  if (charges || path.rfind("/v1/payment_intents", 0) == 0) {
    const size_t query = path.find('?');
    const string want = query == string_view::npos ? "" : form(path.substr(query + 1), "customer");
    string data;
    const auto add = [&data](const string& json) { data += (data.empty() ? "" : ",") + json; };
    for (const auto& [key, c] : charges_) {
      if (charges && c.customer == want && c.id.rfind("ch_", 0) == 0) add(c.body);
    }
    for (const auto& [id, i] : intents_) {
      if (!charges && i.customer == want) add(intent_json(i));
    }
    return http(200, "{\"object\":\"list\",\"has_more\":false,\"data\":[" + data + "]}");
  }
  if (path.rfind("/v1/", 0) == 0) {
    return http(200, "{\"object\":\"account\",\"id\":\"acct_mock\"}");
  }
  if (path == "/stats") return http(200, stats());
  if (path == "/dups") {
    string text;
    for (const auto& [customer, n] : per_customer_) {
      if (n != 1) text += customer + " " + std::to_string(n) + "\n";
    }
    return http(200, text);
  }
  return http(400, "{}");
}

// Executes a keyed POST for the first time; false if its target does not exist.
bool MockProvider::book(string_view line, string_view body, Charge& charge) {
  charge.customer = form(body, "customer");
  if (line.rfind("POST /v1/charges", 0) == 0) {
    charge.id = "ch_" + std::to_string(charges_.size());
    ++per_customer_[charge.customer];
    charge.body = "{\"id\":\"" + charge.id +
                  "\",\"object\":\"charge\",\"status\":\"succeeded\",\"paid\":true,"
                  "\"captured\":true" +
                  fields(body) + "}";
    return true;
  }
  if (line.rfind("POST /v1/payment_intents ", 0) == 0) {
    const string id = "pi_" + std::to_string(intents_.size() + 1);
    Intent& intent = intents_[id] =
        Intent{id, charge.customer, fields(body), form(body, "confirm") == "true"};
    if (intent.paid) ++per_customer_[intent.customer];
    charge.id = id;
    charge.body = intent_json(intent);
    return true;
  }
  const size_t end = line.find("/confirm");
  const auto found = end == string_view::npos || end < 25
                         ? intents_.end()
                         : intents_.find(string(line.substr(25, end - 25)));
  if (found == intents_.end()) return false;
  Intent& intent = found->second;
  if (!intent.paid) {
    intent.paid = true;
    ++per_customer_[intent.customer];
  }
  charge.id = intent.id;
  charge.body = intent_json(intent);
  return true;
}

void MockProvider::post(int fd, string_view line, string_view head, string_view body) {
  Conn& c = conns_[static_cast<size_t>(fd)];
  ++requests_;
  last_ = now_ms();
  if (first_ == 0) first_ = last_;
  const string key(header(head, "idempotency-key"));
  if (key.empty()) {
    ++no_key_;
    c.out += http(400, "{\"error\":\"no idempotency key\"}");
    return;
  }
  const auto [it, fresh] = charges_.try_emplace(key);
  if (!fresh) ++reuses_;
  if (fresh && !book(line, body, it->second)) {
    charges_.erase(it);
    c.out += http(400, "{}");
    return;
  }
  string response = http(200, it->second.body, fresh ? "" : "Idempotent-Replayed: true\r\n");
  if (delay_ms_ <= 0) {
    c.out += response;
    return;
  }
  due_.push_back({last_ + delay_ms_, fd, c.generation, std::move(response)});
  in_flight_max_ = std::max(in_flight_max_, ++in_flight_);
}

string MockProvider::stats() const {
  long one = 0, many = 0;
  for (const auto& [customer, n] : per_customer_) ++(n == 1 ? one : many);
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(),
                "{\"requests\":%ld,\"charges\":%zu,\"customers\":%zu,\"exactly_one\":%ld,"
                "\"double_charged\":%ld,\"key_reuses\":%ld,\"no_key\":%ld,\"max_conns\":%d,"
                "\"max_inflight\":%d,\"span_ms\":%.1f}\n",
                requests_, charges_.size(), per_customer_.size(), one, many, reuses_, no_key_,
                live_max_, in_flight_max_, last_ - first_);
  return text.data();
}

void MockProvider::reset(string_view line) {
  charges_.clear();
  per_customer_.clear();
  intents_.clear();
  requests_ = reuses_ = no_key_ = 0;
  first_ = last_ = 0;
  live_max_ = live_;
  in_flight_max_ = in_flight_;
  const size_t p = line.find("delay=");
  if (p != string_view::npos) delay_ms_ = std::atof(string(line.substr(p + 6)).c_str());
}

void MockProvider::handle(int fd, string_view line, string_view head, string_view body) {
  Conn& c = conns_[static_cast<size_t>(fd)];
  if (line.rfind("GET ", 0) == 0) {
    c.out += get(line);
  } else if (line.rfind("POST /v1/", 0) == 0) {
    post(fd, line, head, body);
  } else if (line.rfind("POST /reset", 0) == 0) {
    reset(line);
    c.out += http(200, "{}");
  } else {
    c.out += http(400, "{}");
  }
}

// Takes one whole request from the connection's buffer; false if it is not complete yet.
bool MockProvider::take_request(int fd) {
  Conn& c = conns_[static_cast<size_t>(fd)];
  const size_t head_end = c.in.find("\r\n\r\n");
  if (head_end == string::npos) return false;
  const string_view all(c.in);
  const string_view head = all.substr(0, head_end);
  const string_view length = header(head, "content-length");
  const size_t body_size = length.empty() ? 0 : std::strtoul(string(length).c_str(), nullptr, 10);
  const size_t need = head_end + 4 + body_size;
  if (c.in.size() < need) return false;
  handle(fd, head.substr(0, head.find("\r\n")), head, all.substr(head_end + 4, body_size));
  c.in.erase(0, need);
  return true;
}

void MockProvider::flush(int fd) {
  Conn& c = conns_[static_cast<size_t>(fd)];
  while (!c.out.empty()) {
    const ssize_t n = ::send(fd, c.out.data(), c.out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n <= 0) break;
    c.out.erase(0, static_cast<size_t>(n));
  }
}

void MockProvider::close_conn(int fd) {
  Conn& c = conns_[static_cast<size_t>(fd)];
  epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
  close(fd);
  c = Conn{{}, {}, c.generation + 1, false};
  --live_;
}

void MockProvider::accept_all() {
  for (;;) {
    const int fd = accept4(listen_, nullptr, nullptr, SOCK_NONBLOCK);
    if (fd < 0) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
    conns_[static_cast<size_t>(fd)].open = true;
    live_max_ = std::max(live_max_, ++live_);
  }
}

void MockProvider::read_from(int fd) {
  static std::vector<char> buffer(65536);
  const ssize_t got = recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got <= 0) {
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) close_conn(fd);
    return;
  }
  conns_[static_cast<size_t>(fd)].in.append(buffer.data(), static_cast<size_t>(got));
  while (take_request(fd)) {
  }
  flush(fd);
}

void MockProvider::send_due() {
  const double now = now_ms();
  while (!due_.empty() && due_.front().at <= now) {
    Due next = std::move(due_.front());
    due_.pop_front();
    --in_flight_;
    Conn& c = conns_[static_cast<size_t>(next.fd)];
    if (!c.open || c.generation != next.generation) continue;
    c.out += next.response;
    flush(next.fd);
  }
}

int MockProvider::run() {
  signal(SIGPIPE, SIG_IGN);
  listen_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  const int on = 1;
  setsockopt(listen_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port_));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listen_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listen_, 4096) != 0) {
    std::perror("mock_provider: listen");
    return 1;
  }
  epoll_ = epoll_create1(0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = listen_;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, listen_, &event);
  std::vector<epoll_event> events(1024);
  for (;;) {
    int timeout = -1;
    if (!due_.empty()) {
      const double wait = due_.front().at - now_ms();
      timeout = wait <= 0 ? 0 : static_cast<int>(wait) + 1;
    }
    const int n = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), timeout);
    for (int i = 0; i < n; ++i) {
      const int fd = events[static_cast<size_t>(i)].data.fd;
      if (fd == listen_) {
        accept_all();
      } else {
        read_from(fd);
      }
    }
    send_due();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int port = argc > 1 ? std::atoi(argv[1]) : 18080;
  return MockProvider(port, argc > 2 ? std::atof(argv[2]) : 0).run();
}
