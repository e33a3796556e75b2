// The library of peer_library_test.cpp.
extern "C" int tw_peer_grouped(int number) { return number + 1; }
