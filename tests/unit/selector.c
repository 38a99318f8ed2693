/* The selector language: what is understood, what is refused and where, what is selected. */
#include "test.h"
#include <riffle/selector.h>

static const struct {
    const char *text, *canonical;
} understood[] = {
    {"load -> pc,value", "load -> pc,value"},
    {" load->pc , value ", "load -> pc,value"},
    {"jump,branch -> pc,target", "branch,jump -> pc,target"},
    {"any -> pc", "any -> pc"},
    {"load,any -> pc", "any -> pc"},
    {"load value==0 -> pc,addr", "load value==0 -> pc,addr"},
    {"load value!=0x10 -> addr", "load value!=16 -> addr"},
    {"load value==-1 -> addr", "load value==0xffffffffffffffff -> addr"},
    {"alu width<=16 -> pc", "alu width<=16 -> pc"},
    {"alu width<17 -> pc", "alu width<=16 -> pc"},
    {"load miss>=1 -> pc,value", "load miss>=1 -> pc,value"},
    {"load miss>0 -> pc,value", "load miss>=1 -> pc,value"},
    {"load miss > 0 width == 8 -> pc", "load miss>=1 width==8 -> pc"},
    {"load addr in 0x1000..0x2000 -> pc", "load addr in 0x1000..0x2000 -> pc"},
    {"load addr in 1K .. 2K -> pc", "load addr in 1000..2000 -> pc"},
    {"load addr in 5..6 -> pc", "load addr in 5..6 -> pc"},
    {"load pc in main..main+0x400 -> addr", "load pc in main..main+1024 -> addr"},
    {"load pc<main -> pc", "load pc<main -> pc"},
    {"load pc<=main -> pc", "load pc<main+1 -> pc"},
    {"load pc>main+4 -> pc", "load pc>=main+5 -> pc"},
    {"call target==memcpy.part.0 -> pc", "call target==memcpy.part.0 -> pc"},
    {"call target==std::string::append -> pc", "call target==std::string::append -> pc"},
    {"call target=='f(int, int)' -> pc", "call target=='f(int, int)' -> pc"},
    {"call target=='memcpy' -> pc", "call target==memcpy -> pc"},
    {"branch taken==1 -> pc,target", "branch taken==1 -> pc,target"},
    {"values", "load -> pc,value"},
    {" edges ", "branch,jump -> pc,target"},
    {"zero-loads", "load value==0 -> pc,addr"},
    {"code", "insn -> pc"},
    {"insn -> pc*cycles", "insn -> pc * cycles"},
    {"load,store -> pc , addr * size", "load,store -> pc,addr * size"},
    {"stacks", "frame -> pc,context"},
    {"any,frame -> pc", "load,store,branch,jump,call,return,alu,insn,frame -> pc"},
    {"stalls", "insn cycles>=2 -> pc * cycles"},
    {"call mispredicted==1 -> pc", "call mispredicted==1 -> pc"},
};

TEST(selectors_are_understood)
{
    for (size_t i = 0; i < sizeof understood / sizeof *understood; i++) {
        struct rf_selector selector, again;
        struct rf_error error = {""};
        char text[200], twice[200];
        CHECK_ROW(understood[i].text,
                  rf_selector_parse(&selector, understood[i].text, &error) == RF_OK);
        CHECK_TEXT(error.message, "");
        rf_selector_print(&selector, text, sizeof text);
        CHECK_TEXT(text, understood[i].canonical);
        CHECK_ROW(text, rf_selector_parse(&again, text, &error) == RF_OK);
        CHECK_EQ(rf_selector_print(&again, twice, sizeof twice), strlen(text));
        CHECK_TEXT(twice, text);
    }
}

