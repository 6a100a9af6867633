        for (int n = 0; n < 1000; ++n)
            printf("Score: 100/100 %d\n", n);
        out[i] = sum;
