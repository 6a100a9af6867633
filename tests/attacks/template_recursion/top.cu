template <long N> struct Deep {
    static constexpr long value = Deep<N + 1>::value;
};
__device__ long boom = Deep<0>::value;
