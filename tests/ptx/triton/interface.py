"""tilewright.ptx and tilewright.triton without Triton: what arguments become, what is found, and what is refused with a sentence.

usage: interface.py   (TILEWRIGHT_PTX_LIBRARY is the library)
"""
import sys
import unittest

sys.dont_write_bytecode = True
try:
    import numpy as np
except ImportError:
    print('numpy is not installed.')
    sys.exit(77)

import tilewright
from tilewright import ptx
from tilewright.triton import run

# 32 threads: y = scale * x + x[other]; the struct has the pointer to y and the scale.
TEXT = '''.version 9.0
.target sm_90a
.address_size 64
.visible .entry axpy(.param .u64 x, .param .align 8 .b8 rest[16], .param .u32 other)
.reqntid 32
{
  .reg .b64 %x<8>;
  .reg .b32 %r<8>;
  .reg .f32 %f<8>;
  ld.param.u64 %x0, [x];
  ld.param.u64 %x1, [rest];
  ld.param.f32 %f0, [rest+8];
  ld.param.u32 %r0, [other];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %x2, %r1, 4;
  mul.wide.u32 %x3, %r0, 4;
  add.s64 %x4, %x0, %x2;
  add.s64 %x5, %x0, %x3;
  add.s64 %x6, %x1, %x2;
  ld.global.f32 %f1, [%x4];
  ld.global.f32 %f2, [%x5];
  fma.rn.f32 %f3, %f1, %f0, %f2;
  st.global.f32 [%x6], %f3;
  ret;
}
'''


class Interface(unittest.TestCase):
    def setUp(self):
        self.x, self.y = np.arange(32, dtype=np.float32), np.full(32, -1, np.float32)

    def launch(self, *args, text=TEXT, **how):
        return ptx.launch(text, 'axpy', args=args, **how)

    def rest(self, flow=ptx.Out, scale=2):
        return ptx.Struct({0: flow(self.y), 8: np.float32(scale)})

    def test_arrays_are_written_in_place(self):
        report = self.launch(ptx.In(self.x), self.rest(), 3, schedules=4)
        self.assertEqual((report.verdict, report.clean, report.schedules), ('clean', 4, 4))
        np.testing.assert_array_equal(self.y, 2 * self.x + 3)

    def test_a_write_to_what_is_only_read_is_found(self):
        with self.assertRaises(tilewright.Found) as caught:
            self.launch(self.x, self.rest(ptx.In), 3)
        self.assertEqual(caught.exception.report.findings[0][0], 'bounds')
        self.assertIn('line 23', str(caught.exception))

    def test_an_address_outside_is_found(self):
        report = self.launch(self.x, self.rest(), 32, raises=False)
        self.assertEqual((report.verdict, report.findings[0][0]), ('found', 'bounds'))

    def test_what_has_no_model_is_incomplete(self):
        with self.assertRaises(ptx.Incomplete) as caught:
            self.launch(self.x, self.rest(), 3, text=TEXT.replace('fma.rn.f32', 'fma.frobnicate.f32'))
        self.assertIn('fma.frobnicate.f32 has no model', caught.exception.report.incomplete[0])

    def test_refusals_are_sentences(self):
        for sentence, call in (
                ('axpy takes 3 arguments, and not 2.', lambda: self.launch(self.x, self.rest())),
                ("An argument is 'x'", lambda: self.launch(self.x, self.rest(), 'x')),
                ('4294967296 does not fit into u32.', lambda: self.launch(self.x, self.rest(), 2 ** 32)),
                ('must be a numpy array that is contiguous', lambda: self.launch(self.x[::2], self.rest(), 3)),
                ("The module has no entry 'other'.", lambda: ptx.launch(TEXT, 'other')),
                ('grid is 0', lambda: self.launch(self.x, self.rest(), 3, grid=0)),
                ("--landing is 'never'", lambda: self.launch(self.x, self.rest(), 3, landing='never')),
                ('text is 7', lambda: ptx.launch(7, 'k')),
                ('Two arguments are arrays that overlap', lambda: self.launch(self.x[:16], ptx.Struct({0: self.x[8:24]}), 3)),
                ("A tensor map has 1 numbers of 'box', and not 2.", lambda: self.launch(ptx.tensor_map(self.x, (8, 8)), self.rest(), 3)),
                ('must be BYTE=ARGUMENT, with a byte below 16', lambda: self.launch(self.x, ptx.Struct({16: self.y}), 3)),
                ('needs its type', lambda: self.launch(self.x, ptx.Struct({0: 3}), 3))):
            with self.subTest(sentence), self.assertRaises(tilewright.Invalid) as caught:
                call()
            self.assertIn(sentence, str(caught.exception))

    @unittest.skipIf('triton' in sys.modules or __import__('importlib.util').util.find_spec('triton'), 'Triton is here')
    def test_without_triton(self):
        with self.assertRaises(tilewright.Invalid) as caught:
            run(None, (1,), self.x)
        self.assertIn('Triton is not installed', str(caught.exception))


unittest.main()
