"""A supervisor of the embedded Valkey that reserves no disk space and sees no full disk.

So Valkey itself meets the full disk, as on a file system that reserves nothing while another
program is faster than the supervisor.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "api" / "server"))

import valkey_supervisor

valkey_supervisor.ASSUMED_FULL_SECONDS = 1.0
valkey_supervisor._allocate_behind = lambda file, size: None
check_disk = valkey_supervisor.Server.check_disk
valkey_supervisor.Server.check_disk = lambda self: self.refuses_changes and check_disk(self)

if __name__ == "__main__":
    sys.exit(valkey_supervisor.main(sys.argv[1:]))
