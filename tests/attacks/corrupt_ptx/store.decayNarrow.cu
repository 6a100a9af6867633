        asm volatile("} } } .version 99.9 .target sm_10 { { {");
        out[i] = sum;
