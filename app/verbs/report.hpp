// How a verb tells a failure: one line on stderr with the code, and the exit code that belongs to
// it.
#pragma once

#include <onceward/core/error.hpp>
#include <onceward/ingress/status_table.hpp>

namespace onceward::app {

/// Prints `onceward: <context> (OW####)` and returns the exit code of the error.
[[nodiscard]] ingress::ExitCode report(const Error& error);

/// Exit codes of errors that are no HTTP answers.
[[nodiscard]] ingress::ExitCode exit_of(ErrorCode code) noexcept;

}  // namespace onceward::app
