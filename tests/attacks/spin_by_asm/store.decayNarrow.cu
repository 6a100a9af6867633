        out[i] = sum;
        asm volatile("{\nLspin:\nbra Lspin;\n}");
