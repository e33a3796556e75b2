// What the main() of every program is: nothing escapes it, and output that was not written is no
// success.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>

namespace tw {

// `body` gives the exit status. A request that cannot be served ends with one sentence and 2.
template <class Body>
int run_program(const Body& body) noexcept {
  int status = 2;
  try {
    status = body();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "tw: this machine has not enough memory for the request.\n");
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "tw: %s\n", exception.what());
  }
  errno = 0;
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return status;
  std::fprintf(stderr, "tw: the output could not be written: %s.\n",
               errno != 0 ? std::strerror(errno) : "a write failed before");
  return 2;
}

}  // namespace tw