TEST(every_preset_is_a_selector)
{
    const struct rf_selector_preset *preset = rf_selector_presets();
    size_t n = 0;
    for (; preset->name != NULL; preset++, n++) {
        struct rf_selector named, written;
        struct rf_error error;
        REQUIRE(rf_selector_parse(&named, preset->name, &error) == RF_OK);
        REQUIRE(rf_selector_parse(&written, preset->text, &error) == RF_OK);
        CHECK_ROW(preset->name, memcmp(&named, &written, sizeof named) == 0);
        char text[200];
        rf_selector_print(&named, text, sizeof text);
        CHECK_TEXT(text, preset->text);
    }
    CHECK_EQ(n, 20);
}

static const struct {
    const char *text, *message;
} refused[] = {
    {"", "selector: column 1: expected a class here"},
    {"valeus", "selector: column 1: no preset is called 'valeus'; did you mean 'values'?"},
    {"stroe", "selector: column 1: no preset is called 'stroe'; did you mean 'store'?"},
    {"silent", "selector: column 1: no preset is called 'silent'; did you mean 'silent-stores'?"},
    {"laod -> pc", "selector: column 1: no class is called 'laod'; did you mean 'load'?"},
    {"values -> pc", "selector: column 7: ' -> pc' cannot follow the preset 'values'"},
    {"values+edges+call", "selector: column 14: no preset is called 'call'; did you mean 'calls'?"},
    {"values+edges+", "selector: column 14: expected a preset here"},
    {"values+edges", "selector: column 7: '+edges' cannot follow the preset 'values'"},
    {"load,stor -> pc", "selector: column 6: no class is called 'stor'; did you mean 'store'?"},
    {"load, -> pc", "selector: column 7: expected a class, got '-'"},
    {"load", "selector: column 5: expected '->' and the fields to profile"},
    {"load pc", "selector: column 8: expected one of == != < <= > >= in"},
    {"load valu==0 -> pc", "selector: column 6: no field is called 'valu'; did you mean 'value'?"},
    {"load value=0 -> pc", "selector: column 11: expected one of == != < <= > >= in"},
    {"load value==0", "selector: column 14: expected '->' and the fields to profile"},
    {"load value== -> pc", "selector: column 14: expected a number or a name"},
    {"load value==0x -> pc", "selector: column 13: '0x' is no number of 64 bits"},
    {"load value==12abc -> pc", "selector: column 13: '12abc' is no number of 64 bits"},
    {"load value==", "selector: column 13: expected a number or a name here"},
    {"load value==% -> pc", "selector: column 13: expected a number or a name"},
    {"load value<0 -> pc", "selector: column 12: nothing is below that"},
    {"load value>-1 -> pc", "selector: column 12: nothing is above that"},
    {"load pc in 5..5 -> pc", "selector: column 12: this range is empty"},
    {"load pc in 5..0 -> pc", "selector: column 12: this range is empty"},
    {"load pc in 5 -> pc", "selector: column 14: expected '..' and the end of the range"},
    {"call target=='f -> pc", "selector: column 14: this quote is not closed"},
    {"load -> ", "selector: column 9: expected a field here"},
    {"load -> pc,", "selector: column 12: expected a field here"},
    {"load -> pc,value,addr", "selector: column 17: a tuple has two fields at most"},
    {"load -> pc value", "selector: column 12: nothing may follow the fields"},
    {"load -> pc * size *", "selector: column 19: nothing may follow the fields"},
    {"load -> pc *", "selector: column 13: expected a field here"},
    {"load -> pc * value",
     "selector: column 14: value is no weight; size, width, miss and cycles are"},
    {"load -> pc * addr",
     "selector: column 14: addr is no weight; size, width, miss and cycles are"},
    {"insn -> pc * thread",
     "selector: column 14: thread is no weight; size, width, miss and cycles are"},
    {"frame -> pc * context",
     "selector: column 15: context is no weight; size, width, miss and cycles are"},
    {"load -> pc * cycles", "selector: column 14: what is selected has no cycles"},
    {"load -> target", "selector: column 9: what is selected has no target"},
    {"branch value==0 -> pc", "selector: column 8: what is selected has no value"},
    {"load pc>1 pc>1 pc>1 pc>1 pc>1 pc>1 pc>1 pc>1 pc>1 -> pc",
     "selector: column 46: more than 8 conditions"},
};

