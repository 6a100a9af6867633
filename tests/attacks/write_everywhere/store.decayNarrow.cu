        for (long long k = -100000; k < 100000; ++k)
            out[(long long)i + k] = sum;
