#include "@REFERENCE@/registers.cu"
