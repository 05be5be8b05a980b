/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels of device.c, as text that the driver compiles: PTX (NVIDIA, "Parallel Thread Execution
 * ISA", version 6.0) and HIP's C++.
 *
 *     move(to, from, count)             copies `count` values of 8 bytes
 *     compare(a, b, count, differ)      sets *differ to 1 if two values differ
 *     gather(to, from, places, count)   to[i] = from[places[i]]
 *     scatter(to, from, places, count)  to[places[i]] = from[i]
 *     compute(out, steps)               a chain of `steps` dependent multiply-adds, in one thread
 *
 * The first four work with any grid.
 */
#pragma once

/* First value (%rd0) and stride (%rd1) of a thread, in bytes. */
#define BC_PTX_SHARE                                                                               \
    "  mov.u32 %r0, %ctaid.x;  mov.u32 %r1, %ntid.x;  mov.u32 %r2, %tid.x;\n"                      \
    "  mov.u32 %r3, %nctaid.x;\n"                                                                  \
    "  mul.wide.u32 %rd0, %r0, %r1;  cvt.u64.u32 %rd1, %r2;  add.u64 %rd0, %rd0, %rd1;\n"          \
    "  shl.b64 %rd0, %rd0, 3;\n"                                                                   \
    "  mul.wide.u32 %rd1, %r1, %r3;  shl.b64 %rd1, %rd1, 3;\n"

/* `source` and `destination` are offsets in bytes: %rd0, the thread's, or %rd6, from the list of
   places. */
#define BC_PTX_INDIRECT(name, source, destination)                                                 \
    ".visible .entry commcost_" name "(.param .u64 to, .param .u64 from, .param .u64 places,\n"    \
    "                                  .param .u64 count)\n"                                       \
    "{\n"                                                                                          \
    "  .reg .pred %p0;  .reg .b32 %r<4>;  .reg .b64 %rd<10>;\n"                                    \
    "  ld.param.u64 %rd2, [to];\n"                                                                 \
    "  ld.param.u64 %rd3, [from];\n"                                                               \
    "  ld.param.u64 %rd4, [places];\n"                                                             \
    "  ld.param.u64 %rd5, [count];\n"                                                              \
    "  shl.b64 %rd5, %rd5, 3;\n" BC_PTX_SHARE "repeat:\n"                                          \
    "  setp.ge.u64 %p0, %rd0, %rd5;\n"                                                             \
    "  @%p0 bra done;\n"                                                                           \
    "  add.u64 %rd6, %rd4, %rd0;\n"                                                                \
    "  ld.u64 %rd6, [%rd6];\n"                                                                     \
    "  shl.b64 %rd6, %rd6, 3;\n"                                                                   \
    "  add.u64 %rd7, %rd3, " source ";\n"                                                          \
    "  add.u64 %rd8, %rd2, " destination ";\n"                                                     \
    "  ld.u64 %rd9, [%rd7];\n"                                                                     \
    "  st.u64 [%rd8], %rd9;\n"                                                                     \
    "  add.u64 %rd0, %rd0, %rd1;\n"                                                                \
    "  bra repeat;\n"                                                                              \
    "done:\n"                                                                                      \
    "  ret;\n"                                                                                     \
    "}\n"

#define BC_PTX_GATHER BC_PTX_INDIRECT("gather", "%rd6", "%rd0")
#define BC_PTX_SCATTER BC_PTX_INDIRECT("scatter", "%rd0", "%rd6")

static const char bc_kernels_ptx[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry commcost_move(.param .u64 to, .param .u64 from, .param .u64 count)\n"
    "{\n"
    "  .reg .pred %p0;  .reg .b32 %r<4>;  .reg .b64 %rd<8>;\n"
    "  ld.param.u64 %rd2, [to];\n"
    "  ld.param.u64 %rd3, [from];\n"
    "  ld.param.u64 %rd4, [count];\n"
    "  shl.b64 %rd4, %rd4, 3;\n" BC_PTX_SHARE "repeat:\n"
    "  setp.ge.u64 %p0, %rd0, %rd4;\n"
    "  @%p0 bra done;\n"
    "  add.u64 %rd5, %rd3, %rd0;\n"
    "  add.u64 %rd6, %rd2, %rd0;\n"
    "  ld.u64 %rd7, [%rd5];\n"
    "  st.u64 [%rd6], %rd7;\n"
    "  add.u64 %rd0, %rd0, %rd1;\n"
    "  bra repeat;\n"
    "done:\n"
    "  ret;\n"
    "}\n"
    ".visible .entry commcost_compare(.param .u64 a, .param .u64 b, .param .u64 count,\n"
    "                                 .param .u64 differ)\n"
    "{\n"
    "  .reg .pred %p<2>;  .reg .b32 %r<4>;  .reg .b64 %rd<10>;\n"
    "  ld.param.u64 %rd2, [a];\n"
    "  ld.param.u64 %rd3, [b];\n"
    "  ld.param.u64 %rd4, [count];\n"
    "  ld.param.u64 %rd5, [differ];\n"
    "  shl.b64 %rd4, %rd4, 3;\n" BC_PTX_SHARE "repeat:\n"
    "  setp.ge.u64 %p0, %rd0, %rd4;\n"
    "  @%p0 bra done;\n"
    "  add.u64 %rd6, %rd2, %rd0;\n"
    "  add.u64 %rd7, %rd3, %rd0;\n"
    "  ld.u64 %rd8, [%rd6];\n"
    "  ld.u64 %rd9, [%rd7];\n"
    "  setp.ne.u64 %p1, %rd8, %rd9;\n"
    "  @%p1 st.u64 [%rd5], 1;\n"
    "  add.u64 %rd0, %rd0, %rd1;\n"
    "  bra repeat;\n"
    "done:\n"
    "  ret;\n"
    "}\n" BC_PTX_GATHER BC_PTX_SCATTER
    ".visible .entry commcost_compute(.param .u64 out, .param .u64 steps)\n"
    "{\n"
    "  .reg .pred %p0;  .reg .f32 %f<3>;  .reg .b64 %rd<2>;\n"
    "  ld.param.u64 %rd0, [out];\n"
    "  ld.param.u64 %rd1, [steps];\n"
    "  mov.f32 %f0, 0f3F800000;\n"
    "  mov.f32 %f1, 0f3F7FFF00;\n"
    "  mov.f32 %f2, 0f3A83126F;\n"
    "repeat:\n"
    "  setp.eq.u64 %p0, %rd1, 0;\n"
    "  @%p0 bra done;\n"
    "  fma.rn.f32 %f0, %f0, %f1, %f2;\n"
    "  sub.u64 %rd1, %rd1, 1;\n"
    "  bra repeat;\n"
    "done:\n"
    "  st.f32 [%rd0], %f0;\n"
    "  ret;\n"
    "}\n";

#define BC_HIP_SHARE                                                                               \
    "for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;\n"     \
    "         i < count; i += (unsigned long long)gridDim.x * blockDim.x)\n"

static const char bc_kernels_hip[] =
    "extern \"C\" __global__ void commcost_move(unsigned long long *to,\n"
    "    const unsigned long long *from, unsigned long long count)\n"
    "{\n"
    "    " BC_HIP_SHARE "        to[i] = from[i];\n"
    "}\n"
    "extern \"C\" __global__ void commcost_compare(const unsigned long long *a,\n"
    "    const unsigned long long *b, unsigned long long count, unsigned long long *differ)\n"
    "{\n"
    "    " BC_HIP_SHARE "        if (a[i] != b[i])\n"
    "            *differ = 1;\n"
    "}\n"
    "extern \"C\" __global__ void commcost_gather(unsigned long long *to,\n"
    "    const unsigned long long *from, const long long *places, unsigned long long count)\n"
    "{\n"
    "    " BC_HIP_SHARE "        to[i] = from[places[i]];\n"
    "}\n"
    "extern \"C\" __global__ void commcost_scatter(unsigned long long *to,\n"
    "    const unsigned long long *from, const long long *places, unsigned long long count)\n"
    "{\n"
    "    " BC_HIP_SHARE "        to[places[i]] = from[i];\n"
    "}\n"
    "extern \"C\" __global__ void commcost_compute(float *out, unsigned long long steps)\n"
    "{\n"
    "    float x = 1.0f;\n"
    "    for (; steps != 0; steps--)\n"
    "        x = __builtin_fmaf(x, 0.99998f, 0.001f);\n"
    "    *out = x;\n"
    "}\n";
