# A program by client-go: informers, watches, patches, apply, leader election, exec by both protocols.
program client-go timeout 200 "$CACHE/bin/client-go" interop-go
