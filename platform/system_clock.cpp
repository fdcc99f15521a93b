// Reads of the kernel's clocks and of its boot id.
#include <onceward/platform/system_clock.hpp>

#include <ctime>
#include <fstream>
#include <string>

#include <onceward/core/digest.hpp>

namespace onceward::platform {

namespace {

constexpr const char* boot_id_path = "/proc/sys/kernel/random/boot_id";
constexpr std::size_t boot_id_length = 36;

std::int64_t read_ms(clockid_t clock) noexcept {
  timespec time{};
  ONCEWARD_CHECK(clock_gettime(clock, &time) == 0, "the kernel lacks a clock of Linux 2.6.39");
  return std::int64_t{time.tv_sec} * 1'000 + time.tv_nsec / 1'000'000;
}

/// The first eight bytes of the hash: any boot id, whatever its form, becomes a number.
std::uint64_t to_number(const std::string& boot_id) {
  std::uint64_t number = 0;
  const Digest digest = sha256(boot_id);
  for (std::size_t i = 0; i < sizeof number; ++i) number = (number << 8U) | digest.bytes[i];
  return number;
}

}  // namespace

std::int64_t boottime_ms() noexcept {
  return read_ms(CLOCK_BOOTTIME);
}

Result<std::unique_ptr<SystemClock>> SystemClock::open(ProviderTime provider_time) {
  std::string boot_id;
  std::ifstream file(boot_id_path);
  if (!std::getline(file, boot_id) || boot_id.size() != boot_id_length) {
    return fail(ErrorCode::io, std::string("cannot read ") + boot_id_path +
                                   ", which tells one boot of the machine from the next: is /proc "
                                   "mounted?");
  }
  return std::unique_ptr<SystemClock>(
      new SystemClock(to_number(boot_id), std::move(provider_time)));
}

SystemClock::SystemClock(std::uint64_t boot, ProviderTime provider_time)
    : boot_(boot), provider_time_(std::move(provider_time)) {}

Now SystemClock::now() const {
  Now now;
  now.wall = {read_ms(CLOCK_REALTIME)};
  now.boottime_ms = boottime_ms();
  now.boot = boot_;
  if (provider_time_) now.provider = provider_time_();
  return now;
}

}  // namespace onceward::platform
