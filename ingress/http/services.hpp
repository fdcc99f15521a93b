// What the routes of the API share. Made once by HttpApi; everything in it is thread-safe.
#pragma once

#include <string>

#include <onceward/ingress/http_api.hpp>

#include "ingress/attention/attention_item.hpp"
#include "ingress/http/alarms.hpp"
#include "ingress/http/answers.hpp"
#include "ingress/http/caller_keys.hpp"
#include "ingress/http/read_pool.hpp"

namespace onceward::ingress {

struct Services {
  HttpApiPorts ports;
  ReadPool& pool;
  /// For what may block for long (plans, reports): so that it never keeps reads waiting.
  ReadPool& slow_pool;
  Alarms& alarms;
  CallerKeys& keys;
  CommandsUnderWay& under_way;
  const WebhookSecrets& webhook_secrets;
  std::int64_t acceptance_ms_max = 0;
  Mode mode = Mode::test;
  Namespace ns;
  AttentionDeadlines attention;

  [[nodiscard]] Now now() const { return ports.clock.now(); }
};

/// One request on its way through the routes.
struct Call {
  platform::HttpRequest request;
  std::vector<std::string> segments;  ///< of the path, decoded
  std::string principal;
  Answer answer;
};

/// Runs `task` on a reader thread; answers 503 if the queue is full. `task` must answer.
inline void read_then(Services& services, const Answer& answer, ReadPool::Task task) {
  if (services.pool.post(std::move(task))) return;
  Problem problem;
  problem.kind = ProblemKind::busy;
  problem.detail = "too many reads are waiting; ask again";
  problem.charge_state = ChargeState::unknown;
  problem.retry_after_s = 1;
  answer(problem_answer(std::move(problem)));
}

/// The answer for a read that failed.
[[nodiscard]] inline platform::HttpResponse read_failed(const Error& error) {
  Problem problem;
  problem.kind = error.code == ErrorCode::store_uncertain ? ProblemKind::store_uncertain
                                                          : ProblemKind::not_ready;
  problem.detail = "the store cannot be read: " + error.context;
  problem.charge_state = ChargeState::unknown;
  problem.retry_after_s = 1;
  return problem_answer(std::move(problem));
}

}  // namespace onceward::ingress
