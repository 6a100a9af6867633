__device__ __noinline__ void smuggle()
{
    asm volatile("ret;\n}\n.visible .entry smuggled()\n{\nret;");
}
