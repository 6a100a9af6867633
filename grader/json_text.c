#include "json_text.h"

int json_text_append(struct bytes *out, json_t *root, size_t flags, struct error *err)
{
    AUTO_FREE char *text = root == NULL ? NULL : json_dumps(root, JSON_INDENT(2) | flags);
    json_decref(root);
    if (text == NULL)
        return error_no_memory(err);
    if (bytes_append_text(out, text) != 0 || bytes_append_text(out, "\n") != 0)
        return error_set(err, ERROR_INFRASTRUCTURE, "the output is too large to print");
    return 0;
}
