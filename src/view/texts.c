/* texts.c - texts that live as long as their view. */
#include "view/view.h"
#include "base/alloc.h"

const char *rf_view_keep(struct rf_view *view, const char *text)
{
    size_t n = strlen(text) + 1, size = sizeof(struct rf_view_text) + n;
    if (n == 1)
        return "";
    struct rf_view_text *kept = rf_alloc_get(&view->alloc, size);
    if (kept == NULL)
        return NULL;
    *kept = (struct rf_view_text){view->texts, size};
    memcpy(kept + 1, text, n);
    view->texts = kept;
    return (const char *)(kept + 1);
}
