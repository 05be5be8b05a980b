#include "monitor/lib/count/inside.h"

_Thread_local struct inside inside;
struct inside_own inside_own;
