/* fuzz_times.c - any text is a time and a policy for lateness, or refused; what is written of them
 * reads back as the same. */
#include <assert.h>

#include "late.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void check_moment(const char *text, const struct zone *zone)
{
    char problem[MOMENT_PROBLEM_BYTES] = "", note[MOMENT_PROBLEM_BYTES], shown[MOMENT_TEXT_BYTES];
    struct moment moment, again;
    if (!moment_parse(&moment, text, zone, problem, note)) {
        assert(problem[0] != '\0');
        return;
    }
    (void)moment_text(moment, shown);
    assert(moment_parse(&again, shown, zone, problem, note) && again.unix_s == moment.unix_s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct late_policy policy, again;
    struct error err = {0};
    char problem[MOMENT_PROBLEM_BYTES], *text = strndup((const char *)data, length);
    struct bytes written = bytes_with_limit(1000);
    if (text == NULL)
        return 0;
    check_moment(text, NULL);
    check_moment(text, zone_find("Europe/Berlin", problem));
    if (late_policy_parse(&policy, text, &err) == 0) {
        late_policy_write(&written, &policy);
        assert(late_policy_parse(&again, bytes_text(&written), &err) == 0);
    }
    bytes_release(&written);
    free(text);
    return 0;
}
