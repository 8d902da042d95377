/* The only file that includes RE2. */
#include <re2/re2.h>

#include <new>

extern "C" {
#include "schema/regex.h"
}

/* Memory one compiled pattern and its automaton may take. */
enum { REGEX_MEMORY = 8 << 20 };

struct regex {
    explicit regex(const re2::StringPiece &pattern, const re2::RE2::Options &options) : re(pattern, options) {}
    re2::RE2 re;
};

extern "C" struct status *regex_new(struct str pattern, struct regex **ret)
{
    re2::RE2::Options options;

    options.set_log_errors(false);
    options.set_max_mem(REGEX_MEMORY);
    struct regex *made = new regex(re2::StringPiece(pattern.p, pattern.n), options);
    if (!made->re.ok()) {
        /* RE2 says "missing ): (a", Go "error parsing regexp: missing closing ): `(a`". */
        bool paren = made->re.error_code() == re2::RE2::ErrorMissingParen;
        std::string what = made->re.error();
        size_t colon = what.find(": ");
        std::string reason = paren ? "missing closing )" : what.substr(0, colon);
        std::string part = paren ? std::string(pattern.p, pattern.n) : made->re.error_arg();
        struct status *status = status_new(STATUS_BAD_REQUEST, "error parsing regexp: %s: `%s`", reason.c_str(), part.c_str());
        delete made;
        return status;
    }
    *ret = made;
    return nullptr;
}

extern "C" void regex_free(struct regex *regex)
{
    delete regex;
}

extern "C" bool regex_matches(const struct regex *regex, struct str text)
{
    return re2::RE2::PartialMatch(re2::StringPiece(text.p, text.n), regex->re);
}

extern "C" bool regex_find(const struct regex *regex, struct str text, size_t from, size_t *ret_at, size_t *ret_size)
{
    re2::StringPiece whole(text.p, text.n), found;

    if (from > text.n || !regex->re.Match(whole, from, text.n, re2::RE2::UNANCHORED, &found, 1)) {
        return false;
    }
    *ret_at = (size_t)(found.data() - text.p);
    *ret_size = found.size();
    return true;
}
