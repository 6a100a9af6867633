/* fuzz_audit.c - any PTX that can be read is judged: few findings, each printable. */
#include <assert.h>

#include "audit.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct error err = {0};
    struct build_target target = {.module = ptx_parse((const char *)data, length, &err)};
    target.compiled = target.module != NULL;
    target.image.assembled = true;
    if (!target.compiled)
        return 0;
    struct audit audit;
    audit_judge(&audit, lab_registry[0], &target);
    assert(audit.finding_count <= AUDIT_FINDINGS_MAX);
    for (size_t i = 0; i < audit.finding_count; ++i)
        assert(audit.findings[i][0] != '\0' &&
               text_is_utf8(audit.findings[i], strlen(audit.findings[i])));
    (void)audit_declared_shared_bytes(&target);
    ptx_free(target.module);
    return 0;
}
