#include "@HERE@/pipe.h"
