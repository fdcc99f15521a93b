// Makes the run service of a node from its configuration.
#pragma once

#include <memory>

#include <onceward/ingress/run_service.hpp>
#include <onceward/journal/sqlite_journal.hpp>

#include "app/config/config.hpp"

namespace onceward::app {

/// Journal and clock must outlive the service.
[[nodiscard]] Result<std::unique_ptr<ingress::RunService>> make_run_service(
    const Config& config, journal::SqliteJournal& journal, const Clock& clock);

}  // namespace onceward::app
