// The simulator behind a real socket: how answers end on the wire, running keys, restarts.
#include <onceward/provider/simulator/simulator.hpp>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/platform/raw_socket.hpp"
#include "tests/provider/api_client.hpp"

namespace onceward::provider::simulator {
namespace {

using std::chrono::milliseconds;
using test::body_of;
using test::charge_form;
using test::RawSocket;
using test::status_of;
using test::WireEnd;

std::unique_ptr<Simulator> start(SimulatorOptions options = {}) {
  auto simulator = Simulator::start(std::move(options));
  EXPECT_TRUE(simulator.has_value()) << simulator.error().context;
  return std::move(simulator).value();
}

std::string charge_request(const std::string& key) {
  return "POST /v1/charges HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk_test_1\r\n"
         "Idempotency-Key: " +
         key +
         "\r\nContent-Type: application/x-www-form-urlencoded\r\n"
         "Content-Length: " +
         std::to_string(charge_form.size()) + "\r\n\r\n" + charge_form;
}

void set_faults(Simulator& simulator, std::string_view json) {
  const auto set = simulator.set_faults(json);
  ASSERT_TRUE(set.has_value()) << set.error().context;
}

class TemporaryDb {
 public:
  TemporaryDb() : path_(testing::TempDir() + "simulator_" + std::to_string(::getpid()) + ".db") {
    remove();
  }
  ~TemporaryDb() { remove(); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void remove() const {
    for (const char* suffix : {"", "-wal", "-shm", ".lock"}) {
      std::filesystem::remove(path_ + suffix);
    }
  }
  std::string path_;
};

TEST(SimulatorSocket, ServesApiAndControlOnOnePort) {
  auto simulator = start();
  RawSocket socket(simulator->port());
  const std::string charged = socket.ask(charge_request("k1"));
  EXPECT_EQ(status_of(charged), 200);
  EXPECT_NE(charged.find("Request-Id: req_"), std::string::npos);
  const std::string again = socket.ask(charge_request("k1"));
  EXPECT_EQ(body_of(again), body_of(charged));
  EXPECT_NE(again.find("Idempotent-Replayed: true"), std::string::npos);
  const std::string ledger = socket.ask("GET /_sim/ledger HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(test::parse_json(body_of(ledger)).as_array().size(), 1U);
  EXPECT_EQ(simulator->ledger().size(), 1U);
  const auto trace = simulator->trace();
  ASSERT_EQ(trace.size(), 2U);
  EXPECT_EQ(trace[1].connection, 1U);
  EXPECT_EQ(trace[1].nr_on_connection, 2U);
}

TEST(SimulatorSocket, DropsBeforeAndAfterTheMoneyByFinAndReset) {
  auto simulator = start();
  set_faults(*simulator, R"({"rules":[
      {"kind":"drop_before","match":{"key":"k1"},"count":1},
      {"kind":"drop_before","end":"rst","match":{"key":"k2"},"count":1},
      {"kind":"commit_drop","match":{"key":"k3"},"count":1},
      {"kind":"commit_drop","end":"rst","match":{"key":"k4"},"count":1}]})");
  const std::pair<const char*, WireEnd> cases[] = {
      {"k1", WireEnd::fin}, {"k2", WireEnd::rst}, {"k3", WireEnd::fin}, {"k4", WireEnd::rst}};
  for (const auto& [key, end] : cases) {
    RawSocket socket(simulator->port());
    socket.send(charge_request(key));
    EXPECT_EQ(socket.read_to_end(), "") << key;
    EXPECT_EQ(socket.end(), end) << key;
  }
  EXPECT_EQ(simulator->ledger().size(), 2U);
  RawSocket socket(simulator->port());
  for (const auto& entry : cases)
    EXPECT_EQ(status_of(socket.ask(charge_request(entry.first))), 200);
  EXPECT_EQ(simulator->ledger().size(), 4U);
  EXPECT_TRUE(simulator->groups_above({"key"}, 1)->empty());
}

TEST(SimulatorSocket, CutsAnAnswerInTheMiddle) {
  auto simulator = start();
  set_faults(*simulator, R"({"rules":[
      {"kind":"commit_rst_mid","bytes":10,"match":{"key":"k1"}},
      {"kind":"commit_rst_mid","bytes":10,"end":"fin","match":{"key":"k2"}}]})");
  for (const auto& [key, end] : {std::pair{"k1", WireEnd::rst}, std::pair{"k2", WireEnd::fin}}) {
    RawSocket socket(simulator->port());
    socket.send(charge_request(key));
    const std::string got = socket.read_to_end();
    EXPECT_EQ(status_of(got), 200);
    EXPECT_EQ(body_of(got).size(), 10U);
    const std::size_t length = got.find("Content-Length: ");
    ASSERT_NE(length, std::string::npos);
    EXPECT_GT(std::stoul(got.substr(length + 16)), 10U);
    EXPECT_EQ(socket.end(), end);
  }
  EXPECT_EQ(simulator->ledger().size(), 2U);
}