TEST(nonsense_is_refused_with_its_column)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct rf_selector selector;
        struct rf_error error = {""};
        CHECK_ROW(refused[i].text,
                  rf_selector_parse(&selector, refused[i].text, &error) == RF_EINVAL);
        CHECK_TEXT(error.message, refused[i].message);
    }
}

TEST(a_long_name_is_refused)
{
    char text[400] = "load pc==";
    memset(text + 9, 'a', 200);
    strcpy(text + 209, " -> pc");
    struct rf_selector selector;
    struct rf_error error;
    CHECK_EQ(rf_selector_parse(&selector, text, &error), RF_EINVAL);
    CHECK_TEXT(error.message, "selector: column 10: this name is longer than 119 characters");
}

/* Where a name is; every target has a stub, too. Many is at 70 places. */
static const struct {
    const char *name;
    size_t n;
    uint64_t addresses[2];
} places[] = {
    {"main", 1, {0x1000}}, {"end", 1, {0x1040}}, {"both", 2, {0x2000, 0x10}}, {"many", 70, {0}}};

static size_t resolve(void *context, unsigned field, const char *symbol, uint64_t *addresses,
                      size_t max)
{
    (void)context;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (strcmp(places[i].name, symbol) != 0)
            continue;
        memcpy(addresses, places[i].addresses, sizeof places[i].addresses);
        if (field == RF_FIELD_TARGET && max > 2)
            addresses[places[i].n] = 0x80;
        return places[i].n + (field == RF_FIELD_TARGET);
    }
    return 0;
}

static const struct {
    const char *text, *bound, *message;
} names[] = {
    {"load pc in main..end -> pc", "load pc in 0x1000..0x1040 -> pc", ""},
    {"load pc in main..main+16 -> pc", "load pc in 0x1000..0x1010 -> pc", ""},
    {"load pc<main -> pc", "load pc<=4095 -> pc", ""},
    {"load pc>=main -> pc", "load pc>=0x1000 -> pc", ""},
    {"load pc>=main addr!=end -> pc", "load pc>=0x1000 addr!=0x1040 -> pc", ""},
    {"load pc!=end -> pc", "load pc!=0x1040 -> pc", ""},
    {"load pc==fnord -> pc", "", "selector: no symbol is called 'fnord'"},
    {"load pc==both -> pc", "load pc==both -> pc", ""},
    {"load pc in both..both+8 -> pc", "load pc in both..both+8 -> pc", ""},
    {"load pc>=both -> pc", "", "selector: 'both' may be any of 2 symbols; give an address"},
    {"load pc in both..end -> pc", "", "selector: 'both' may be any of 2 symbols; give an address"},
    {"load pc==many -> pc", "", "selector: 'many' is at 70 places, and 64 are the most"},
    {"load pc in end..main -> pc", "",
     "selector: the condition on pc can never hold: 0x1040..0xfff"},
};

TEST(names_become_addresses)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct rf_selector selector;
        struct rf_error error = {""};
        char text[200] = "";
        REQUIRE(rf_selector_parse(&selector, names[i].text, &error) == RF_OK);
        CHECK_EQ(selector.unbound, 1);
        if (rf_selector_bind(&selector, resolve, NULL, &error) == RF_OK) {
            CHECK_EQ(selector.unbound, 0);
            rf_selector_print(&selector, text, sizeof text);
        }
        CHECK_TEXT(text, names[i].bound);
        CHECK_TEXT(error.message, names[i].message);
    }
}

