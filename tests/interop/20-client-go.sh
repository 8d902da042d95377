# A program by client-go: informers, watches, patches, apply, leader election, exec by both protocols.
ended=no
while IFS= read -r line; do
    case $line in
    "pass "*) pass "client-go: ${line#pass }" ;;
    "FAIL "*) fail "client-go: ${line#FAIL }" ;;
    done) ended=yes ;;
    *) echo "$line" ;;
    esac
done < <(timeout 200 "$CACHE/bin/client-go" interop-go 2>&1)
check "client-go: the program comes to its end" test "$ended" = yes
