"""The built site is tested by `make test-site`, which builds it and knows a browser."""

from __future__ import annotations

import os

collect_ignore = [] if "SITE_BROWSER" in os.environ else ["test_built_site.py"]
