# SPDX-License-Identifier: BSD-3-Clause
"""commcost in EESSI's test suite: all scales of at least two cores, with EasyBuild's module commcost.

    export PYTHONPATH=TEST_SUITE RFM_CONFIG_FILES=TEST_SUITE/config/SYSTEM.py
    reframe -c eessi_commcost.py -r --tag=1_node
"""

import reframe as rfm
from commcost_check import commcost_benchmark
from eessi.testsuite.constants import COMPUTE_UNITS, DEVICE_TYPES, SCALES
from eessi.testsuite.eessi_mixin import EESSI_Mixin
from eessi.testsuite.utils import find_modules
from reframe.core.builtins import parameter, run_after


@rfm.simple_test
class EESSI_commcost(commcost_benchmark, EESSI_Mixin):
    module_name = parameter(find_modules("^commcost$"))
    scale = parameter([name for name in SCALES if name != "1_core"])
    programs_folder = "$EBROOTCOMMCOST/libexec/commcost"
    device_type = DEVICE_TYPES.CPU
    compute_unit = COMPUTE_UNITS.CPU
    used_cpus_per_task = 1
    readonly_files = [""]
    time_limit = "10m"

    def required_mem_per_node(self):
        return self.num_tasks_per_node * 512

    @run_after("init")
    def set_bench_name(self):
        self.bench_name = self.program
        self.is_ci_test = self.program == "pingpong"
