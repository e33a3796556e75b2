"""Bugs of packed weights: who brings them, when they are converted, and which scale is whose."""
from bug import Bug, Site, WRONG_RESULT

# Two tiles of 64 features, ragged, three blocks of k; more blocks than the ring has stages.
SMALL = (12, 100, 300)
SMALL_BYTES = (12, 100, 304)
LONG = (12, 64, 4000)
# Groups of 5, 0, 20 and 3 rows, and 4 rows of nobody.
GROUPS = (32, 100, 300, '5,0,20,3')
# Tiles that one CTA multiplies in turn.
TILES = (12, 300, 1000)

BUGS = [
    Bug('converted_too_early',
        'weights are converted into registers that a product still reads',
        'family/four_bit/op.h', 'isa::wgmma_wait_group<1>();', 'isa::wgmma_wait_group<2>();',
        [Site('four_bit', SMALL, 'operand-in-flight', 'multiply 0', -1),
         Site('four_bit_e4m3', SMALL_BYTES, 'operand-in-flight', 'multiply 0', -1)]),
    Bug('one_warp_lets_go_of_codes',
        'a stage is free when the first warp has read its codes',
        'family/four_bit/op.h', 'static constexpr unsigned releases = 4;  // arrivals by each group',
        'static constexpr unsigned releases = 1;',
        [Site('four_bit', LONG, 'overwrite-while-read', 'load', 0, also=('arrival-count', 'phase-skipped'))]),
    Bug('activations_of_the_first_stage',
        'weights of any stage are multiplied by the activations of the first',
        'family/four_bit/op.h', 'const std::uint64_t b = b_descriptor + b_ + BlocksB::units(0, 0, 0, stage.slot());',
        'const std::uint64_t b = b_descriptor + b_;',
        [Site('four_bit', SMALL, 'wrong-step', 'multiply 0', 0)]),
    Bug('scales_of_the_lane_s_other_row',
        'the two rows of a lane have each other\'s scales',
        'family/four_bit/fragments.h', 'const unsigned index = 2 * group + row;',
        'const unsigned index = 2 * group + 1 - row;',
        [Site('four_bit', SMALL, WRONG_RESULT)]),
    Bug('signs_of_the_other_half',
        'weights for e4m3 have the signs of those 16 of k further on',
        'family/four_bit/fragments.h', 'a[row] = isa::permute_bytes(low, high, magnitudes) | (word & signs);',
        'a[row] = isa::permute_bytes(low, high, magnitudes) | (word << 4 & signs);',
        [Site('four_bit_e4m3', SMALL_BYTES, WRONG_RESULT)]),
    Bug('zero_gets_a_scale',
        'the table of e4m3 has a number where e2m1 is zero',
        'family/four_bit/fragments.h', 'const std::uint32_t low = 0x14100800 + scale * 0x01010100;',
        'const std::uint32_t low = 0x14100800 + scale * 0x01010101;',
        [Site('four_bit_e4m3', SMALL_BYTES, WRONG_RESULT)]),
    Bug('groups_add_up_too_early',
        'the first group adds up parts that the others have not written yet',
        'pipeline/group_parts.h', 'isa::barrier_sync(barrier, groups * threads);', '',
        [Site('along_k', LONG, 'uninitialised', 'multiply 0', 'any')]),
    Bug('groups_write_over_parts',
        'groups write over parts of the tile before, which the first still reads',
        'pipeline/group_parts.h', 'if (is_used_) isa::barrier_sync(barrier, groups * threads);', '',
        [Site('along_k', TILES, 'overwrite-while-read', 'multiply 1', 'any')]),
    Bug('groups_of_other_stages',
        'a group takes one stage more than is its turn, which another has, too',
        'kernel/warp_specialized.h', 'turn_ = Kernel::roles.groups - 1;', 'turn_ = Kernel::roles.groups - 2;',
        [Site('along_k', SMALL, WRONG_RESULT)]),
    Bug('features_beyond_the_last',
        'blocks that the weights do not have are read',
        'family/four_bit/loader.h',
        'const int row_block = std::min(first_row + static_cast<int>(row), params_.row_blocks - 1);',
        'const int row_block = first_row + static_cast<int>(row) + 1;',
        [Site('four_bit', SMALL, 'bounds', 'load', -1)]),
    Bug('weights_of_the_first_expert',
        "every group's rows meet the weights of the first",
        'family/four_bit/loader.h',
        'const unsigned char* const matrix = params_.weights + tile.batch * params_.batch_bytes;',
        'const unsigned char* const matrix = params_.weights;',
        [Site('four_bit_groups', GROUPS, WRONG_RESULT)]),
    Bug('columns_to_the_end_of_all',
        'with swap_ab, the last tile of a group stores rows of the next, and of nobody',
        'schedule/group_tiles.h', 'return {m, behind, group_, end_, map.last_row, row, 0, map.k_tiles};',
        'return {m, behind, group_, map.m, map.last_row, row, 0, map.k_tiles};',
        [Site('four_bit_groups', GROUPS, 'global-race', 'multiply 0', text='with another value')]),
]
