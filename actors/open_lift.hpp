// OpenLift: somebody waits for the end of a quarantine. Whatever destroys it answers.
#pragma once

#include <functional>
#include <utility>

#include <onceward/core/result.hpp>

namespace onceward::actors {

/// Owned by one mail or actor at a time.
class OpenLift {
 public:
  explicit OpenLift(std::function<void(Result<Unit>)> done) : done_(std::move(done)) {}
  OpenLift(const OpenLift&) = delete;
  OpenLift& operator=(const OpenLift&) = delete;
  ~OpenLift() { end(fail(ErrorCode::not_ready, "the node stopped meanwhile")); }

  /// The first call counts.
  void end(Result<Unit> result) {
    if (const auto done = std::exchange(done_, nullptr)) done(std::move(result));
  }

 private:
  std::function<void(Result<Unit>)> done_;
};

}  // namespace onceward::actors
