#include "options.h"

#include "number.h"
#include "text.h"

int options_next(int argc, char **argv, const struct option *table, const char *command,
                 struct error *err)
{
    opterr = 0;
    optarg = NULL;
    int option = getopt_long(argc, argv, ":h", table, NULL);
    if (option == 'h')
        return OPTIONS_HELP;
    if (option != ':' && option != '?')
        return option;
    /* A short option may stand in the middle of a word, and then optind is not past it yet. */
    char letter[3] = "-";
    bool is_short = optopt > 0 && optopt < 256;
    letter[1] = is_short ? (char)optopt : '\0';
    const char *word = is_short ? letter : argv[optind - 1];
    if (option == ':')
        error_set(err, ERROR_USAGE, "%s needs a value; see `spillway %s --help`", word, command);
    else if (optopt >= 256)
        error_set(err, ERROR_USAGE, "%s: this option takes no value; see `spillway %s --help`",
                  word, command);
    else
        error_set(err, ERROR_USAGE, "there is no option %s; see `spillway %s --help`", word,
                  command);
    return OPTIONS_WRONG;
}

int options_refuse(struct error *err, const char *option, const char *value, const char *expected)
{
    char quoted[80];
    return error_set(err, ERROR_USAGE, "%s is \"%s\"; expected %s", option,
                     text_copy(quoted, sizeof quoted, value), expected);
}

int options_number(uint64_t *ret, const char *option, const char *value, uint64_t least,
                   uint64_t most, const char *why, struct error *err)
{
    uint64_t number = 0;
    if (number_parse_u64(value, most, &number) && number >= least) {
        *ret = number;
        return 0;
    }
    char expected[160];
    (void)snprintf(expected, sizeof expected, "a whole number from %llu to %llu%s",
                   (unsigned long long)least, (unsigned long long)most, why);
    return options_refuse(err, option, value, expected);
}
