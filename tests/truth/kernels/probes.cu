// One warp each: how the hardware counts atomics that meet, banks of wide accesses, local memory.
#define KERNEL extern "C" __global__ void

KERNEL probe_red(const int *idx, unsigned *h)
{
    int k = idx[threadIdx.x];
    if (k >= 0)
        atomicAdd(&h[k], 1u);
}

KERNEL probe_atom(const int *idx, unsigned *h, unsigned *out)
{
    int k = idx[threadIdx.x];
    if (k >= 0)
        out[threadIdx.x] = atomicAdd(&h[k], 1u);
}

KERNEL probe_red64(const int *idx, unsigned long long *h)
{
    int k = idx[threadIdx.x];
    if (k >= 0)
        atomicAdd(&h[k], 1ull);
}

#define SHARED_PROBES(name, type, fill)                                                            \
    KERNEL probe_load_##name(const int *idx, type *out)                                            \
    {                                                                                              \
        __shared__ type box[256];                                                                  \
        for (int k = threadIdx.x; k < 256; k += 32)                                                \
            box[k] = fill;                                                                         \
        __syncthreads();                                                                           \
        out[threadIdx.x] = box[idx[threadIdx.x]];                                                  \
    }                                                                                              \
    KERNEL probe_store_##name(const int *idx, type *out)                                           \
    {                                                                                              \
        __shared__ type box[256];                                                                  \
        int k = threadIdx.x;                                                                       \
        box[idx[k]] = fill;                                                                        \
        __syncwarp();                                                                              \
        out[k] = box[idx[k]];                                                                      \
    }
SHARED_PROBES(32, float, (float)k)
SHARED_PROBES(64, float2, make_float2(k, 1))
SHARED_PROBES(128, float4, make_float4(k, 1, 2, 3))
SHARED_PROBES(8, unsigned char, (unsigned char)k)
SHARED_PROBES(16, short, (short)k)

#define LOCAL_PROBE(name, type)                                                                    \
    KERNEL probe_local_##name(const int *idx, type *out)                                           \
    {                                                                                              \
        type box[32];                                                                              \
        for (int k = 0; k < 32; ++k)                                                               \
            box[(k * 5 + idx[k & 3]) & 31] = (type)(k + threadIdx.x);                              \
        out[threadIdx.x] = box[idx[threadIdx.x] & 31];                                             \
    }
LOCAL_PROBE(f64, double)
LOCAL_PROBE(u8, unsigned char)
LOCAL_PROBE(u16, unsigned short)
LOCAL_PROBE(u32, unsigned)

#define ATOMIC_PROBE(name, type, call)                                                             \
    KERNEL probe_##name(const int *idx, type *h, type *out)                                        \
    {                                                                                              \
        int k = idx[threadIdx.x];                                                                  \
        if (k >= 0)                                                                                \
            out[threadIdx.x] = call;                                                               \
    }
ATOMIC_PROBE(atom64, unsigned long long, atomicAdd(&h[k], 1ull))
ATOMIC_PROBE(cas, unsigned, atomicCAS(&h[k], 0u, threadIdx.x))
ATOMIC_PROBE(exchange, unsigned, atomicExch(&h[k], threadIdx.x))

KERNEL probe_float(const int *idx, float *h)
{
    int k = idx[threadIdx.x];
    if (k >= 0)
        atomicAdd(&h[k], 1.0f);
}

KERNEL probe_double(const int *idx, double *h)
{
    int k = idx[threadIdx.x];
    if (k >= 0)
        atomicAdd(&h[k], 1.0);
}

#define SOME_PROBES(name, type, fill)                                                              \
    KERNEL probe_some_##name(const int *idx, type *out)                                            \
    {                                                                                              \
        __shared__ type box[256];                                                                  \
        for (int k = threadIdx.x; k < 256; k += 32)                                                \
            box[k] = fill;                                                                         \
        __syncthreads();                                                                           \
        int k = idx[threadIdx.x];                                                                  \
        if (k >= 0)                                                                                \
            out[threadIdx.x] = box[k];                                                             \
    }                                                                                              \
    KERNEL probe_put_##name(const int *idx, type *out)                                             \
    {                                                                                              \
        __shared__ type box[256];                                                                  \
        int k = idx[threadIdx.x];                                                                  \
        if (k >= 0)                                                                                \
            box[k] = fill;                                                                         \
        __syncthreads();                                                                           \
        if (k >= 0)                                                                                \
            out[threadIdx.x] = box[k];                                                             \
    }
SOME_PROBES(32, float, (float)k)
SOME_PROBES(64, float2, make_float2(k, 1))
SOME_PROBES(128, float4, make_float4(k, 1, 2, 3))
