// Asks the file system about the folder; creates nothing.
#include "app/config/store_folder.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace onceward::app {

Result<Unit> check_store_folder(const std::filesystem::path& database) {
  const auto folder = database.parent_path();
  std::error_code error;
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::invalid_config,
                "[node] data_dir: the folder " + folder.string() + " of the store " + why);
  };
  if (!std::filesystem::exists(folder, error)) {
    return refuse("does not exist; create it, writable for the user of the node");
  }
  if (!std::filesystem::is_directory(folder, error)) return refuse("is not a directory");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    return refuse(std::string("cannot be written (") + std::strerror(errno) +
                  "); give it to the user of the node");
  }
  return ok();
}

}  // namespace onceward::app
