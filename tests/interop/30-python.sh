# A script by PyPI's `kubernetes`: watch, patches, apply, dynamic client, leader election, exec over WebSocket.
program python timeout 200 "$CACHE/python/bin/python" tests/interop/python_client.py interop-py
