// A finding about two accesses says where each of them was made: at which k-tile, and in which
// line.
#include "tests/vgpu/support.h"

namespace tw::test {
namespace {

// A text that names a line of this file.
std::string line_words(int line) { return "site_test.cpp:" + std::to_string(line); }

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(Site, ARaceNamesTheWriter) {
  int written = 0, read = 0;
  const Report report = Kernel{.threads = 32}.run([&] {
    const unsigned thread = isa::thread_index();
    isa::describe_role(thread == 0 ? "load" : "use");
    isa::describe_shared(address_at(0), 256, "input", 2);
    if (thread == 0) {
      isa::describe_step(7);
      store_shared(shared_at(4), 1u), written = __LINE__;
    }
    stand_back();
    if (thread == 5) {
      isa::describe_step(9);
      (void)load_shared(shared_at(4)), read = __LINE__;
    }
  });
  const vgpu::Finding* const finding = find(report, Checker::Race);
  ASSERT_NE(finding, nullptr) << text_of(report);
  const std::string& text = finding->text;
  EXPECT_TRUE(has(text, "The use role (thread 5 of CTA 0) at k-tile 9: a load reads")) << text;
  EXPECT_TRUE(has(text, "which the load role (thread 0 of CTA 0) wrote at k-tile 7,")) << text;
  const std::size_t other = text.find("The other access: ");
  ASSERT_NE(other, std::string::npos) << text;
  EXPECT_TRUE(has(text.substr(0, other), line_words(read))) << text;
  EXPECT_TRUE(has(text.substr(other), line_words(written))) << text;
}

TEST(Site, AnOverwriteNamesTheReader) {
  int read = 0;
  const Report report = Kernel{.threads = 32}.run([&] {
    const unsigned thread = isa::thread_index();
    if (thread == 0) store_shared(shared_at(4), 1u);
    isa::warp_sync();
    if (thread == 5) {
      isa::describe_step(3);
      (void)load_shared(shared_at(4)), read = __LINE__;
    }
    stand_back();
    if (thread == 0) store_shared(shared_at(4), 2u);
  });
  EXPECT_TRUE(found(report, Checker::OverwriteWhileRead, "may still read it (at k-tile 3)"));
  EXPECT_TRUE(found(report, Checker::OverwriteWhileRead, line_words(read)));
}

TEST(Site, ARaceInGlobalMemoryNamesTheWriter) {
  std::vector<std::uint32_t> words(4, 0);
  int written = 0;
  const Kernel kernel{.threads = 32, .ctas = 2, .memory = {{words.data(), 16, "D"}}};
  const Report report = kernel.run([&] {
    if (isa::thread_index() != 0) return;
    isa::describe_step(isa::cta_index() + 20);
    store_element<Space::Global>(words.data(), isa::cta_index() + 7), written = __LINE__;
  });
  EXPECT_TRUE(found(report, Checker::GlobalRace, " wrote at k-tile 2"));
  const vgpu::Finding* const finding = find(report, Checker::GlobalRace);
  ASSERT_NE(finding, nullptr) << text_of(report);
  EXPECT_TRUE(
      has(finding->text.substr(finding->text.find("The other access: ")), line_words(written)))
      << finding->text;
}

// A copy lands later than it was issued; its line is where it was issued.
TEST(Site, ACopyIsWhereItWasIssued) {
  std::vector<std::uint8_t> source(20 * 64, 1);
  const TensorMap map = byte_map(source, 20, 64, 8, 32);
  const Kernel kernel{.threads = 32, .memory = {range_of(source, "source", true, false)}};
  int issued = 0;
  const Report report = kernel.run([&] {
    start_barrier(1024, 1, 32);
    if (isa::thread_index() == 0) {
      isa::mbarrier_arrive_expect_tx(address_at(1024), 256);
      isa::describe_step(4);
      load_box(0, map, 1024, 0, 0), issued = __LINE__;
    }
    isa::warp_sync();
    if (isa::thread_index() == 7) (void)load_shared(shared_at<std::uint8_t>(5));
    wait(address_at(1024), 0);
  });
  EXPECT_TRUE(found(report, Checker::ReadBeforeFull, "that write there (issued at k-tile 4)"));
  EXPECT_TRUE(found(report, Checker::ReadBeforeFull, line_words(issued)));
}

}  // namespace
}  // namespace tw::test
