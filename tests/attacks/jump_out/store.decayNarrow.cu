        asm volatile("bra _Z9decayWidePKfPfm;");
        out[i] = sum;
