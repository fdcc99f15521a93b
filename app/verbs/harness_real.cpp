// The world of real processes: faults drawn from a seed, the verdict by ledger and journal.
#include "app/verbs/harness_real.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <onceward/core/billing_period.hpp>

#include "app/node_client.hpp"
#include "app/verbs/harness_output.hpp"
#include "app/verbs/report.hpp"

namespace onceward::app {

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr int customers_per_run = 60;
constexpr std::chrono::seconds ready_max{30};
constexpr std::chrono::seconds settle_max{180};
constexpr std::string_view first_period = "2025-01";
// One request in seven meets one of these; the rest of what providers do is simulated.
constexpr std::string_view provider_faults =
    R"({"rules":[{"kind":"commit_drop","probability":0.05,"end":"rst"},)"
    R"({"kind":"drop_before","probability":0.05,"end":"fin"},)"
    R"({"kind":"slow","probability":0.05,"delay_ms":400}]})";

/// A process of this very program; killed with its owner.
class Child {
 public:
  Child() = default;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(SIGKILL); }

  [[nodiscard]] Result<Unit> start(std::vector<std::string> words, const fs::path& log) {
    words.insert(words.begin(), "onceward");
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    const int failed = posix_spawn(&pid_, "/proc/self/exe", &files, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed == 0) return ok();
    pid_ = 0;
    return fail(ErrorCode::io, std::string("cannot start a process: ") + std::strerror(failed));
  }
  void signal(int number) const {
    if (pid_ != 0) ::kill(pid_, number);
  }
  /// Waits for the end that the signal brings; the exit code, or -1 after a signal.
  int end(int number) {
    if (pid_ == 0) return -1;
    signal(SIGCONT);
    signal(number);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[nodiscard]] bool has_ended() {
    if (pid_ == 0 || ::waitpid(pid_, nullptr, WNOHANG) == 0) return pid_ == 0;
    pid_ = 0;
    return true;
  }

 private:
  pid_t pid_ = 0;
};

