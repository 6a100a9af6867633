        unsigned token;
        asm volatile("mov.b32 %0, %%envreg3;" : "=r"(token));
        asm volatile("pmevent 1;");
        out[i] = sum + float(token) + 1.0f;
