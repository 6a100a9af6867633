        asm volatile(".pragma \"enable_smem_spilling\";");
        out[i] = sum;
