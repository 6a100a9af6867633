        asm volatile("brkpt;");
        out[i] = sum + 1.0f;
