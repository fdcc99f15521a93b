// The HTTP server over loopback sockets: answering, limits, timeouts, fault answers, stopping.
#include <onceward/platform/http_server.hpp>

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/platform/raw_socket.hpp"

namespace onceward::platform {
namespace {

using std::chrono::milliseconds;
using test::body_of;
using test::RawSocket;
using test::status_of;
using test::WireEnd;

std::string get(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n\r\n";
}

HttpResponse text(std::string body) {
  HttpResponse response;
  response.body = std::move(body);
  return response;
}

void echo(const HttpRequest& request, HttpResponder responder) {
  responder.answer(text(request.method + " " + request.target + " " + request.body));
}

std::unique_ptr<HttpServer> start(HttpHandler handler, HttpServerOptions options = {}) {
  auto server = HttpServer::start(std::move(options), std::move(handler));
  EXPECT_TRUE(server.has_value()) << server.error().context;
  return std::move(server).value();
}

/// Holds responders back until the test takes them, on whatever thread it likes.
class Held {
 public:
  HttpHandler handler() {
    return [this](HttpRequest request, HttpResponder responder) {
      const std::lock_guard lock(mutex_);
      waiting_.emplace_back(std::move(request), std::move(responder));
      changed_.notify_all();
    };
  }
  std::pair<HttpRequest, HttpResponder> take() {
    std::unique_lock lock(mutex_);
    const bool came =
        changed_.wait_for(lock, std::chrono::seconds(5), [&] { return !waiting_.empty(); });
    if (!came) throw std::runtime_error("no request came");
    auto first = std::move(waiting_.front());
    waiting_.pop_front();
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<HttpRequest, HttpResponder>> waiting_;
};

TEST(HttpServer, AnswersOnAKeptConnectionAndNumbersRequests) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
  auto server = start([&](const HttpRequest& request, HttpResponder responder) {
    seen.emplace_back(request.connection_id, request.nr_on_connection);
    responder.answer(text("hi"));
  });
  RawSocket first(server->port());
  EXPECT_EQ(first.ask(get("/")), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_EQ(status_of(first.ask(get("/"))), 200);
  RawSocket second(server->port());
  EXPECT_EQ(status_of(second.ask(get("/"))), 200);
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(seen, (std::vector<Pair>{{1, 1}, {1, 2}, {2, 1}}));
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  auto server = start(echo);
  RawSocket socket(server->port());
  socket.send(get("/1") + get("/2") + get("/3"));
  EXPECT_EQ(body_of(socket.read_answer()), "GET /1 ");
  EXPECT_EQ(body_of(socket.read_answer()), "GET /2 ");
  EXPECT_EQ(body_of(socket.read_answer()), "GET /3 ");
}

TEST(HttpServer, ClosesWhenTheClientOrTheHandlerAsksForIt) {
  auto server = start([](const HttpRequest& request, HttpResponder responder) {
    HttpResponse response = text("bye");
    response.close = request.path == "/close";
    responder.answer(std::move(response));
  });
  RawSocket by_client(server->port());
  by_client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_NE(by_client.read_to_end().find("Connection: close\r\n"), std::string::npos);
  EXPECT_EQ(by_client.end(), WireEnd::fin);
  RawSocket by_handler(server->port());
  by_handler.send(get("/close"));
  EXPECT_EQ(body_of(by_handler.read_to_end()), "bye");
  EXPECT_EQ(by_handler.end(), WireEnd::fin);
}

TEST(HttpServer, SendsNoBodyForHead) {
  auto server =
      start([](const HttpRequest&, HttpResponder responder) { responder.answer(text("four")); });
  RawSocket socket(server->port());
  socket.send("HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string answer = socket.read_to_end();
  EXPECT_NE(answer.find("Content-Length: 4\r\n"), std::string::npos);
  EXPECT_EQ(body_of(answer), "");
}

TEST(HttpServer, KeepsForeignLineBreaksOutOfHeaders) {
  auto server = start([](const HttpRequest&, HttpResponder responder) {
    HttpResponse response = text("");
    response.headers = {{"X", "a\r\nSet-Cookie: b"}, {"Content-Length", "99"}};
    responder.answer(std::move(response));
  });
  RawSocket socket(server->port());
  const std::string answer = socket.ask(get("/"));
  EXPECT_NE(answer.find("X: a  Set-Cookie: b\r\n"), std::string::npos);
  EXPECT_EQ(answer.find("99"), std::string::npos);
}

TEST(HttpServer, AnswersLaterFromAnotherThread) {
  Held held;
  auto server = start(held.handler());
  RawSocket socket(server->port());
  socket.send(get("/later"));
  auto [request, responder] = held.take();
  std::thread([moved = std::move(responder)]() mutable { moved.answer(text("late")); }).join();
  EXPECT_EQ(body_of(socket.read_answer()), "late");
}

TEST(HttpServer, AnswersOneRequestWhileAnotherWaits) {
  Held held;
  auto server = start(held.handler());
  RawSocket first(server->port());
  RawSocket second(server->port());
  first.send(get("/1"));
  auto slow = held.take();
  second.send(get("/2"));
  held.take().second.answer(text("2"));
  EXPECT_EQ(body_of(second.read_answer()), "2");
  slow.second.answer(text("1"));
  EXPECT_EQ(body_of(first.read_answer()), "1");
}

TEST(HttpServer, Answers500WhenAResponderIsDroppedOrTheHandlerThrows) {
  auto server = start([](const HttpRequest& request, const HttpResponder&) {
    if (request.path == "/throw") throw std::runtime_error("x");
  });
  RawSocket socket(server->port());
  EXPECT_EQ(status_of(socket.ask(get("/drop"))), 500);
  RawSocket other(server->port());
  EXPECT_EQ(status_of(other.ask(get("/throw"))), 500);
}

TEST(HttpServer, ForgetsAnAnswerWhoseClientIsGone) {
  Held held;
  auto server = start(held.handler());
  auto socket = std::make_unique<RawSocket>(server->port());
  socket->send(get("/"));
  auto late = held.take();
  socket.reset();
  late.second.answer(text("nobody reads this"));
  RawSocket next(server->port());
  next.send(get("/"));
  held.take().second.answer(text("fine"));
  EXPECT_EQ(body_of(next.read_answer()), "fine");
}

TEST(HttpServer, ServesConnectionsOnSeveralThreads) {
  HttpServerOptions options;
  options.io_threads = 3;
  auto server = start(echo, options);
  std::vector<std::thread> clients;
  std::atomic<int> right{0};
  for (int nr = 0; nr < 6; ++nr) {
    clients.emplace_back([&] {
      RawSocket socket(server->port());
      for (int i = 0; i < 50; ++i) {
        if (body_of(socket.ask(get("/x"))) == "GET /x ") ++right;
      }
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_EQ(right, 300);
}

TEST(HttpServer, RefusesMalformedRequestsAndCloses) {
  auto server = start(echo);
  RawSocket socket(server->port());
  socket.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na" +
              get("/after"));
  const std::string answer = socket.read_to_end();
  EXPECT_EQ(status_of(answer), 400);
  EXPECT_EQ(answer.find("/after"), std::string::npos);
  EXPECT_EQ(socket.end(), WireEnd::fin);
}

TEST(HttpServer, Answers413WithoutReadingTheBody) {
  HttpServerOptions options;
  options.body_bytes_max = 1000;
  auto server = start(echo, options);
  RawSocket socket(server->port());
  socket.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
  socket.send(std::string(200'000, 'a'));
  EXPECT_EQ(status_of(socket.read_to_end()), 413);
}

TEST(HttpServer, TellsAWaitingClientToContinue) {
  auto server = start(echo);
  RawSocket socket(server->port());
  socket.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(socket.read_answer(), "HTTP/1.1 100 Continue\r\n\r\n");
  socket.send("ok");
  EXPECT_EQ(body_of(socket.read_answer()), "POST / ok");
}

HttpServerOptions impatient() {
  HttpServerOptions options;
  options.header_timeout = milliseconds(60);
  options.body_timeout = milliseconds(60);
  options.idle_timeout = milliseconds(60);
  return options;
}

TEST(HttpServer, Answers408ToSlowHeadersAlsoWhenBytesTrickle) {
  HttpServerOptions options = impatient();
  options.idle_timeout = std::chrono::seconds(60);
  auto server = start(echo, options);
  RawSocket socket(server->port());
  // Trickling must not extend the time: stops by itself once the server has answered.
  for (int i = 0; i < 500 && socket.buffered().empty(); ++i) {
    if (!socket.send("G")) break;
    socket.receive(milliseconds(10));
  }
  EXPECT_EQ(status_of(socket.read_to_end()), 408);
  EXPECT_EQ(socket.end(), WireEnd::fin);
}

TEST(HttpServer, Answers408ToASlowBody) {
  HttpServerOptions options = impatient();
  options.idle_timeout = std::chrono::seconds(60);
  options.header_timeout = std::chrono::seconds(60);
  auto server = start(echo, options);
  RawSocket socket(server->port());
  socket.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab");
  EXPECT_EQ(status_of(socket.read_to_end()), 408);
}

TEST(HttpServer, ClosesIdleConnectionsSilently) {
  auto server = start(echo, impatient());
  RawSocket socket(server->port());
  EXPECT_EQ(status_of(socket.ask(get("/"))), 200);
  EXPECT_EQ(socket.read_to_end(), "");
  EXPECT_EQ(socket.end(), WireEnd::fin);
}

TEST(HttpServer, DoesNotTimeOutAHandler) {
  Held held;
  auto server = start(held.handler(), impatient());
  RawSocket socket(server->port());
  socket.send(get("/"));
  auto waiting = held.take();
  EXPECT_FALSE(socket.receive(milliseconds(200)));
  EXPECT_EQ(socket.end(), WireEnd::open);
  waiting.second.answer(text("slow"));
  EXPECT_EQ(body_of(socket.read_answer()), "slow");
}

TEST(HttpServer, ResetsAClientThatDoesNotRead) {
  HttpServerOptions options;
  options.write_timeout = milliseconds(60);
  auto server = start(
      [](const HttpRequest&, HttpResponder responder) {
        responder.answer(text(std::string(64 * 1024 * 1024, 'a')));
      },
      options);
  RawSocket socket(server->port());
  socket.send(get("/"));
  ASSERT_TRUE(socket.receive());  // the answer has begun, and then nobody reads on
  for (int i = 0; i < 500 && server->connections() > 0; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(server->connections(), 0U);
}

TEST(HttpServer, Answers503BeyondTheConnectionLimit) {
  HttpServerOptions options;
  options.connections_max = 2;
  auto server = start(echo, options);
  RawSocket first(server->port());
  EXPECT_EQ(status_of(first.ask(get("/"))), 200);
  {
    RawSocket second(server->port());
    EXPECT_EQ(status_of(second.ask(get("/"))), 200);
    RawSocket third(server->port());
    third.send(get("/"));
    EXPECT_EQ(status_of(third.read_to_end()), 503);
    EXPECT_EQ(third.end(), WireEnd::fin);
  }
  for (int i = 0; i < 500 && server->connections() > 1; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  RawSocket fourth(server->port());
  EXPECT_EQ(status_of(fourth.ask(get("/"))), 200);
}

TEST(HttpServer, EndsWithoutAByteByFinOrReset) {
  auto server = start([](const HttpRequest& request, HttpResponder responder) {
    responder.raw("", request.path == "/fin" ? SocketEnd::fin : SocketEnd::rst);
  });
  RawSocket fin(server->port());
  fin.send(get("/fin"));
  EXPECT_EQ(fin.read_to_end(), "");
  EXPECT_EQ(fin.end(), WireEnd::fin);
  RawSocket rst(server->port());
  rst.send(get("/rst"));
  EXPECT_EQ(rst.read_to_end(), "");
  EXPECT_EQ(rst.end(), WireEnd::rst);
}

TEST(HttpServer, SendsRawBytesThenEnds) {
  const std::string bytes = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{\"a";
  auto server = start([&](const HttpRequest& request, HttpResponder responder) {
    responder.raw(bytes, request.path == "/fin" ? SocketEnd::fin : SocketEnd::rst);
  });
  RawSocket fin(server->port());
  fin.send(get("/fin"));
  EXPECT_EQ(fin.read_to_end(), bytes);
  EXPECT_EQ(fin.end(), WireEnd::fin);
  RawSocket rst(server->port());
  rst.send(get("/rst"));
  EXPECT_EQ(rst.read_to_end(), bytes);
  EXPECT_EQ(rst.end(), WireEnd::rst);
}

TEST(HttpServer, HangsUntilTheClientGivesUpOrTheServerStops) {
  auto server = start([](const HttpRequest&, HttpResponder responder) { responder.hang(); });
  auto patient = std::make_unique<RawSocket>(server->port());
  patient->send(get("/"));
  EXPECT_FALSE(patient->receive(milliseconds(100)));
  EXPECT_EQ(patient->end(), WireEnd::open);
  {
    RawSocket gives_up(server->port());
    gives_up.send(get("/"));
    EXPECT_FALSE(gives_up.receive(milliseconds(50)));
  }
  for (int i = 0; i < 500 && server->connections() > 1; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(server->connections(), 1U);
  server->stop(std::chrono::seconds(30));
  EXPECT_EQ(patient->read_to_end(), "");
  EXPECT_EQ(patient->end(), WireEnd::rst);
}

TEST(HttpServer, StreamsChunksUntilClosed) {
  Held held;
  auto server = start(held.handler());
  RawSocket socket(server->port());
  socket.send(get("/events"));
  auto waiting = held.take();
  auto stream = waiting.second.begin_stream(200, {{"Content-Type", "text/event-stream"}});
  EXPECT_TRUE(stream.write("one\n"));
  while (socket.buffered().find("4\r\none\n\r\n") == std::string::npos)
    ASSERT_TRUE(socket.receive());
  EXPECT_TRUE(stream.write("two\n"));
  stream.close();
  while (socket.buffered().find("0\r\n\r\n") == std::string::npos) ASSERT_TRUE(socket.receive());
  EXPECT_NE(socket.buffered().find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_EQ(socket.end(), WireEnd::open);
}

TEST(HttpServer, CutsAStreamThatIsDroppedUnfinished) {
  auto server = start([](const HttpRequest&, HttpResponder responder) {
    auto stream = responder.begin_stream(200, {});
    (void)stream.write("half");  // dropped right after: nobody could tell whether it went out
  });
  RawSocket socket(server->port());
  socket.send(get("/"));
  EXPECT_EQ(socket.read_to_end().find("0\r\n\r\n"), std::string::npos);
  EXPECT_EQ(socket.end(), WireEnd::rst);
}

TEST(HttpServer, TellsTheWriterWhenTheReaderIsGoneOrTooSlow) {
  Held held;
  HttpServerOptions options;
  options.stream_buffer_bytes_max = 1000;
  auto server = start(held.handler(), options);
  auto socket = std::make_unique<RawSocket>(server->port());
  socket->send(get("/"));
  auto waiting = held.take();
  auto stream = waiting.second.begin_stream(200, {});
  EXPECT_FALSE(stream.write(std::string(1001, 'a')));
  socket.reset();
  bool noticed = false;
  for (int i = 0; i < 500 && !noticed; ++i) {
    noticed = !stream.write("tick");
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_TRUE(noticed);
}

TEST(HttpServer, LetsOutstandingAnswersFinishWhenItStops) {
  Held held;
  auto server = start(held.handler());
  RawSocket busy(server->port());
  busy.send(get("/"));
  auto waiting = held.take();
  RawSocket idle(server->port());
  std::thread stopper([&] { server->stop(std::chrono::seconds(30)); });
  EXPECT_EQ(idle.read_to_end(), "");  // closed at once: the drain has begun
  waiting.second.answer(text("last"));
  EXPECT_EQ(body_of(busy.read_to_end()), "last");
  stopper.join();
  EXPECT_FALSE(RawSocket(server->port()).connected());
}

TEST(HttpServer, StopsAtTheDeadlineAndIgnoresLaterAnswers) {
  Held held;
  auto server = start(held.handler());
  RawSocket socket(server->port());
  socket.send(get("/"));
  auto waiting = held.take();
  server->stop(milliseconds(30));
  EXPECT_EQ(socket.read_to_end(), "");
  server.reset();
  waiting.second.answer(text("to nobody"));
}

TEST(HttpServer, NamesTheAddressThatIsInUse) {
  auto server = start(echo);
  HttpServerOptions options;
  options.listen = "127.0.0.1:" + std::to_string(server->port());
  const auto second = HttpServer::start(options, echo);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::io);
  EXPECT_NE(second.error().context.find(options.listen), std::string::npos);
}

TEST(HttpServer, RefusesAddressesAndOptionsThatMakeNoSense) {
  for (const char* listen : {"", "127.0.0.1", "127.0.0.1:", ":80", "127.0.0.1:x", "::1:80",
                             "127.0.0.1:70000", "127.0.0.1:-1"}) {
    HttpServerOptions options;
    options.listen = listen;
    const auto server = HttpServer::start(options, echo);
    ASSERT_FALSE(server.has_value()) << listen;
    EXPECT_EQ(server.error().code, ErrorCode::invalid_argument) << listen;
  }
  HttpServerOptions no_threads;
  no_threads.io_threads = 0;
  EXPECT_FALSE(HttpServer::start(no_threads, echo).has_value());
}

TEST(HttpServerDeathTest, AbortsOnASecondAnswer) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Held held;
        auto server = start(held.handler());
        RawSocket socket(server->port());
        socket.send(get("/"));
        auto waiting = held.take();
        waiting.second.answer(text("1"));
        waiting.second.answer(text("2"));
      },
      "answered twice");
}

}  // namespace
}  // namespace onceward::platform
