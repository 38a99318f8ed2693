/* profile.c - a profile's life: an empty one, its texts, its end. */
#include "profile/profile.h"
#include "base/alloc.h"
#include "base/text.h"
#include <math.h>
#include <string.h>

char *rf_profile_text(const struct rf_alloc *alloc, const char *text, size_t n)
{
    char *copy = rf_alloc_get(alloc, n + 1);
    return copy != NULL ? rf_text_put(copy, text, n) : NULL;
}

void rf_profile_free_text(const struct rf_alloc *alloc, char *text)
{
    if (text != NULL)
        rf_alloc_free(alloc, text, strlen(text) + 1);
}

bool rf_profile_set_text(const struct rf_alloc *alloc, char **place, const char *text)
{
    char *copy = rf_profile_text(alloc, text, strlen(text));
    if (copy == NULL)
        return false;
    rf_profile_free_text(alloc, *place);
    *place = copy;
    return true;
}

struct rf_profile *rf_profile_new(const struct rf_alloc *alloc)
{
    struct rf_profile *profile = rf_alloc_zeroed(alloc, sizeof *profile);
    if (profile == NULL)
        return NULL;
    profile->alloc = *alloc;
    profile->selector = rf_profile_text(alloc, "", 0);
    profile->engine = rf_profile_text(alloc, "", 0);
    if (profile->selector == NULL || profile->engine == NULL) {
        rf_profile_free(profile);
        return NULL;
    }
    return profile;
}

void rf_profile_free(struct rf_profile *profile)
{
    if (profile == NULL)
        return;
    rf_profile_free_text(&profile->alloc, profile->selector);
    rf_profile_free_text(&profile->alloc, profile->engine);
    rf_alloc_free(&profile->alloc, profile->items, profile->n_items * sizeof *profile->items);
    rf_alloc_free(&profile->alloc, profile->intervals,
                  profile->n_intervals * sizeof *profile->intervals);
    rf_alloc_free(&profile->alloc, profile->interval_items,
                  profile->n_interval_items * sizeof *profile->interval_items);
    rf_alloc_free(&profile->alloc, profile->figures, profile->n_figures * sizeof *profile->figures);
    rf_alloc_free(&profile->alloc, profile, sizeof *profile);
}

rf_status rf_profile_selector(const struct rf_profile *profile, struct rf_selector *selector)
{
    *selector = (struct rf_selector){0};
    if (profile->selector[0] == '\0')
        return RF_ENOTSUP;
    return rf_selector_parse(selector, profile->selector, NULL) == RF_OK ? RF_OK : RF_ENOTSUP;
}

rf_status rf_profile_add_figure(struct rf_profile *profile, const char *name, double value)
{
    void *array = profile->figures;
    if (!isfinite(value))
        return RF_OK;
    if (!rf_alloc_array(&profile->alloc, &array, profile->n_figures, profile->n_figures + 1,
                        sizeof *profile->figures))
        return RF_ENOMEM;
    profile->figures = array;
    struct rf_figure *figure = &profile->figures[profile->n_figures++];
    *figure = (struct rf_figure){.value = value};
    strncpy(figure->name, name, sizeof figure->name - 1);
    return RF_OK;
}

double rf_profile_figure(const struct rf_profile *profile, const char *name, double otherwise)
{
    for (size_t i = 0; i < profile->n_figures; i++)
        if (strcmp(profile->figures[i].name, name) == 0)
            return profile->figures[i].value;
    return otherwise;
}

int rf_profile_is_companion(const struct rf_profile *profile)
{
    return rf_profile_figure(profile, RF_FIGURE_COMPANION, 0) > 0;
}
