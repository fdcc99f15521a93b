// How schedules are written down, and the two engines that need no memory of other schedules.
#include <onceward/harness/chooser.hpp>

#include <algorithm>
#include <charconv>

namespace onceward::harness {

std::string to_text(const Choices& choices) {
  std::string text;
  for (std::size_t at = 0; at < choices.size(); ++at) {
    if (choices[at] == 0) continue;
    text += (text.empty() ? "" : ",") + std::to_string(at) + ":" + std::to_string(choices[at]);
  }
  return text.empty() ? "-" : text;
}

Result<Choices> parse_choices(std::string_view text) {
  constexpr std::size_t choices_max = 1'000'000;
  const auto wrong = [&] {
    return fail(ErrorCode::invalid_argument,
                "a schedule is written `position:answer,...` with rising positions, or `-`; got `" +
                    std::string(text.substr(0, 80)) + "`");
  };
  Choices choices;
  if (text == "-") return choices;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::size_t position = 0;
    int answer = 0;
    auto read = std::from_chars(at, end, position);
    if (read.ec != std::errc() || read.ptr == end || *read.ptr != ':') return wrong();
    read = std::from_chars(read.ptr + 1, end, answer);
    if (read.ec != std::errc() || answer < 1) return wrong();
    if (position < choices.size() || position >= choices_max) return wrong();
    choices.resize(position + 1, 0);
    choices[position] = answer;
    at = read.ptr;
    if (at != end && (*at++ != ',' || at == end)) return wrong();
  }
  if (choices.empty()) return wrong();
  return choices;
}

std::size_t fault_count(const Choices& choices) noexcept {
  return static_cast<std::size_t>(
      std::count_if(choices.begin(), choices.end(), [](int c) { return c != 0; }));
}

int RecordedChooser::choose(const char* /*label*/, int options) {
  const std::size_t at = at_++;
  if (at >= choices_.size()) return 0;
  return choices_[at] < options ? choices_[at] : 0;
}

std::uint64_t DiceChooser::next() noexcept {
  state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

int DiceChooser::permille_of(std::string_view label) {
  for (const auto& kind : kinds_) {
    if (kind.label == label) return kind.permille;
  }
  const bool left_out = next() % 3 == 0;
  kinds_.push_back({label, left_out ? 0 : static_cast<int>(10 + next() % 200)});
  return kinds_.back().permille;
}

int DiceChooser::choose(const char* label, int options) {
  const bool happens = static_cast<int>(next() % 1000) < permille_of(label);
  const auto others = static_cast<std::uint64_t>(options - 1);
  choices_.push_back(happens ? 1 + static_cast<int>(next() % others) : 0);
  return choices_.back();
}

}  // namespace onceward::harness
