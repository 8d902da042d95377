# A program by npm's @kubernetes/client-node: watch, informer, patches, apply, exec over WebSocket.
program node timeout 200 node "$CACHE/node/client.mjs" interop-node
