constexpr unsigned long forever()
{
    unsigned long n = 0;
    while (n + 1 != 0)
        ++n;
    return n;
}
__device__ unsigned long boom = forever();
static_assert(forever() == 1, "");