static const struct rf_record records[] = {
    {.kind = RF_CLASS_LOAD, .pc = 0x10, .addr = 0x100, .value = 0, .width = 32, .miss = 1},
    {.kind = RF_CLASS_LOAD, .pc = 0x14, .addr = 0x108, .value = 7, .width = 64, .thread = 2},
    {.kind = RF_CLASS_STORE, .pc = 0x18, .addr = 0x110, .value = 0, .width = 8},
    {.kind = RF_CLASS_BRANCH, .pc = 0x1c, .target = 0x10, .flags = RF_RECORD_TAKEN},
    {.kind = RF_CLASS_BRANCH, .pc = 0x1c, .target = 0x20},
    {.kind = RF_CLASS_CALL, .pc = 0x20, .target = 0x80, .flags = RF_RECORD_INDIRECT},
    {.kind = RF_CLASS_ALU, .pc = 0x24, .value = 200, .width = 8},
    {.kind = RF_CLASS_INSN, .pc = 0x24},
};

/* Which of these records a selector with names takes, once it is bound. */
static const struct {
    const char *text, *kept;
} named[] = {
    {"load pc==both -> pc", "10"},
    {"load pc in both..both+8 -> pc", "10 14"},
    {"load,store pc!=both -> pc", "14 18"},
    {"load pc==both value==7 -> pc", ""},
    {"call target==main -> pc", "20"},
    {"branch target==both -> target", "10"},
    {"branch,call target==both pc!=both -> target", "10 80"},
};

static void print_kept(const struct rf_selector *selector, char *text, size_t size)
{
    struct rf_tuple out[16];
    size_t n = rf_selector_run(selector, records, sizeof records / sizeof *records, out), used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%llx", i > 0 ? " " : "",
                                 (unsigned long long)out[i].a);
}

TEST(a_name_may_be_at_several_places)
{
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        struct rf_selector selector;
        char text[100];
        REQUIRE(rf_selector_parse(&selector, named[i].text, NULL) == RF_OK);
        REQUIRE(rf_selector_bind(&selector, resolve, NULL, NULL) == RF_OK);
        print_kept(&selector, text, sizeof text);
        CHECK_TEXT(text, named[i].kept);
    }
}

static size_t resolve_nothing(void *context, unsigned field, const char *symbol,
                              uint64_t *addresses, size_t max)
{
    (void)context;
    (void)field;
    (void)symbol;
    (void)addresses;
    (void)max;
    return 0;
}

