"""Bugs of attention in tensor memory: what its rings between products, softmax and correction order."""
from bug import Bug, Site, WRONG_RESULT

# queries, keys, heads, key heads, causal, multiprocessors. Seven blocks of 32 keys, the last of 8; one query more than a tile of the work.
BLOCKS = (257, 200, 1, 1, 0, 1)
# One tile of the work, its second tile of queries short.
SHORT = (150, 100, 1, 1, 0, 1)
# Three tiles for one CTA, whose ring of queries has two.
TILES = (256, 64, 3, 1, 0, 1)
RINGS = 'family/attention/tensor_rings.h'
PROGRAM = 'family/attention/tensor_program.h'
SCOPE = 'pipeline/tensor_scope.h'


def site(problem, finding, role='', stage=-1, **more):
    return [Site('tensor_attention', problem, finding, role, stage, **more)]


BUGS = [
    Bug('attention_memory_not_freed',
        'the next kernel on this SM finds no columns',
        SCOPE, 'isa::tcgen05_dealloc<1>(address_, columns);', '',
        site(SHORT, 'tensor-memory-leak')),
    Bug('attention_memory_not_announced',
        'users read the address before it was written, or wait for ever',
        SCOPE, 'isa::barrier_sync(barrier, threads);', '',
        site(SHORT, 'deadlock', 'multiply 0', 0, stops=True), of=2),
    Bug('attention_memory_used_too_early',
        'a warp reads the address before it was written',
        SCOPE, 'isa::barrier_sync(barrier, threads);', '',
        site(SHORT, 'uninitialised', 'epilogue', -1, also=('race', 'deadlock'), stops=True), of=2, occurrence=1),
    Bug('attention_lanes_of_the_first_warp',
        'a warp reaches only the lanes of its place',
        SCOPE, 'return isa::load_shared_4(isa::shared_address(&storage.address)) + ((thread / 32 * 32) << 16);',
        'return isa::load_shared_4(isa::shared_address(&storage.address));',
        site(SHORT, 'tensor-memory-lanes', 'softmax', -1, stops=True)),
    Bug('scores_let_go_before_they_are_there',
        'the next product overwrites scores that are on their way to registers',
        RINGS, 'isa::tcgen05_wait_load();', '',
        site(BLOCKS, 'overwrite-while-read', 'multiply 0', -1, also=('tensor-memory-life',)), of=2, occurrence=1),
    Bug('weights_announced_before_they_are_there',
        'the product reads weights whose stores are on their way',
        RINGS, 'isa::tcgen05_wait_store();', '',
        site(SHORT, 'read-before-full', 'multiply 0', -1, also=('race', 'tensor-memory-life')), of=2, occurrence=1),
    Bug('weights_announced_without_a_fence',
        'stores to tensor memory are not ordered before the product that reads it',
        'pipeline/mbarrier.h', 'before_release<Ring>();', '',
        site(SHORT, 'missing-tensor-fence', 'multiply 0')),
    Bug('sums_let_go_before_they_are_corrected',
        'the product adds to sums whose correction is on its way',
        RINGS, 'isa::tcgen05_wait_store();', '',
        site(BLOCKS, 'race', 'multiply 0'), of=2),
    Bug('sums_not_corrected',
        'what was summed up belongs to a smaller maximum',
        RINGS, 'if (smallest == 1) return;', 'return;',
        site(BLOCKS, WRONG_RESULT)),
    Bug('weights_not_awaited',
        'the product reads weights that nobody has written',
        RINGS, 'const auto weights = weights_.consume();', '',
        site(BLOCKS, 'uninitialised', 'multiply 0', -1,
             also=('read-before-full', 'race', 'overwrite-while-read', 'arrival-count', 'deadlock'), stops=True)),
    Bug('scores_of_the_other_tile',
        'a group waits for the scores of both tiles in turn, and reads its own',
        RINGS, 'scores_.skip(1);', '',
        site(BLOCKS, 'read-before-full', 'softmax', -1,
             also=('overwrite-while-read', 'arrival-count', 'deadlock'), stops=True), of=2, occurrence=1),
    Bug('weights_over_scores',
        'weights overwrite scores, and the next scores weights',
        RINGS, 'static constexpr unsigned weights_at = n;', 'static constexpr unsigned weights_at = tile_columns - keys;',
        site(BLOCKS, 'race', 'multiply 0', -1, also=('read-before-full', 'overwrite-while-read'))),
    Bug('sums_not_drained',
        'tensor memory is freed while sums are read',
        RINGS, 'TW_DEVICE void drain(bool /*leads*/) { sums_.drain(); }', 'TW_DEVICE void drain(bool /*leads*/) {}',
        site(SHORT, 'tensor-memory-life', 'multiply 0', -1, also=('tensor-memory-bounds',), stops=True)),
    Bug('factor_of_the_first_block',
        'nothing was summed up before it: later factors come a block late',
        PROGRAM, 'if (k > tile.k_begin) weigher_.send_factor(factor);', 'weigher_.send_factor(factor);',
        site(SHORT, WRONG_RESULT)),
    Bug('sums_begin_with_the_last_tile',
        'the first product of a tile adds to what stands there',
        PROGRAM, 'add_values(sum.writer, k > tile.k_begin + 1);', 'add_values(sum.writer, true);',
        site(SHORT, 'uninitialised', 'multiply 0')),
    Bug('tensor_queries_released_early',
        'the queries of a later tile overwrite those that products still read',
        PROGRAM, 'WorkTile blocks = tile;', 'query = typename QueryInput::Token(); WorkTile blocks = tile;',
        site(TILES, 'read-before-full', 'multiply 0', 0), of=2),
    Bug('tensor_tail_not_cleared',
        'zero times what lies behind the last key is no number',
        PROGRAM, 'if (keys >= int{block_keys}) return;', 'return;',
        site(SHORT, WRONG_RESULT)),
    Bug('tensor_tail_cleared_unheard',
        'the next values overwrite what is being cleared',
        'family/attention/sm100.h', 'static constexpr RoleArrivals clears_values = {softmax_role, 4};',
        'static constexpr RoleArrivals clears_values = {softmax_role, 0};',
        site(BLOCKS, 'arrival-count', 'softmax', 0, also=('race',))),
    Bug('tensor_window_cut_short',
        'blocks that a mask cuts are taken for whole ones',
        PROGRAM, 'const bool is_whole = first_key + int{block_keys} <= seen && first_key >= unseen;',
        'const bool is_whole = first_key <= seen && first_key >= unseen;',
        site(BLOCKS, WRONG_RESULT)),
]
