#if __has_include("@SECRET@") || __has_include("/etc/passwd") || __has_include("@HERE@/answers.ini")
#error FOUND-IT
#endif