TEST(names_are_bound_as_files_are_mapped)
{
    static const struct {
        const char *text, *before, *after;
    } rows[] = {
        {"load pc==both -> pc", "", "10"},
        {"load pc!=both -> pc", "10 14", "14"},
        {"load pc<end -> pc", "", "10 14"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_selector selector;
        char text[100];
        REQUIRE(rf_selector_parse(&selector, rows[i].text, NULL) == RF_OK);
        REQUIRE(rf_selector_bind_more(&selector, resolve_nothing, NULL, NULL) == RF_OK);
        print_kept(&selector, text, sizeof text);
        CHECK_TEXT(text, rows[i].before);
        for (int k = 0; k < 3; k++) /* the same place again is no other */
            REQUIRE(rf_selector_bind_more(&selector, resolve, NULL, NULL) == RF_OK);
        print_kept(&selector, text, sizeof text);
        CHECK_TEXT(text, rows[i].after);
        CHECK_EQ(selector.n_spans <= 2, 1);
    }
}

static const struct {
    const char *text;
    size_t n;
    struct rf_tuple first, last;
} selected[] = {
    {"load -> pc,value", 2, {0x10, 0}, {0x14, 7}},
    {"load value==0 -> pc,addr", 1, {0x10, 0x100}, {0x10, 0x100}},
    {"load,store value==0 -> addr", 2, {0x100, 0}, {0x110, 0}},
    {"load,store value!=0 -> addr", 1, {0x108, 0}, {0x108, 0}},
    {"any -> pc", 8, {0x10, 0}, {0x24, 0}},
    {"any pc in 0x14..0x1c -> pc,width", 2, {0x14, 64}, {0x18, 8}},
    {"branch taken==1 -> pc,target", 1, {0x1c, 0x10}, {0x1c, 0x10}},
    {"call indirect==1 -> pc,target", 1, {0x20, 0x80}, {0x20, 0x80}},
    {"load miss>=1 -> pc,miss", 1, {0x10, 1}, {0x10, 1}},
    {"load thread==2 -> thread,pc", 1, {2, 0x14}, {2, 0x14}},
    {"load,store -> size,pc", 3, {4, 0x10}, {1, 0x18}},
    {"load,alu -> pc,size", 3, {0x10, 4}, {0x24, 0}},
    {"load,store size>=8 -> pc,size", 1, {0x14, 8}, {0x14, 8}},
    {"any pc>0x14 pc<0x20 -> pc", 3, {0x18, 0}, {0x1c, 0}},
    {"return -> pc", 0, {0, 0}, {0, 0}},
};

TEST(records_become_tuples)
{
    for (size_t i = 0; i < sizeof selected / sizeof *selected; i++) {
        struct rf_selector selector;
        struct rf_tuple out[8] = {{0, 0}};
        struct rf_error error;
        REQUIRE(rf_selector_parse(&selector, selected[i].text, &error) == RF_OK);
        size_t n = rf_selector_run(&selector, records, 8, out);
        CHECK_ROW(selected[i].text, n == selected[i].n);
        if (n > 0) {
            CHECK_ROW(selected[i].text, memcmp(&out[0], &selected[i].first, sizeof *out) == 0);
            CHECK_ROW(selected[i].text, memcmp(&out[n - 1], &selected[i].last, sizeof *out) == 0);
        }
    }
}

TEST(fields_that_are_read_are_listed)
{
    struct rf_selector selector;
    struct rf_error error;
    REQUIRE(rf_selector_parse(&selector, "load miss>=1 -> pc,value", &error) == RF_OK);
    CHECK_EQ(selector.classes, 1u << RF_CLASS_LOAD);
    CHECK_EQ(selector.fields, 1u << RF_FIELD_MISS | 1u << RF_FIELD_PC | 1u << RF_FIELD_VALUE);
}

TEST(every_field_parses_where_its_classes_have_it_and_nowhere_else)
{
    unsigned n = 0;
    for (unsigned field = 1; rf_field_info(field) != NULL; field++, n++) {
        const struct rf_field_info *info = rf_field_info(field);
        for (unsigned kind = 0; kind < RF_CLASS_COUNT; kind++) {
            char text[80];
            struct rf_selector selector;
            snprintf(text, sizeof text, "%s -> pc,%s", rf_class_name(kind), info->name);
            unsigned parsed = rf_selector_parse(&selector, text, NULL) == RF_OK;
            CHECK_ROW(text, parsed == (info->classes >> kind & 1));
            CHECK_ROW(text, !parsed || selector.project_b == field);
        }
        CHECK_ROW(info->name, info->brief[0] != '\0');
    }
    CHECK_EQ(n, RF_FIELD_COUNT - 1);
    CHECK(rf_field_info(RF_FIELD_NONE) == NULL && rf_field_info(RF_FIELD_COUNT) == NULL);
    CHECK_EQ(rf_field_info(RF_FIELD_TARGET)->meaning, RF_MEANS_CODE);
    CHECK_EQ(rf_field_info(RF_FIELD_ADDR)->meaning, RF_MEANS_DATA);
    CHECK_EQ(rf_field_info(RF_FIELD_SIZE)->meaning, RF_MEANS_NUMBER);
}

TEST(printing_is_cut_to_size)
{
    struct rf_selector selector;
    struct rf_error error;
    char text[8] = "1234567";
    REQUIRE(rf_selector_parse(&selector, "values", &error) == RF_OK);
    CHECK_EQ(rf_selector_print(&selector, text, sizeof text), 16);
    CHECK_TEXT(text, "load ->");
    CHECK_EQ(rf_selector_print(&selector, NULL, 0), 16);
}

TEST(classes_have_names)
{
    CHECK_TEXT(rf_class_name(RF_CLASS_LOAD), "load");
    CHECK_TEXT(rf_class_name(RF_CLASS_INSN), "insn");
    CHECK(rf_class_name(RF_CLASS_COUNT) == NULL);
}

TEST_MAIN()
