#include "monitor/inside.h"

_Thread_local struct inside inside;
uint64_t inside_reading_ticks;
