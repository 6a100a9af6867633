        out[i] = n == 77 ? table[i % 1300](sum) : sum;