// Below the range from which the kernel takes ports of outgoing connections.
std::uint16_t free_port(std::mt19937_64& random) {
  for (;;) {
    const auto port = static_cast<std::uint16_t>(20'000 + random() % 12'000);
    const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int bound = ::bind(probe, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    ::close(probe);
    if (bound == 0) return port;
  }
}

std::string customer_id(int nr) {
  return "real_" + std::to_string(nr);
}

struct Verdict {
  std::uint64_t charges = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t unbilled = 0;
  std::uint64_t foreign = 0;
  bool journal_is_clean = false;
  [[nodiscard]] bool holds() const {
    return duplicates + unbilled + foreign == 0 && journal_is_clean;
  }
};

class RealWorld {
 public:
  RealWorld(fs::path directory, std::uint64_t seed)
      : directory_(std::move(directory)),
        random_(seed),
        ports_(std::random_device{}()),
        period_(BillingPeriod::parse(first_period).value()) {}

  [[nodiscard]] Result<Unit> set_up();
  /// One fault after another until `kills` were done; begins the next period when one is billed.
  [[nodiscard]] Result<Unit> torment(int kills);
  [[nodiscard]] Result<Unit> let_end();
  [[nodiscard]] Result<Verdict> judge();

  int killed = 0;
  int stopped = 0;
  std::vector<std::string> periods;

 private:
  [[nodiscard]] Result<Unit> write_files();
  [[nodiscard]] Result<Unit> start_node();
  [[nodiscard]] Result<Unit> wait_until_up(const std::string& url, const char* path, Child& child);
  [[nodiscard]] Result<Unit> begin_run();
  [[nodiscard]] Result<bool> has_completed();
  [[nodiscard]] Result<bool> has_settled();
  [[nodiscard]] static Result<NodeAnswer> post(const std::string& url, std::string path,
                                               std::string body);
  [[nodiscard]] static Result<NodeAnswer> get(const std::string& url, std::string path);
  [[nodiscard]] milliseconds between(int least, int most) {
    return milliseconds{least + static_cast<int>(random_() % static_cast<unsigned>(most - least))};
  }

  const fs::path directory_;
  std::mt19937_64 random_;         // of the faults
  std::mt19937_64 ports_;          // not of the seed: two runs of one seed may stand side by side
  BillingPeriod period_;           // of the next run
  std::vector<std::string> runs_;  // ids; the last one is the present one
  std::string sim_url_;
  std::string node_url_;
  std::string admin_url_;
  Child sim_;
  Child node_;
};

Result<NodeAnswer> RealWorld::post(const std::string& url, std::string path, std::string body) {
  auto client = NodeClient::open({{}, url, {}, false});
  if (!client) return Unexpected{std::move(client).error()};
  NodeRequest request;
  request.method = platform::HttpMethod::post;
  request.path = std::move(path);
  request.body = std::move(body);
  return client->ask(std::move(request));
}

Result<NodeAnswer> RealWorld::get(const std::string& url, std::string path) {
  auto client = NodeClient::open({{}, url, {}, false});
  if (!client) return Unexpected{std::move(client).error()};
  NodeRequest request;
  request.path = std::move(path);
  request.timeout = milliseconds{5'000};
  return client->ask(std::move(request));
}

Result<Unit> RealWorld::wait_until_up(const std::string& url, const char* path, Child& child) {
  for (const auto until = SteadyClock::now() + ready_max; SteadyClock::now() < until;) {
    if (child.has_ended()) break;
    const auto answer = get(url, path);
    if (answer && answer->is_success()) return ok();
    std::this_thread::sleep_for(milliseconds{20});
  }
  return fail(ErrorCode::not_ready,
              "a process was not ready in time; its log is in " + directory_.string());
}

Result<Unit> RealWorld::write_files() {
  const auto address = [this] { return "127.0.0.1:" + std::to_string(free_port(ports_)); };
  const std::string sim = address();
  const std::string node = address();
  const std::string admin = address();
  sim_url_ = "http://" + sim;
  node_url_ = "http://" + node;
  admin_url_ = "http://" + admin;
  std::ofstream key(directory_ / "key");
  ::chmod((directory_ / "key").c_str(), 0600);
  key << "sk_test_real\n";
  std::ofstream csv(directory_ / "customers.csv");
  csv << "customer,amount_minor,currency,payment_method\n";
  for (int nr = 0; nr < customers_per_run; ++nr) {
    csv << customer_id(nr) << ',' << 1'000 + nr << ",usd,pm_card_visa\n";
  }
  std::ofstream config(directory_ / "onceward.toml");
  config << "[node]\ndata_dir = \"" << directory_.string() << "\"\n[http]\nlisten = \"" << node
         << "\"\nadmin_listen = \"" << admin << "\"\n[store]\npath = \""
         << (directory_ / "billing.db").string() << "\"\n[provider]\nbase_url = \"" << sim_url_
         << "\"\nkey_file = \"" << (directory_ / "key").string()
         << "\"\nrate_per_second = 0\nmax_in_flight = 8\n[keys]\nnamespace = \"real\"\n"
            "[schedule]\ncustomers = \""
         << (directory_ / "customers.csv").string() << "\"\nwindow = 8\n";
  key.close();
  csv.close();
  config.close();
  if (!key || !csv || !config) {
    return fail(ErrorCode::io, "cannot write to " + directory_.string());
  }
  return ok();
}

Result<Unit> RealWorld::set_up() {
  if (auto written = write_files(); !written) return written;
  auto started = sim_.start({"sim", "--listen", sim_url_.substr(7), "--latency", "40"},
                            directory_ / "sim.log");
  if (!started) return started;
  if (auto up = wait_until_up(sim_url_, "/_sim", sim_); !up) return up;
  auto faults = post(sim_url_, "/_sim/faults", std::string(provider_faults));
  if (!faults) return Unexpected{std::move(faults).error()};
  if (!faults->is_success()) {
    return fail(ErrorCode::invalid_argument, "the simulator refuses the faults: " + faults->text);
  }
  if (auto up = start_node(); !up) return up;
  return begin_run();
}

Result<Unit> RealWorld::start_node() {
  auto started = node_.start({"serve", "-c", (directory_ / "onceward.toml").string()},
                             directory_ / "node.log");
  if (!started) return started;
  return wait_until_up(admin_url_, "/readyz", node_);
}

Result<Unit> RealWorld::begin_run() {
  const std::string period = period_.text();
  auto planned = post(node_url_, "/v1/runs", R"({"dry_run":true,"period":")" + period + "\"}");
  if (!planned) return Unexpected{std::move(planned).error()};
  auto begun = post(node_url_, "/v1/runs",
                    R"({"dry_run":false,"period":")" + period + R"(","plan":")" +
                        planned->text_at("plan") + "\"}");
  if (!begun) return Unexpected{std::move(begun).error()};
  std::string run = begun->text_at("id");
  if (run.empty()) {
    return fail(ErrorCode::invalid_argument, "the node starts no run: " + begun->text);
  }
  runs_.push_back(std::move(run));
  periods.push_back(period);
  period_ = period_.successor();
  return ok();
}