TEST(SimulatorSocket, HangsWithoutAByteWhileOthersAreServed) {
  auto simulator = start();
  set_faults(*simulator, R"({"rules":[{"kind":"hang","commit":true,"match":{"key":"k1"}}]})");
  RawSocket hanging(simulator->port());
  hanging.send(charge_request("k1"));
  RawSocket other(simulator->port());
  EXPECT_EQ(status_of(other.ask(charge_request("k2"))), 200);
  EXPECT_FALSE(hanging.receive(milliseconds(100)));
  EXPECT_EQ(hanging.end(), WireEnd::open);
  EXPECT_EQ(simulator->ledger().size(), 2U);
  simulator->stop();
  EXPECT_EQ(hanging.read_to_end(), "");
}

TEST(SimulatorSocket, Answers409WhileTheSameKeyRuns) {
  auto simulator = start();
  set_faults(*simulator, R"({"rules":[{"kind":"slow","delay_ms":150,"count":1}]})");
  RawSocket first(simulator->port());
  first.send(charge_request("k1"));
  RawSocket second(simulator->port());
  std::string conflict;
  // The first request is on its way; until it has arrived the second would be the first.
  while (simulator->trace().empty()) std::this_thread::sleep_for(milliseconds(1));
  conflict = second.ask(charge_request("k1"));
  EXPECT_EQ(status_of(conflict), 409);
  EXPECT_NE(conflict.find("idempotency_key_in_use"), std::string::npos);
  const std::string answer = first.read_answer();
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_EQ(body_of(second.ask(charge_request("k1"))), body_of(answer));
  EXPECT_EQ(simulator->ledger().size(), 1U);
}

TEST(SimulatorSocket, HoldsAnswersBackByItsLatency) {
  SimulatorOptions options;
  options.settings.latency = milliseconds(80);
  auto simulator = start(options);
  RawSocket socket(simulator->port());
  socket.send(charge_request("k1"));
  EXPECT_FALSE(socket.receive(milliseconds(30)));
  EXPECT_EQ(status_of(socket.read_answer()), 200);
}

TEST(SimulatorSocket, KeepsItsStateOverARestart) {
  TemporaryDb db;
  SimulatorOptions options;
  options.db = db.path();
  std::string first;
  std::vector<LedgerRow> ledger;
  {
    auto simulator = start(options);
    RawSocket socket(simulator->port());
    first = socket.ask(charge_request("k1"));
    ledger = simulator->ledger();
  }
  auto simulator = start(options);
  EXPECT_EQ(simulator->ledger(), ledger);
  RawSocket socket(simulator->port());
  const std::string again = socket.ask(charge_request("k1"));
  EXPECT_EQ(body_of(again), body_of(first));
  EXPECT_NE(again.find("Idempotent-Replayed: true"), std::string::npos);
  EXPECT_EQ(status_of(socket.ask("POST /_sim/reset HTTP/1.1\r\nHost: x\r\n\r\n")), 200);
  simulator.reset();
  EXPECT_TRUE(start(options)->ledger().empty());
}

