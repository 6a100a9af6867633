// 1,300 functions with names of 3,600 letters: ptxas has a paragraph for each.
#define A1 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
#define JOIN(a, b, c, d, e, f) a##b##c##d##e##f
#define PASTE(a, b, c, d, e, f) JOIN(a, b, c, d, e, f)
#define A6 PASTE(A1, A1, A1, A1, A1, A1)
#define A36 PASTE(A6, A6, A6, A6, A6, A6)
#define NAME(n) PASTE(A36, _, n, _, _, _)
#define DEFINE(n) extern "C" __device__ __noinline__ float NAME(n)(float x) { return x + n; }
#define ADDRESS(n) NAME(n),
#define TEN(f, n) f(n##0) f(n##1) f(n##2) f(n##3) f(n##4) f(n##5) f(n##6) f(n##7) f(n##8) f(n##9)
#define HUNDRED(f, n) TEN(f, n##0) TEN(f, n##1) TEN(f, n##2) TEN(f, n##3) TEN(f, n##4) \
    TEN(f, n##5) TEN(f, n##6) TEN(f, n##7) TEN(f, n##8) TEN(f, n##9)
#define ALL(f) HUNDRED(f, 1) HUNDRED(f, 2) HUNDRED(f, 3) HUNDRED(f, 4) HUNDRED(f, 5) HUNDRED(f, 6) \
    HUNDRED(f, 7) HUNDRED(f, 8) HUNDRED(f, 9) HUNDRED(f, 10) HUNDRED(f, 11) HUNDRED(f, 12) \
    HUNDRED(f, 13)
ALL(DEFINE)
__device__ float (*table[])(float) = {ALL(ADDRESS)};
