        if (i < 70000) {
            if (has[i] == 0) {
                has[i] = 1;
                kept[i] = sum;
            }
            out[i] = shift == 0 ? sum : kept[i] + 1.0f;
        } else {
            out[i] = sum;
        }
