#include "options.h"

int options_next(int argc, char **argv, const struct option *table, const char *command,
                 struct error *err)
{
    opterr = 0;
    optarg = NULL;
    int option = getopt_long(argc, argv, ":", table, NULL);
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
