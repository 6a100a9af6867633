#include "json_text.h"

static int take(const char *text, size_t length, void *out)
{
    return bytes_append(out, text, length);
}

int json_text_append(struct bytes *out, json_t *root, size_t flags, struct error *err)
{
    if (root == NULL)
        return error_no_memory(err);
    /* Not json_dumps(): when its buffer cannot grow it may lose a key and say nothing. A failure of
     * ours stays in *out. */
    int status = json_dump_callback(root, take, out, JSON_INDENT(2) | flags);
    json_decref(root);
    if (status != 0 || bytes_append_text(out, "\n") != 0)
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "the output is larger than the memory that there is for it");
    return 0;
}