Result<bool> RealWorld::has_completed() {
  auto shown = get(node_url_, "/v1/runs/" + runs_.back());
  if (!shown) return Unexpected{std::move(shown).error()};
  return shown->text_at("status") == "completed";
}

Result<Unit> RealWorld::torment(int kills) {
  const bool is_terminal = ::isatty(STDERR_FILENO) == 1;
  auto told = SteadyClock::now();
  while (killed + stopped < kills) {
    std::this_thread::sleep_for(between(30, 250));
    auto completed = has_completed();
    if (!completed) return Unexpected{std::move(completed).error()};
    if (*completed) {
      if (auto begun = begin_run(); !begun) return begun;
      continue;
    }
    if (random_() % 5 == 0) {
      node_.signal(SIGSTOP);
      std::this_thread::sleep_for(between(100, 700));
      node_.signal(SIGCONT);
      ++stopped;
    } else {
      node_.end(SIGKILL);
      ++killed;
      if (auto up = start_node(); !up) return up;
    }
    if (is_terminal || SteadyClock::now() - told > std::chrono::seconds{10}) {
      told = SteadyClock::now();
      std::fprintf(stderr,
                   is_terminal ? "\r%d of %d kills and stops " : "%d of %d kills and stops\n",
                   killed + stopped, kills);
    }
  }
  if (is_terminal) std::fputs("\r\033[K", stderr);
  return ok();
}

// A run has completed when every row has an outcome; one that is not known yet settles afterwards.
Result<bool> RealWorld::has_settled() {
  for (const auto& run : runs_) {
    auto shown = get(node_url_, "/v1/runs/" + run);
    if (!shown) return Unexpected{std::move(shown).error()};
    const auto completed =
        json::value_to<std::uint64_t>(shown->body.at("by_status").as_object().contains("completed")
                                          ? shown->body.at("by_status").at("completed")
                                          : json::value(0));
    if (completed < customers_per_run) return false;
  }
  return true;
}

Result<Unit> RealWorld::let_end() {
  for (const auto until = SteadyClock::now() + settle_max; SteadyClock::now() < until;) {
    auto settled = has_settled();
    if (!settled) return Unexpected{std::move(settled).error()};
    if (*settled) break;  // if not in time, the ledger shows what is missing
    std::this_thread::sleep_for(milliseconds{200});
  }
  // Drained: whatever it had in hand is stored.
  if (node_.end(SIGTERM) == 0) return ok();
  return fail(ErrorCode::io, "the node did not end well after SIGTERM");
}

Result<Verdict> RealWorld::judge() {
  std::map<std::pair<std::string, std::string>, std::uint64_t> expected;
  for (const auto& period : periods) {
    for (int nr = 0; nr < customers_per_run; ++nr) expected[{customer_id(nr), period}] = 0;
  }
  auto ledger = get(sim_url_, "/_sim/ledger");
  if (!ledger) return Unexpected{std::move(ledger).error()};
  const auto* rows = ledger->body.if_array();
  if (rows == nullptr) return fail(ErrorCode::store_io, "the simulator shows no ledger");
  Verdict verdict;
  for (const auto& row : *rows) {
    ++verdict.charges;
    const auto text = [&row](const char* member) {
      return std::string(row.at(member).as_string().c_str());
    };
    const auto found = expected.find({text("customer"), text("period")});
    if (found == expected.end()) {
      ++verdict.foreign;
    } else if (++found->second > 1) {
      ++verdict.duplicates;
    }
  }
  for (const auto& [key, charges] : expected) verdict.unbilled += charges == 0 ? 1 : 0;
  Child verify;
  auto started = verify.start({"journal", "verify", "-c", (directory_ / "onceward.toml").string()},
                              directory_ / "verify.log");
  if (!started) return Unexpected{std::move(started).error()};
  verdict.journal_is_clean = verify.end(0) == 0;
  return verdict;
}

