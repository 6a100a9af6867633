
#include <fcntl.h>
#include <unistd.h>
static int escape()
{
    return open("@ESCAPED@", O_CREAT | O_WRONLY, 0666);
}
static int initialised = escape();
struct Global {
    Global() { escape(); }
    ~Global() { escape(); }
} global;
__attribute__((constructor)) static void early() { escape(); }
__attribute__((destructor)) static void late() { escape(); }
extern "C" void _init_array_escape() { escape(); }
