#include "monitor/lock.h"

bool monitor_lock_needed = true;
bool monitor_lock_taken;
