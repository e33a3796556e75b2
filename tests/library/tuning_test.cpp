// TW_TUNING, with stand-ins for the device and the kernels. The library reads its environment once,
// so that every test calls it in a process of its own.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <thread>

#include "tests/library/stand_in.h"
#include "tilewright.h"

namespace tw::tests {
namespace {

constexpr const char* device = "Stand-in GPU";
char room[1 << 20];

// What `body` returns in a child that has these variables.
std::string in_child(const std::vector<std::pair<const char*, std::string>>& variables,
                     const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    for (const auto& [name, value] : variables) setenv(name, value.c_str(), 1);
    dup2(ends[1], STDERR_FILENO);  // the log comes, too
    stand_in().name = device;
    const std::string text = body();
    const bool whole = write(ends[1], text.data(), text.size()) == ssize_t(text.size());
    _exit(whole ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char piece[4096];
  for (ssize_t got; (got = read(ends[0], piece, sizeof piece)) > 0;) text.append(piece, got);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << text;
  return text;
}

// A product of fp16, which only `split` multiplies.
tw_matmul_problem product(std::int64_t m, std::int64_t n, std::int64_t k) {
  tw_matmul_problem problem;
  tw_matmul_init(&problem, nullptr);
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.a = {room, k, 1, 0, TW_FP16};
  problem.b = {room + (1 << 18), 1, k, 0, TW_FP16};
  problem.d = {room + (1 << 19), n, 1, 0, TW_BF16};
  return problem;
}

alignas(256) char workspace[split_workspace_bytes];

// "split /7 n4", or the sentence.
std::string launch(const tw_matmul_problem& problem) {
  stand_in().events.clear();
  if (tw_matmul(&problem, nullptr, workspace, sizeof workspace, nullptr) != TW_OK) {
    return tw_message();
  }
  const Event& last = stand_in().events.back();
  return std::string(last.instance->name) + " /" + std::to_string(last.order.split_k) +
         (last.order.raster == Raster::AlongN ? " n" : " m") + std::to_string(last.order.group);
}

std::string file_of(const std::string& text) {
  const std::string path = testing::TempDir() + "tuning.json";
  std::ofstream(path) << text;
  return path;
}

std::string table(const std::string& entries, const std::string& version = TW_PROJECT_VERSION,
                  const std::string& about = device) {
  return R"({"tilewright": ")" + version + R"(", "device": ")" + about + R"(", "entries": [)" +
         entries + "]}";
}

constexpr const char* entry =
    R"({"call": "matmul fp16 64x128x1024", "instance": "split", "split_k": 5, "group": 3,
        "raster": "n"})";

// What the library says of a product with that file.
std::string with_file(const std::string& text) {
  return in_child({{"TW_TUNING", file_of(text)}}, [] { return launch(product(64, 128, 1024)); });
}

const std::string path = testing::TempDir() + "tuning.json";

TEST(Tuning, ATunedCallIsLaunchedAsTheFileSays) {
  const std::string usual = in_child({}, [] { return launch(product(64, 128, 1024)); });
  EXPECT_NE(usual, "split /5 n3");
  EXPECT_EQ(usual.substr(0, 7), "split /");
  EXPECT_EQ(with_file(table(entry)), "split /5 n3");
}

TEST(Tuning, OtherCallsAreLaunchedAsEver) {
  const auto others = [] {
    tw_matmul_problem batched = product(64, 128, 1024);
    batched.batch = 2;
    batched.d.batch_stride = 64 * 128;
    return launch(product(64, 128, 1032)) + "; " + launch(product(65, 128, 1024)) + "; " +
           launch(batched);
  };
  EXPECT_EQ(in_child({{"TW_TUNING", file_of(table(entry))}}, others), in_child({}, others));
}

TEST(Tuning, WhatThisLibraryCannotUseIsRefused) {
  const std::string about = "TW_TUNING: The tuning file '" + path + "' ";
  EXPECT_EQ(in_child({{"TW_TUNING", "/nowhere/tuning.json"}},
                     [] { return launch(product(64, 128, 1024)); }),
            "TW_TUNING: The tuning file '/nowhere/tuning.json' cannot be read.");
  EXPECT_EQ(with_file(table(entry, "0.4.9")), about + "was made by Tilewright 0.4.9, but this is " +
                                                  TW_PROJECT_VERSION +
                                                  ": ./tw tune makes another.");
  EXPECT_EQ(with_file(table(entry, TW_PROJECT_VERSION, "Another GPU")),
            about +
                "is about 'Another GPU', but the device is 'Stand-in GPU': ./tw tune makes one "
                "for it.");
  EXPECT_EQ(with_file(table(R"({"call": "matmul bf16 1x1x1", "instance": "gone", "split_k": 1,
                                "group": 0, "raster": "m"})")),
            about +
                "has the kernel 'gone' for 'matmul bf16 1x1x1', but this library has no such "
                "kernel: ./tw tune makes another file.");
}

TEST(Tuning, WhatIsNoTableIsRefused) {
  const std::string about =
      "TW_TUNING: The tuning file '" + path + "' is not one that ./tw tune writes: ";
  const std::string whole = table(entry);
  for (const std::string& text :
       {std::string(), whole.substr(0, whole.size() - 4), std::string("[]"),
        std::string(R"({"tilewright": 5, "device": "x", "entries": []})"),
        std::string(R"({"device": "x", "entries": []})"), table(R"({"call": "matmul fp16 1x1x1"})"),
        table(
            R"({"call": "x", "instance": "split", "split_k": "many", "group": 0,
                  "raster": "m"})")}) {
    const std::string sentence = with_file(text);
    EXPECT_TRUE(sentence.starts_with(about)) << text << ": " << sentence;
  }
  EXPECT_EQ(with_file(table(R"({"call": "x", "instance": "split", "split_k": 0, "group": 0,
                                "raster": "z"})")),
            about +
                "for 'x' split_k is 0, group 0 and raster 'z', but must be at least 1, at least "
                "0, both below 2^31, and m or n.");
  // Numbers are not cut to 32 bits, nor to whole ones.
  for (const char* const number :
       {"1099511627776", "2147483648", "18446744073709551615", "-1099511627776", "1.5", "1e3"}) {
    const std::string sentence =
        with_file(table(std::string(R"({"call": "x", "instance": "split", "split_k": )") + number +
                        R"(, "group": 0, "raster": "m"})"));
    EXPECT_TRUE(sentence.starts_with(about + "for 'x' split_k is ")) << sentence;
    if (std::string(number).find_first_of(".e") != std::string::npos) continue;
    EXPECT_NE(sentence.find(std::string("split_k is ") + number + ","), std::string::npos);
  }
  EXPECT_NE(with_file(table(R"({"call": "x", "instance": "split", "split_k": 1,
                                "group": 1099511627776, "raster": "m"})"))
                .find("group 1099511627776 "),
            std::string::npos);
  for (const char* const entries : {"{}", "null", "5", "\"none\""}) {
    const std::string sentence =
        with_file(std::string(R"({"tilewright": "1", "device": "x", "entries": )") + entries + "}");
    EXPECT_TRUE(sentence.starts_with(about + "its entries are of type ")) << sentence;
  }
}

// A call that was refused is refused again, and what was never asked of the file still works.
TEST(Tuning, ARefusalStays) {
  EXPECT_EQ(
      in_child({{"TW_TUNING", file_of("no table")}},
               [] {
                 const std::string first = launch(product(64, 128, 1024));
                 return std::string(launch(product(64, 128, 1024)) == first ? "same" : "else");
               }),
      "same");
  EXPECT_EQ(
      in_child({{"TW_TUNING", ""}}, [] { return launch(product(64, 128, 1024)).substr(0, 5); }),
      "split");
}

TEST(Tuning, EightThreadsReadItAtOnce) {
  const std::string said = in_child({{"TW_TUNING", file_of(table(entry))}}, [] {
    stand_in().records = false;
    std::vector<std::thread> threads;
    std::atomic<int> tuned = 0;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&tuned] {
        const tw_matmul_problem problem = product(64, 128, 1024);
        tw_matmul_plan* plan = nullptr;
        if (tw_matmul_plan_create(&plan, &problem, nullptr) != TW_OK) return;
        const std::string command = tw_matmul_plan_command(plan);
        tuned += command.find("--split-k 5 --group 3 --raster n") != std::string::npos;
        tw_matmul_plan_destroy(plan);
      });
    }
    for (std::thread& thread : threads) thread.join();
    return std::to_string(tuned);
  });
  EXPECT_EQ(said, "8");
}

// TW_LOG=calls: what ./tw tune --log reads.
TEST(Tuning, DistinctCallsAreLoggedOnce) {
  EXPECT_EQ(in_child({{"TW_LOG", "calls"}},
                     [] {
                       for (int i = 0; i < 3; ++i) launch(product(64, 128, 1024));
                       launch(product(7, 128, 1024));
                       return std::string();
                     }),
            "tw: call: matmul fp16 64x128x1024\ntw: call: matmul fp16 7x128x1024\n");
  const std::string batched = in_child({{"TW_LOG", "calls"}}, [] {
    tw_matmul_problem problem = product(64, 128, 1024);
    problem.batch = 2;
    problem.d.batch_stride = 64 * 128;
    launch(problem);
    return std::string();
  });
  EXPECT_TRUE(batched.starts_with("./tw run matmul ")) << batched;
}

}  // namespace
}  // namespace tw::tests
