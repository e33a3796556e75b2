"""The reports of programs in Python, of made-up numbers. usage: columns.py REPOSITORY"""
import ctypes.util
import pathlib
import subprocess
import sys

repository = pathlib.Path(sys.argv[1])
sys.path[:0] = [str(repository / 'bench'), str(repository / 'tools')]
sys.dont_write_bytecode = True
sys.path = [path for path in sys.path if pathlib.Path(path).resolve() != pathlib.Path(__file__).resolve().parent]
import beside_torch  # noqa: E402
import columns  # noqa: E402
import measured_page  # noqa: E402


def row(shape, peer, own, peer_between=0.0, own_between=0.0, **more):
    return {'shape': shape, 'peer_us': peer, 'own_us': own, 'peer_between_us': peer_between, 'own_between_us': own_between,
            'foreign_us': 2.0, **more}


rows = [row('a', 10.0, 5.0, 12.0, 12.0, m=16), row('b', 20.0, 20.0, 22.0, 42.0, m=17),
        row('c', 300.0, 600.0, 302.0, 602.0, m=1025)]
classes = columns.classes_of(rows)
alone, between, less = (classes[0][column] for column in columns.COLUMNS)
assert [one['class'] for one in classes] == ['all', 'm <= 16', 'm 17 to 64', 'm > 1024', 'peer < 12 us', 'peer >= 12 us'], classes
assert abs(alone['geometric_mean'] - 1) < 1e-12 and alone['median'] == 1 and alone['worst'] == {'shape': 'c', 'value': 0.5}
assert abs(alone['sum_of_times'] - 330 / 625) < 1e-12
assert abs(between['geometric_mean'] - (22 / 42 * 302 / 602) ** (1 / 3)) < 1e-12
assert abs(less['geometric_mean'] - 0.25 ** (1 / 3)) < 1e-12
assert '| m <= 16 | 1 | 2.000 | 2.000 | 2.000 | 2.00 (a) | 1.000 | 1.000 | 1.000 | 1.00 (a) |' in columns.text_of(classes)
# A shape without a peer counts in no column, and without a foreign kernel there is one column.
one = columns.classes_of([row('a', 10.0, 5.0), row('b', 0.0, 5.0)])
assert one[0]['alone']['shapes'] == 1 and one[0]['between'] is None
assert 'foreign' not in columns.text_of(one)
assert columns.classes_of([row('b', 0.0, 5.0)]) == [] and columns.text_of([]) == ''
kinds = columns.classes_of([row('a', 10.0, 5.0, kind='decode'), row('b', 10.0, 5.0, kind='causal')])
assert [of['class'] for of in kinds] == ['all', 'decode', 'causal', 'peer < 12 us'], kinds

report = {'driver': '580.0, torch 2', 'commit': 'abc', 'date': 'today', 'rounds': 3, 'slice_ms': 20, 'command': './tw bench matmul',
          'classes': classes, 'summary': {'foreign_us': 2.0, 'peer_tried': [4, 16], 'left_out': ['d'], 'failed': [{'shape': 'e'}]}}
page = measured_page.page({'bf16': report})
assert '| bf16, held out | cuBLASLt | 3 | 1.000 | 0.50 (c) | 0.528 | 0.630 | 0.50 (b) | 0.508 |' in page, page
for line in ('Driver 580.0, commit abc.', 'of 4 to 16 that were tried', 'No time was left for 1 shapes: d.', 'or wrong: e.',
             '    ./tw bench matmul\n'):
    assert line in page, line

shape = {'batch': 2, 'heads': 8, 'key_heads': 2, 'queries': 1, 'keys': 4096, 'columns': 128, 'causal': False}
assert beside_torch.words_of(shape) == '2 x 1 x 4096, 8 heads of 2, 128 columns, decode'
assert beside_torch.attention_shape({'batch': 4, 'heads': 32, 'seq': 64, 'dim': 128, 'causal': True}) == {
    'batch': 4, 'heads': 32, 'key_heads': 32, 'queries': 64, 'keys': 64, 'columns': 128, 'causal': True}
head = {'device': 'NVIDIA H200', 'driver': '580.0', 'commit': 'abc', 'date': 'today', 'rounds': 3, 'slice_ms': 20.0, 'command': 'x'}
spread = {f'{side}{column}{end}_us': 1.0 for side in ('own_', 'peer_') for column in ('', 'between_') for end in ('low', 'high')}
text = beside_torch.csv_of(head, 'grouped', [{**rows[0], **spread, 'own': 'ours', 'peer': 'torch', 'peer_between': 'torch', 'tried': 1}])
assert text.splitlines()[0] == '# NVIDIA H200, driver 580.0, commit abc, today; 3 rounds of slices of 20 ms', text
assert text.splitlines()[3].startswith('grouped,"a",ours,torch,torch,1,5.000,1.000,1.000,10.000,'), text

# A function of another library gets addresses, sizes and the mask in the order that docs/attention.md states.
told = []
beside_torch.call_function(lambda *given: told.append(given) or 0, [1, 2, 3, 4], shape, False, 9)
assert told == [(1, 2, 3, 4, 2, 8, 2, 1, 4096, 128, 0, 9)], told
try:
    beside_torch.call_function(lambda *given: 7, [1, 2, 3, 4], shape, False, 9)
    raise SystemExit('A status other than 0 was taken for a result.')
except RuntimeError as error:
    assert str(error) == 'tw_peer_attention returned 7'
for library, words in ((repository / 'no.so', 'no.so: cannot open'), (None, 'has no function tw_peer_attention.')):
    given = str(library or ctypes.util.find_library('c'))
    ran = subprocess.run([sys.executable, str(repository / 'bench/beside_torch.py'), str(repository / 'bench/suites/attention-bf16.json'),
                          '--fa3', given], capture_output=True, text=True)
    assert ran.returncode == 2 and words in ran.stderr, (ran.returncode, ran.stderr)
print('Columns, pages and lines are as they should be.')
