// config check, config show and version.
#include <cstdio>

#include "app/config/config_load.hpp"
#include "app/verbs/report.hpp"
#include "app/verbs/verbs.hpp"

#ifndef ONCEWARD_VERSION_TEXT
#error "the build defines ONCEWARD_VERSION_TEXT"
#endif

namespace onceward::app {

namespace {

Result<LoadedConfig> load(const Source& source) {
  ConfigSources sources;
  if (!source.config_file.empty()) sources.file = source.config_file;
  sources.environment = config_environment();
  return load_config(sources);
}

}  // namespace

ExitCode config_check(const Source& source) {
  auto loaded = load(source);
  if (!loaded) return report(loaded.error());
  std::puts(source.json ? "{\"ok\":true}" : "configuration ok");
  return ExitCode::ok;
}

ExitCode config_show(const Source& source) {
  auto loaded = load(source);
  if (!loaded) return report(loaded.error());
  std::puts((source.json ? show_config_json(*loaded) : show_config(*loaded)).c_str());
  return ExitCode::ok;
}

ExitCode version(bool json) {
  std::printf(json ? "{\"version\":\"%s\"}\n" : "onceward %s\n", ONCEWARD_VERSION_TEXT);
  return ExitCode::ok;
}

}  // namespace onceward::app
