"""Bugs of the loader that rotates rows."""
from bug import Bug, Site, WRONG_RESULT

BUGS = [
    Bug('rows_as_they_lie', 'nobody adds the shift', 'family/rotated/kernel.h',
        'const int rows = params.a.rows, from = row + params.shift;', 'const int rows = params.a.rows, from = row;',
        [Site('sm80', (), WRONG_RESULT)]),
    Bug('rows_behind_the_last', 'rows that rotate past the end are not those at the begin', 'family/rotated/kernel.h',
        'return row >= rows ? rows : from < rows ? from : from - rows;', 'return row >= rows ? rows : from;',
        [Site('sm80', ('--shift', '150'), WRONG_RESULT)]),
]
