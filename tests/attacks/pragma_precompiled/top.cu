#pragma GCC pch_preprocess "/etc/passwd"
