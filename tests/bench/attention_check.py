"""bench/attention_torch.py compares every kernel of e4m3 that it measures, and says which ones refuse. There is no torch here: a
problem and the library are made up. usage: attention_check.py REPOSITORY"""
import contextlib
import io
import pathlib
import sys
import unittest.mock

sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / 'bench'))
sys.dont_write_bytecode = True
names = ('torch', 'torch.nn', 'torch.nn.functional', 'torch.nn.attention')
with unittest.mock.patch.dict(sys.modules, {name: unittest.mock.MagicMock() for name in names}):
    import attention_torch

asked = []


class MadeUp:
    """A kernel `wrong` errs, and `wide` takes 128 columns alone."""

    def __init__(self, *numbers):
        self.keys, self.columns = numbers[4], numbers[5]

    def exact(self):
        return 'exact'

    def caller(self, library, instance, is_e4m3, sums_join_every):
        asked.append((instance, self.columns, sums_join_every == (self.keys if instance else 0)))
        if instance == 'wide' and self.columns != 128:
            return None
        return (lambda: None), instance, f'./tw run attention --instance {instance or "chosen"} --keys 1'


class Tensor:
    shape, dtype, data_ptr = (1, 8, 2, 64), 'e4m3', lambda self: 0


# A refusal is printed with its sentence.
functions = unittest.mock.MagicMock(tw_plan_create=lambda *_: 1, tw_message=lambda: b'It is too narrow.')
problem = attention_torch.Problem.__new__(attention_torch.Problem)
problem.numbers, problem.columns, problem.causal = (1, 2, 2, 8, 8), 64, True
problem.by_token = problem.as_e4m3 = [Tensor()] * 3
attention_torch.torch.full_like = lambda tensor, _: tensor
said = io.StringIO()
with contextlib.redirect_stdout(said):
    assert problem.caller(unittest.mock.MagicMock(functions=functions), 'wide', True, 8) is None
assert said.getvalue() == 'wide is not measured with 64 columns: It is too narrow.\n', said.getvalue()

attention_torch.Problem = MadeUp
attention_torch.relative_error = lambda output, exact: 0.07 if output == 'wrong' else 0.05
said = io.StringIO()
with contextlib.redirect_stdout(said):
    attention_torch.check_e4m3(None, ['wide', 'right'])
assert {name for name, _, _ in asked} == {None, 'wide', 'right'} and {columns for _, columns, _ in asked} == {64, 128}, asked
assert all(joins for _, _, joins in asked), asked
assert '64 columns, causal: right errs by 5.00 %' in said.getvalue() and '64 columns, full: wide' not in said.getvalue(), said.getvalue()
try:
    with contextlib.redirect_stdout(said):
        attention_torch.check_e4m3(None, ['right', 'wrong'])
    sys.exit('A kernel that errs by 7 % is not found.')
except SystemExit as stopped:
    assert 'wrong' in str(stopped) and 'errs by 7.0 %' in str(stopped), stopped
print('Every kernel of e4m3 is compared.')
