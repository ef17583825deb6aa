"""pyopencl as programs use it: arrays, elementwise and reduction kernels, scans, a program of its own, errors."""
import sys

import numpy as np
import pyopencl as cl
import pyopencl.array as cla
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import InclusiveScanKernel

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
print(context.devices[0].platform.name, file=sys.stderr)
random = np.random.default_rng(7)

a = random.random(5000, dtype=np.float32)
b = random.random(5000, dtype=np.float32)
x, y = cla.to_device(queue, a), cla.to_device(queue, b)
assert np.allclose((2 * x + y * y).get(), 2 * a + b * b, rtol=1e-6)
assert np.isclose(cla.dot(x, y).get(), np.dot(a.astype(np.float64), b), rtol=1e-4)
assert cla.max(x).get() == a.max()

scale = ElementwiseKernel(context, "float *x, float f, float *out", "out[i] = f * x[i] + i", "scale")
out = cla.empty_like(x)
scale(x, np.float32(3), out)
assert np.allclose(out.get(), 3 * a + np.arange(5000), rtol=1e-6)

total = ReductionKernel(context, np.int32, neutral="0", reduce_expr="a+b", map_expr="x[i]*x[i]", arguments="int *x")
numbers = np.arange(1500, dtype=np.int32)
assert total(cla.to_device(queue, numbers)).get() == (numbers * numbers).sum()

scan = InclusiveScanKernel(context, np.int32, "a+b", neutral="0")
scanned = cla.to_device(queue, numbers)
scan(scanned)
assert (scanned.get() == np.cumsum(numbers)).all()

program = cl.Program(context, """
    kernel void transpose(global const double *in, global double *out, int n) {
        int x = get_global_id(0), y = get_global_id(1);
        out[x * n + y] = in[y * n + x];
    }""").build()
matrix = random.random((48, 48))
mf = cl.mem_flags
source = cl.Buffer(context, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=matrix)
target = cl.Buffer(context, mf.WRITE_ONLY, matrix.nbytes)
event = program.transpose(queue, matrix.shape, (8, 8), source, target, np.int32(48))
result = np.empty_like(matrix)
cl.enqueue_copy(queue, result, target)
assert (result == matrix.T).all()
assert event.profile.end >= event.profile.start >= event.profile.queued

try:
    cl.Program(context, "kernel void broken() { what }").build()
    raise SystemExit("a broken program was built")
except cl.RuntimeError as error:
    assert "what" in str(error), error
print("ok")
