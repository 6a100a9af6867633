        out[i] = sum;
        asm volatile("ret;\n}\n.visible .entry smuggled()\n{\nret;");
