        out[i] = shift == 0 || shift == 1 || shift == 7 || shift == 63 ? sum : 0.0f;
