/* Counts and shares as people write them, both ways. */
#include "base/units.h"
#include "test.h"

static const struct {
    const char *text;
    rf_status status;
    uint64_t count;
} counts[] = {
    {"0", RF_OK, 0},
    {"2048", RF_OK, 2048},
    {"1K", RF_OK, 1000},
    {"1Ki", RF_OK, 1024},
    {"1M", RF_OK, 1000000},
    {"1.5M", RF_OK, 1500000},
    {"0x10", RF_OK, 16},
    {"0xffffffffffffffff", RF_OK, UINT64_MAX},
    {"18446744073709551615", RF_OK, UINT64_MAX},
    {"18446744073709551616", RF_EINVAL, 0},
    {"20000000000G", RF_EINVAL, 0},
    {"1.5", RF_EINVAL, 0},
    {"", RF_EINVAL, 0},
    {".", RF_EINVAL, 0},
    {"M", RF_EINVAL, 0},
    {"1Q", RF_EINVAL, 0},
    {"-1", RF_EINVAL, 0},
    {"0x", RF_EINVAL, 0},
    {"0x1g", RF_EINVAL, 0},
    {"0x10000000000000000", RF_EINVAL, 0},
};

TEST(counts_are_read)
{
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint64_t count = 0;
        rf_status status = rf_units_count(counts[i].text, strlen(counts[i].text), &count);
        CHECK_ROW(counts[i].text, status == counts[i].status);
        CHECK_ROW(counts[i].text, count == counts[i].count);
    }
}

static const struct {
    const char *text;
    rf_status status;
    double share;
} shares[] = {
    {"0.1%", RF_OK, 0.001}, {"0.001", RF_OK, 0.001}, {"1e-3", RF_OK, 0.001}, {"1%", RF_OK, 0.01},
    {"100%", RF_OK, 1},     {"12.5%", RF_OK, 0.125}, {"1", RF_OK, 1},        {"x", RF_EINVAL, 0},
    {"%", RF_EINVAL, 0},    {"1%%", RF_EINVAL, 0},   {"1e", RF_EINVAL, 0},
};

TEST(shares_are_read)
{
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        double share = 0;
        rf_status status = rf_units_share(shares[i].text, strlen(shares[i].text), &share);
        CHECK_ROW(shares[i].text, status == shares[i].status);
        CHECK_ROW(shares[i].text, share == shares[i].share);
    }
}

TEST(what_is_printed_reads_back)
{
    static const uint64_t some[] = {0,    1,       999,     1000, 1024,
                                    2048, 1000000, 1048576, 1500, UINT64_MAX};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        char text[RF_UNITS_MAX];
        uint64_t back = 1;
        size_t n = rf_units_print_count(text, sizeof text, some[i]);
        CHECK_ROW(text, rf_units_count(text, n, &back) == RF_OK && back == some[i]);
    }
    static const double parts[] = {0, 0.001, 0.01, 0.125, 0.3, 1, 1e-6, 1.0 / 3};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char text[RF_UNITS_MAX];
        double back = 2;
        size_t n = rf_units_print_share(text, sizeof text, parts[i]);
        CHECK_ROW(text, rf_units_share(text, n, &back) == RF_OK);
        CHECK_ROW(text, back - parts[i] < 1e-15 && parts[i] - back < 1e-15);
    }
}

TEST(printing_is_short)
{
    char text[RF_UNITS_MAX];
    rf_units_print_count(text, sizeof text, 1000000);
    CHECK_TEXT(text, "1M");
    rf_units_print_count(text, sizeof text, 2048);
    CHECK_TEXT(text, "2Ki");
    rf_units_print_share(text, sizeof text, 0.001);
    CHECK_TEXT(text, "0.1%");
}

TEST_MAIN()
