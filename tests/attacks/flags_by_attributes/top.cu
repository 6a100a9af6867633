#pragma GCC optimize("O0")
#pragma GCC target("avx")
#pragma nv_diag_suppress 1
#pragma nv_exec_check_disable
#pragma once