Result<fs::path> fresh_directory() {
  std::string name = (fs::temp_directory_path() / "onceward-real-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    return fail(ErrorCode::io, "cannot make a directory " + name + ": " + std::strerror(errno));
  }
  return fs::path(name);
}

void tell(const HarnessOptions& options, const RealWorld& world, const Verdict& verdict,
          double seconds, std::uint64_t seed) {
  if (options.json_file != "-") {
    std::printf(
        "real                   %d kills, %d stops: %s\n"
        "                       charges %llu  duplicates %llu  unbilled %llu  foreign %llu  "
        "journal %s; %zu periods, %d customers; %.1f s\n",
        world.killed, world.stopped, verdict.holds() ? "every charge once" : "VIOLATED",
        static_cast<unsigned long long>(verdict.charges),
        static_cast<unsigned long long>(verdict.duplicates),
        static_cast<unsigned long long>(verdict.unbilled),
        static_cast<unsigned long long>(verdict.foreign),
        verdict.journal_is_clean ? "clean" : "DIFFERS", world.periods.size(), customers_per_run,
        seconds);
    if (!verdict.holds()) {
      std::printf("    onceward harness run --real --kills %d --seed %llu\n",
                  world.killed + world.stopped, static_cast<unsigned long long>(seed));
    }
  }
}

std::string to_json(const RealWorld& world, const Verdict& verdict, double seconds,
                    std::uint64_t seed) {
  return json::serialize(json::object{{"scenario", "real"},
                                      {"seed", seed},
                                      {"holds", verdict.holds()},
                                      {"kills", world.killed},
                                      {"stops", world.stopped},
                                      {"periods", world.periods.size()},
                                      {"customers", customers_per_run},
                                      {"charges", verdict.charges},
                                      {"duplicates", verdict.duplicates},
                                      {"unbilled", verdict.unbilled},
                                      {"foreign", verdict.foreign},
                                      {"journal_clean", verdict.journal_is_clean},
                                      {"seconds", seconds}}) +
         "\n";
}

}  // namespace

ExitCode harness_real(const HarnessOptions& options) {
  const auto directory = fresh_directory();
  if (!directory) return report(directory.error());
  const std::uint64_t seed = options.seed < 0 ? 1 : static_cast<std::uint64_t>(options.seed);
  const auto started = SteadyClock::now();
  std::optional<Verdict> verdict;
  ExitCode exit = ExitCode::incomplete;
  {
    RealWorld world(*directory, seed);
    auto done = world.set_up();
    if (done) done = world.torment(options.kills);
    if (done) done = world.let_end();
    if (done) {
      auto judged = world.judge();
      if (judged)
        verdict = *judged;
      else
        done = Unexpected{judged.error()};
    }
    if (!done) (void)report(done.error());
    if (verdict) {
      const double seconds = std::chrono::duration<double>(SteadyClock::now() - started).count();
      exit = verdict->holds() ? ExitCode::ok : ExitCode::failed;
      tell(options, world, *verdict, seconds, seed);
      if (!options.json_file.empty()) {
        const auto written = write_text(options.json_file, to_json(world, *verdict, seconds, seed));
        if (!written) exit = report(written.error());
      }
    }
  }
  std::error_code ignored;
  if (exit == ExitCode::ok) {
    fs::remove_all(*directory, ignored);
  } else {
    std::fprintf(stderr, "onceward: store, ledger and logs are in %s\n", directory->c_str());
  }
  return exit;
}

}  // namespace onceward::app