TEST(SimulatorSocket, KeepsReceiversAndDisputesOverARestart) {
  TemporaryDb db;
  SimulatorOptions options;
  options.db = db.path();
  {
    auto simulator = start(options);
    const auto add = [&](const std::string& port) {
      const auto made = simulator->control(
          "POST", "/_sim/webhook_endpoints",
          R"({"url":"http://127.0.0.1:)" + port + R"(","secret":"whsec_)" + port + R"("})");
      return test::at(test::parse_json(made.body), "id");
    };
    const std::string gone = add("1");
    const std::string kept = add("2");
    EXPECT_EQ(simulator
                  ->control("POST", "/_sim/webhook_endpoints/roll",
                            R"({"endpoint":")" + kept + R"(","secret":"whsec_3"})")
                  .status,
              200);
    RawSocket socket(simulator->port());
    const std::string charged = socket.ask(charge_request("k1"));
    EXPECT_EQ(simulator
                  ->control("POST", "/_sim/disputes",
                            R"({"charge":")" + test::at(test::parse_json(body_of(charged)), "id") +
                                R"("})")
                  .status,
              200);
    EXPECT_EQ(status_of(socket.ask("DELETE /v1/webhook_endpoints/" + gone +
                                   " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk_test_1\r\n"
                                   "\r\n")),
              200);
  }
  auto simulator = start(options);
  const auto receivers =
      test::parse_json(simulator->control("GET", "/_sim/webhook_endpoints").body);
  ASSERT_EQ(receivers.as_array().size(), 1U);
  EXPECT_EQ(test::at(receivers, "0.url"), "http://127.0.0.1:2");
  EXPECT_EQ(test::at(receivers, "0.secrets.0"), "whsec_3");
  EXPECT_EQ(test::at(receivers, "0.secrets.1"), "whsec_2");
  RawSocket socket(simulator->port());
  const std::string disputes =
      socket.ask("GET /v1/disputes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk_test_1\r\n\r\n");
  const auto list = test::parse_json(body_of(disputes));
  EXPECT_EQ(test::at(list, "data.0.status"), "needs_response");
  EXPECT_EQ(test::at(list, "data.0.amount"), "4990");
}

/// In a process of its own: twenty charges, each answered, then SIGKILL.
void charge_and_die(const std::string& db) {
  SimulatorOptions options;
  options.db = db;
  auto simulator = Simulator::start(options);
  if (!simulator) ::_exit(1);
  RawSocket socket((*simulator)->port());
  for (int nr = 0; nr < 20; ++nr) {
    if (status_of(socket.ask(charge_request("k" + std::to_string(nr)))) != 200) ::_exit(2);
  }
  ::kill(::getpid(), SIGKILL);
}

TEST(SimulatorSocket, LosesNothingItAnsweredWhenItIsKilled) {
  TemporaryDb db;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) charge_and_die(db.path());
  int ended = 0;
  ASSERT_EQ(::waitpid(child, &ended, 0), child);
  ASSERT_TRUE(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL);
  SimulatorOptions options;
  options.db = db.path();
  auto simulator = start(options);
  EXPECT_EQ(simulator->ledger().size(), 20U);
  RawSocket socket(simulator->port());
  const std::string again = socket.ask(charge_request("k19"));
  EXPECT_NE(again.find("Idempotent-Replayed: true"), std::string::npos);
  EXPECT_EQ(simulator->ledger().size(), 20U);
}

TEST(SimulatorSocket, RefusesAStoreThatIsNotItsOwnOrInUse) {
  TemporaryDb db;
  SimulatorOptions options;
  options.db = db.path();
  {
    auto simulator = start(options);
    const auto second = Simulator::start(options);
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code, ErrorCode::store_locked);
  }
  std::filesystem::remove(db.path());
  std::filesystem::remove(db.path() + "-wal");
  std::filesystem::remove(db.path() + "-shm");
  std::ofstream(db.path()) << "this is a text file, long enough to be no empty database at all";
  const auto foreign = Simulator::start(options);
  ASSERT_FALSE(foreign.has_value());
  EXPECT_NE(foreign.error().context.find(db.path()), std::string::npos);
}

TEST(SimulatorSocket, NamesAPortThatIsInUse) {
  auto simulator = start();
  SimulatorOptions options;
  options.listen = "127.0.0.1:" + std::to_string(simulator->port());
  const auto second = Simulator::start(options);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::io);
  EXPECT_NE(second.error().context.find(options.listen), std::string::npos);
}

TEST(SimulatorSocket, RunsUntilItIsToldToStop) {
  std::stop_source stop;
  std::uint16_t port = 0;
  const auto result = run_simulator({}, stop.get_token(), [&](const Simulator& simulator) {
    port = simulator.port();
    EXPECT_TRUE(RawSocket(port).connected());
    stop.request_stop();
  });
  EXPECT_TRUE(result.has_value());
  EXPECT_NE(port, 0);
  EXPECT_FALSE(RawSocket(port).connected());
}

}  // namespace
}  // namespace onceward::provider::simulator
