#include "../../gradebook.h"
#include "../gradebook.h"
