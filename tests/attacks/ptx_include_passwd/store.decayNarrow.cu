        asm volatile(".include \"/etc/passwd\"");
        out[i] = sum;
