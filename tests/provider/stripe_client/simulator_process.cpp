// A simulator for tests written in other languages: prints its URL and serves until its standard
// input ends, so that it cannot outlive the test.
#include <cstdio>
#include <iostream>
#include <string>

#include <onceward/provider/simulator/simulator.hpp>

int main() {
  const auto simulator = onceward::provider::simulator::Simulator::start({});
  if (!simulator) {
    std::fprintf(stderr, "%s\n", simulator.error().context.c_str());
    return 1;
  }
  std::cout << (*simulator)->url() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
  }
  return 0;
}
