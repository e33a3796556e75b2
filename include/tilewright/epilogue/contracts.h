// The skeletons ask epilogues, their nodes, stores and sources for these members.
#pragma once

#include "tilewright/epilogue/fragment.h"
#include "tilewright/epilogue/global_source.h"
#include "tilewright/pipeline/trace.h"

namespace tw {

// Epilogues, stores and nodes have these members unless they say otherwise.
struct UsualEpilogue {
  static constexpr bool once = false;
  static constexpr bool begins = false;
};
struct UsualStore {
  static constexpr bool transposes = false;
  static constexpr bool stores_tiles = false;
  static constexpr bool stores_by_tma = false;
};

// A leaf or an inner node of an epilogue's tree: makes a pair of values.
template <class Node>
consteval bool is_node() {
  static_assert(
      requires { typename Node::Params; },
      "An epilogue node must have 'Params': an aggregate, with the Params of the nodes under it.");
  static_assert(
      requires { typename Node::State; },
      "An epilogue node must have 'State': what a thread keeps while it works on a tile.");
  static_assert(
      requires { bool{Node::gates}; },
      "An epilogue node must have 'gates': whether the tree holds a Gate, above which there are "
      "half as many columns.");
  static_assert(
      requires { bool{Node::once}; },
      "An epilogue node must have 'once', or Leaf's: whether it must see each element once; tiles "
      "at an edge then do not reach back over others.");
  static_assert(
      requires(const typename Node::Params& params, typename Node::State& state,
               const Fragment<Node::gates ? 1u : 2u, GlobalSource>& fragment) {
        FragmentPair{Node::apply(params, state, fragment)};
      },
      "An epilogue node must have 'apply(params, state, fragment)': the pair at fragment.place.");
  static_assert(
      requires(const typename Node::Params& params, const typename Node::State& state) {
        Node::finish(params, state, 0u);
      },
      "An epilogue node must have 'finish(params, state, lane)': what whole warps do behind the "
      "last value of a tile.");
  return true;
}
template <class Node>
concept EpilogueNode = is_node<Node>();

// Takes the program that an epilogue chooses.
struct TakesAnyProgram {
  template <class Program>
  TW_DEVICE void operator()(const Program&) const;
};

// The fragment loop runs sums through an epilogue: a Tree, or RuntimeEpilogue.
template <class Epilogue>
consteval bool is_epilogue() {
  static_assert(
      requires { typename Epilogue::Params; },
      "An epilogue must have 'Params': what a launch tells it.");
  static_assert(
      requires { bool{Epilogue::once}; },
      "An epilogue must have 'once', or UsualEpilogue's: whether it must see each element once.");
  static_assert(
      requires { bool{Epilogue::begins}; },
      "An epilogue must have 'begins', or UsualEpilogue's: whether sums begin at what "
      "'beginning<output>(params)' reads, C and a bias.");
  static_assert(
      requires(const typename Epilogue::Params& params, const FragmentPlace<2>& place) {
        Epilogue::prepare(params, place, 1, 0u);
      },
      "An epilogue must have 'prepare(params, place, columns, thread)': what it fetches before the "
      "sums of a tile are made.");
  static_assert(
      requires(const typename Epilogue::Params& params, const TakesAnyProgram& body) {
        Epilogue::template choose<float, ElementType::Bf16, GlobalSource>(params, true, body);
      },
      "An epilogue must have 'choose<Value, output, SourceChunk>(params, whole_pairs, body)': "
      "calls 'body' with the program that the pairs of a tile go through.");
  return true;
}
template <class Epilogue>
concept TileEpilogue = is_epilogue<Epilogue>();

// Takes values of an epilogue to D.
template <class Store>
consteval bool is_store() {
  static_assert(
      requires { typename Store::Params; }, "A store must have 'Params': what a launch tells it.");
  static_assert(
      requires { typename Store::Buffers; },
      "A store must have 'Buffers': its shared memory; an empty struct where it has none.");
  static_assert(
      requires { typename Store::OutputTrace; },
      "A store must have 'OutputTrace': the trace that it was made with.");
  static_assert(
      requires { Store::output; }, "A store must have 'output': the ElementType of D.");
  static_assert(
      requires { unsigned{Store::chunk_columns}; },
      "A store must have 'chunk_columns': columns of sums that it takes at once.");
  static_assert(
      requires { bool{Store::transposes}; },
      "A store must have 'transposes', or UsualStore's: whether rows of sums are columns of D.");
  static_assert(
      requires { bool{Store::stores_tiles}; },
      "A store must have 'stores_tiles', or UsualStore's: whether it takes whole tiles, by "
      "'open_tile' and 'put'.");
  static_assert(
      requires { bool{Store::stores_by_tma}; },
      "A store must have 'stores_by_tma', or UsualStore's: whether its Params have a tensor map of "
      "D, and say 'by_tma' where D is aligned for it.");
  static_assert(
      requires(Store store) { store.open(); },
      "A store must have 'open()': the buffer that the next chunk is written to.");
  static_assert(
      requires(Store store) { store.drain(); },
      "A store must have 'drain()': waits until D has been written.");
  return true;
}
template <class Store>
concept TileStore = is_store<Store>();

// Brings C, or a residual, to the epilogue.
template <class Sources>
consteval bool is_source() {
  static_assert(
      requires { bool{Sources::has_role}; },
      "A source must have 'has_role': whether a role of its own brings C.");
  static_assert(
      requires { typename Sources::Params; },
      "A source must have 'Params': what a launch tells it.");
  static_assert(
      requires { typename Sources::Storage; },
      "A source must have 'Storage': its shared memory; an empty struct where it has none.");
  static_assert(
      requires(typename Sources::Storage & storage) { Sources::init(storage); },
      "A source must have 'init(storage)': one thread calls it before the start.");
  static_assert(
      requires(typename Sources::Reader reader) { reader.next(0, 0); },
      "A source must have 'Reader': the epilogue's view of it, whose 'next(row, column)' is the "
      "chunk of C that begins there.");
  if constexpr (Sources::has_role) {
    static_assert(
        requires(typename Sources::template Loader<NoTrace> loader, const TileOrigin& place) {
          loader.load(place, 0u);
          loader.drain();
        },
        "A source must have 'template <class Trace> Loader' where a role brings C: its "
        "'load(place, index)' and 'drain()'.");
    static_assert(
        requires { unsigned{Sources::chunks}; },
        "A source must have 'chunks' where a role brings C: how many a tile has.");
  }
  return true;
}
template <class Sources>
concept SourceSupply = is_source<Sources>();

}  // namespace tw
