// The request reader without sockets: what is taken, what is refused and with which status.
#include "platform/http_request_reader.hpp"

#include <gtest/gtest.h>

#include <string>

namespace onceward::platform {
namespace {

HttpServerOptions small_limits() {
  HttpServerOptions options;
  options.header_bytes_max = 512;
  options.body_bytes_max = 100;
  return options;
}

int refusal_status(std::string input) {
  HttpRequestReader reader(small_limits());
  const auto outcome = reader.read(input);
  const auto* refused = std::get_if<RefusedRequest>(&outcome);
  return refused == nullptr ? 0 : refused->status;
}

HttpRequest read_whole(std::string input) {
  HttpRequestReader reader(small_limits());
  auto outcome = reader.read(input);
  auto* read = std::get_if<ReadRequest>(&outcome);
  EXPECT_NE(read, nullptr);
  return read == nullptr ? HttpRequest{} : read->request;
}

TEST(HttpRequestReader, ReadsARequestWithBody) {
  const HttpRequest request = read_whole(
      "POST /v1/charges?a=1&b=%20 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/v1/charges?a=1&b=%20");
  EXPECT_EQ(request.path, "/v1/charges");
  EXPECT_EQ(request.query, "a=1&b=%20");
  EXPECT_EQ(request.body, "hello");
}

TEST(HttpRequestReader, KeepsHeaderOrderAndRepeats) {
  const HttpRequest request = read_whole(
      "GET / HTTP/1.1\r\nHost: x\r\nIdempotency-Key: a\r\nX: 1\r\nidempotency-key: b\r\n\r\n");
  ASSERT_EQ(request.headers.size(), 4U);
  EXPECT_EQ(request.headers[1], (HttpHeader{"Idempotency-Key", "a"}));
  EXPECT_EQ(request.headers[3], (HttpHeader{"idempotency-key", "b"}));
  EXPECT_EQ(count_headers(request.headers, "IDEMPOTENCY-KEY"), 2U);
  EXPECT_EQ(find_header(request.headers, "idempotency-key"), "a");
  EXPECT_EQ(find_header(request.headers, "absent"), std::nullopt);
}

TEST(HttpRequestReader, ReadsByteByByteLikeAtOnce) {
  const std::string whole =
      "POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n4;ext=1\r\ndefg\r\n0\r\n\r\n";
  HttpRequestReader reader(small_limits());
  std::string input;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    input.push_back(whole[at]);
    auto outcome = reader.read(input);
    const auto* read = std::get_if<ReadRequest>(&outcome);
    ASSERT_EQ(read != nullptr, at + 1 == whole.size()) << "after byte " << at;
    if (read != nullptr) {
      EXPECT_EQ(read->request.body, "abcdefg");
    }
  }
}

TEST(HttpRequestReader, LeavesTheNextPipelinedRequestInTheInput) {
  std::string input =
      "POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok"
      "GET /2 HTTP/1.1\r\nHost: x\r\n\r\n";
  HttpRequestReader reader(small_limits());
  EXPECT_EQ(std::get<ReadRequest>(reader.read(input)).request.path, "/1");
  EXPECT_EQ(std::get<ReadRequest>(reader.read(input)).request.path, "/2");
  EXPECT_EQ(std::get<NeedMore>(reader.read(input)).phase, NeedMore::Phase::between_requests);
}

TEST(HttpRequestReader, DropsTrailers) {
  const HttpRequest request = read_whole(
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "1\r\na\r\n0\r\nIdempotency-Key: smuggled\r\n\r\n");
  EXPECT_EQ(request.body, "a");
  EXPECT_EQ(count_headers(request.headers, "Idempotency-Key"), 0U);
}

TEST(HttpRequestReader, TakesThePathOutOfAnAbsoluteTarget) {
  EXPECT_EQ(read_whole("GET http://h:1/v1/x?q HTTP/1.1\r\nHost: x\r\n\r\n").path, "/v1/x");
  EXPECT_EQ(read_whole("GET http://h HTTP/1.1\r\nHost: x\r\n\r\n").path, "/");
}

TEST(HttpRequestReader, TellsOnceThatTheClientWaitsForContinue) {
  std::string input =
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
  HttpRequestReader reader(small_limits());
  EXPECT_TRUE(std::get<NeedMore>(reader.read(input)).send_continue);
  input = "o";
  EXPECT_FALSE(std::get<NeedMore>(reader.read(input)).send_continue);
  input = "k";
  EXPECT_EQ(std::get<ReadRequest>(reader.read(input)).request.body, "ok");
}

TEST(HttpRequestReader, KnowsWhetherTheConnectionStays) {
  std::string input = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  HttpRequestReader reader(small_limits());
  EXPECT_FALSE(std::get<ReadRequest>(reader.read(input)).keep_alive);
  input = "GET / HTTP/1.0\r\n\r\n";
  const auto old = std::get<ReadRequest>(reader.read(input));
  EXPECT_FALSE(old.keep_alive);
  EXPECT_TRUE(old.http_1_0);
}

struct Refusal {
  const char* why;
  int status;
  std::string input;
};

class HttpRequestReaderRefuses : public testing::TestWithParam<Refusal> {};

TEST_P(HttpRequestReaderRefuses, WithTheRightStatus) {
  EXPECT_EQ(refusal_status(GetParam().input), GetParam().status) << GetParam().why;
}

const std::string head = "POST / HTTP/1.1\r\nHost: x\r\n";

INSTANTIATE_TEST_SUITE_P(
    Malformed, HttpRequestReaderRefuses,
    testing::Values(
        Refusal{"length and encoding", 400,
                head + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        Refusal{"encoding and length", 400,
                head + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"},
        Refusal{"two equal lengths", 400,
                head + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"},
        Refusal{"two different lengths", 400,
                head + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"},
        Refusal{"length list", 400, head + "Content-Length: 3, 3\r\n\r\nabc"},
        Refusal{"signed length", 400, head + "Content-Length: +3\r\n\r\nabc"},
        Refusal{"negative length", 400, head + "Content-Length: -3\r\n\r\nabc"},
        Refusal{"empty length", 400, head + "Content-Length: \r\n\r\n"},
        Refusal{"huge length", 400, head + "Content-Length: 99999999999999999999999\r\n\r\n"},
        Refusal{"two encodings", 400,
                head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"},
        Refusal{"other encoding", 501, head + "Transfer-Encoding: gzip, chunked\r\n\r\n"},
        Refusal{"folded header", 400, head + "X: a\r\n b\r\n\r\n"},
        Refusal{"tab-folded header", 400, head + "X: a\r\n\tb\r\n\r\n"},
        Refusal{"bare LF in head", 400, "GET / HTTP/1.1\nHost: x\n\n"},
        Refusal{"bare LF after header", 400, head + "X: a\nY: b\r\n\r\n"},
        Refusal{"bare CR in header", 400, head + "X: a\rb\r\n\r\n"},
        Refusal{"NUL in header", 400, head + "X: a" + std::string(1, '\0') + "b\r\n\r\n"},
        Refusal{"space before colon", 400, head + "X : a\r\n\r\n"},
        Refusal{"header without colon", 400, head + "nonsense\r\n\r\n"},
        Refusal{"empty first line", 400, "\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"},
        Refusal{"no target", 400, "GET HTTP/1.1\r\nHost: x\r\n\r\n"},
        Refusal{"TLS hello", 400,
                std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n", 13)},
        Refusal{"bad chunk size", 400, head + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n"},
        Refusal{"bare LF in chunk", 400,
                head + "Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n"},
        Refusal{"no Host", 400, "GET / HTTP/1.1\r\nX: y\r\n\r\n"},
        Refusal{"two Hosts", 400, "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"},
        Refusal{"encoding in HTTP/1.0", 400,
                "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        Refusal{"HTTP/2", 505, "GET / HTTP/2.0\r\nHost: x\r\n\r\n"},
        Refusal{"other expectation", 417, head + "Expect: magic\r\n\r\n"},
        Refusal{"large head, complete", 431, head + "X: " + std::string(600, 'a') + "\r\n\r\n"},
        Refusal{"large head, incomplete", 431, head + "X: " + std::string(600, 'a')},
        Refusal{"large body", 413, head + "Content-Length: 101\r\n\r\n"},
        Refusal{"large chunked body", 413,
                head + "Transfer-Encoding: chunked\r\n\r\n65\r\n" + std::string(101, 'a')},
        Refusal{"endless chunk header", 400,
                head + "Transfer-Encoding: chunked\r\n\r\n1;" + std::string(5000, 'a')}));

TEST(HttpRequestReader, RefusesNothingAtTheLimits) {
  EXPECT_EQ(read_whole(head + "Content-Length: 100\r\n\r\n" + std::string(100, 'a')).body.size(),
            100U);
  std::string large = head + "X: ";
  large += std::string(512 - large.size() - 4, 'a') + "\r\n\r\n";
  ASSERT_EQ(large.size(), 512U);
  EXPECT_EQ(read_whole(large).headers.size(), 2U);
}

}  // namespace
}  // namespace onceward::platform
