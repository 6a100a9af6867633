        for (volatile unsigned n = 0; n < 4000000000u; ++n)
            __nanosleep(1000000);
        out[i] = sum;
