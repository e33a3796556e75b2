"""Bugs of groups: where they begin and end, and which B is theirs."""
from bug import Bug, Site, WRONG_RESULT

# Groups of 70, 0, 130 and 9 rows, two tiles of columns, for two CTAs. One behind the other, or with room
# for 140 each.
BEHIND = (0, 100, 96, 2)
APART = (140, 100, 96, 2)

BUGS = [
    Bug('stores_to_the_end_of_all',
        "the last tile of a group stores rows of the next, and of nobody",
        'schedule/group_tiles.h', 'return {(row + tile_m - 1) / tile_m, n, group_, end_, row, 0, map.k_tiles};',
        'return {(row + tile_m - 1) / tile_m, n, group_, map.m, row, 0, map.k_tiles};',
        [Site('grouped', BEHIND, WRONG_RESULT), Site('grouped_copies', APART, WRONG_RESULT),
         Site('grouped_tensor', BEHIND, 'global-race', 'epilogue', text='with another value')]),
    Bug('box_over_the_end',
        'TMA stores a whole box where the group ends inside',
        'epilogue/staged_store.h',
        'place.m_end != m && place.row + static_cast<int>(rows) > place.m_end;', 'false;',
        [Site('grouped', BEHIND, WRONG_RESULT), Site('grouped_tensor', APART, WRONG_RESULT)]),
    Bug('reaches_before_its_group',
        'a group of fewer rows than a tile stores rows of the one before with its own B',
        'schedule/group_tiles.h',
        'const bool reaches_back = map.last_row < map.m && end_ - begin_ >= tile_m;',
        'const bool reaches_back = map.last_row < map.m;',
        [Site('grouped', BEHIND, 'global-race', 'multiply 0', text='with another value'),
         Site('grouped_copies', BEHIND, 'global-race', 'multiply 0', text='with another value')]),
    Bug('begins_at_a_multiple',
        'a tile begins where tiles of a matrix without groups do',
        'schedule/group_tiles.h', 'return {(row + tile_m - 1) / tile_m, n, group_, end_, row, 0, map.k_tiles};',
        'return {row / tile_m, n, group_, end_, row, 0, map.k_tiles};',
        [Site('grouped', BEHIND, WRONG_RESULT)]),
    Bug('one_b_for_all',
        'every group meets the first B',
        'schedule/group_tiles.h', 'return {(row + tile_m - 1) / tile_m, n, group_, end_, row, 0, map.k_tiles};',
        'return {(row + tile_m - 1) / tile_m, n, 0, end_, row, 0, map.k_tiles};',
        [Site('grouped', BEHIND, WRONG_RESULT), Site('grouped_tensor', BEHIND, WRONG_RESULT)]),
    Bug('groups_pushed_together',
        'a group begins where the one before ends, though it has room of its own',
        'schedule/group_tiles.h', 'begin_ = capacity > 0 ? group_ * capacity : end_;', 'begin_ = end_;',
        [Site('grouped', APART, WRONG_RESULT)]),
    Bug('tiles_of_one_column',
        'the tiles of a group are counted as if it had one column of them',
        'schedule/group_tiles.h', 'first_tile_ += tiles_m() * params_.map.tiles_n;', 'first_tile_ += tiles_m();',
        [Site('grouped', BEHIND, WRONG_RESULT)]),
    Bug('one_group_too_many',
        'a number is read behind that of the last group',
        'schedule/group_tiles.h', 'if (group_ == params_.map.batches) return;', '',
        [Site('grouped', BEHIND, 'bounds', 'load', -1, stops=True)]),
]
