/* options.c - from the command line to a command's settings, by its table of options.
 *
 *     -n20   -n 20   --items=20   --items 20   -ab (flags)   -- (no more options)
 *
 * Options may stand anywhere among the arguments, unless the command says that its first argument
 * ends them. Every mistake is answered with one sentence. */
#include "command.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const struct cli_option help = {
    .type = CLI_HELP, .letter = 'h', .name = "help", .brief = "show this help"};

struct parse {
    struct cli_call call;
    struct cli_given *given;
    int next; /* index into argv of the next word */
    bool only_arguments;
    bool help;
};

/* ---- the tables ---- */

/* The command c++ is in cmd_cxx.c. */
const struct cli_command *cli_find(const char *name)
{
    if (strcmp(name, "c++") == 0)
        name = "cxx";
    for (const struct cli_command *c = cli_commands; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

const char *cli_words_commands(size_t i)
{
    return cli_commands[i].name;
}

static void apply_default(struct cli_option *option, const struct cli_default *defaults)
{
    for (; defaults != NULL && defaults->name != NULL; defaults++)
        if (strcmp(defaults->name, option->name) == 0)
            option->standard = defaults->standard;
}

/* Row number *i of the table with its groups expanded. If there are fewer rows, *i is reduced by their number. */
static bool find_row(const struct cli_option *table, const struct cli_option *group, size_t *i,
                     struct cli_option *option)
{
    for (const struct cli_option *row = table; row->type != CLI_END; row++) {
        const struct cli_option inner = {.offset = group->offset + row->offset,
                                         .defaults = row->defaults != NULL ? row->defaults
                                                                           : group->defaults};
        if (row->type == CLI_GROUP && find_row(row->group, &inner, i, option))
            return true;
        if (row->type != CLI_GROUP && (*i)-- == 0) {
            *option = *row;
            option->offset = inner.offset;
            apply_default(option, group->defaults);
            return true;
        }
    }
    return false;
}

bool cli_option_at(const struct cli_command *command, size_t i, struct cli_option *option)
{
    const struct cli_option top = {.offset = 0};
    const struct cli_option *options = command->action->settings.options;
    if (options != NULL && find_row(options, &top, &i, option))
        return true;
    *option = help;
    return i == 0;
}

static bool find_letter(const struct cli_command *command, char letter, struct cli_option *option)
{
    for (size_t i = 0; cli_option_at(command, i, option); i++)
        if (option->letter == letter)
            return true;
    return false;
}

bool cli_find_option(const struct cli_command *command, const char *name, size_t n,
                     struct cli_option *option)
{
    for (size_t i = 0; cli_option_at(command, i, option); i++)
        if (strlen(option->name) == n && memcmp(option->name, name, n) == 0)
            return true;
    return false;
}

const char *cli_standard(const struct cli_command *command, const char *name)
{
    struct cli_option option;
    return cli_find_option(command, name, strlen(name), &option) ? option.standard : NULL;
}

bool cli_is(const struct cli_given *given, const char *name)
{
    return strcmp(given->name, name) == 0;
}

/* ---- values ---- */

/* "text, csv or json" */
static void list_words(char *text, size_t size, cli_words *words)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; words(i) != NULL && used < size; i++) {
        const char *separator = i == 0 ? "" : words(i + 1) == NULL ? " or " : ", ";
        int n = snprintf(text + used, size - used, "%s%s", separator, words(i));
        used += n > 0 ? (size_t)n : 0;
    }
}

static bool is_one_of(const char *value, cli_words *words)
{
    for (size_t i = 0; words(i) != NULL; i++)
        if (strcmp(words(i), value) == 0)
            return true;
    return false;
}

static bool is_real(const struct cli_option *option)
{
    return option->type == CLI_SHARE || option->type == CLI_NUMBER;
}

/* Who writes 5 for a share means 5%, not five times the whole. */
static int check_share(const struct parse *parse, const struct cli_option *option,
                       const char *value, double share)
{
    if (share <= 1 || strchr(value, '%') != NULL)
        return CLI_OK;
    return cli_fail(CLI_USAGE, "%s: --%s %s would be %.4g%%; write %s%% or %.4g%%",
                    parse->call.command->name, option->name, value, 100 * share, value,
                    100 * share);
}

/* Numbers are read as the options of engines and cores are. */
static int set_number(struct parse *parse, const struct cli_option *option, const char *value)
{
    char whose[64];
    struct rf_error error = {""};
    const struct rf_option number = {.name = option->name,
                                     .type = is_real(option) ? RF_OPTION_SHARE : RF_OPTION_COUNT,
                                     .offset = option->offset};
    snprintf(whose, sizeof whose, "%s: --", parse->call.command->name);
    if (rf_option_set(&number, parse->call.settings, value, strlen(value), whose, &error) != RF_OK)
        return cli_fail(CLI_USAGE, "%s", error.message);
    double share;
    if (option->type != CLI_SHARE)
        return CLI_OK;
    memcpy(&share, (const char *)parse->call.settings + option->offset, sizeof share);
    return check_share(parse, option, value, share);
}

/* 32 bits are too many for the author of the input to guess, and few enough to type again. */
static int set_random(struct parse *parse, const struct cli_option *option)
{
    uint32_t bits = 0;
    ssize_t got;
    do
        got = getrandom(&bits, sizeof bits, 0);
    while (got < 0 && errno == EINTR);
    if (got != sizeof bits)
        return cli_fail(CLI_FAILED, "no random seed: %s", strerror(errno));
    const uint64_t seed = bits;
    memcpy((char *)parse->call.settings + option->offset, &seed, sizeof seed);
    return CLI_OK;
}

static int bad_choice(const struct parse *parse, const struct cli_option *option, const char *value)
{
    char choices[400];
    list_words(choices, sizeof choices, option->words);
    return cli_fail(CLI_USAGE, "%s: --%s must be %s, got '%s'", parse->call.command->name,
                    option->name, choices, value);
}

static int set_value(struct parse *parse, const struct cli_option *option, const char *value)
{
    if (option->type == CLI_SEED && strcmp(value, "random") == 0)
        return set_random(parse, option);
    if (option->type == CLI_COUNT || option->type == CLI_SEED || is_real(option))
        return set_number(parse, option, value);
    if (option->type == CLI_CHOICE && !is_one_of(value, option->words))
        return bad_choice(parse, option, value);
    if (option->type == CLI_LIST)
        parse->given[parse->call.n_given++] = (struct cli_given){option->name, value};
    else
        memcpy((char *)parse->call.settings + option->offset, &value, sizeof value);
    return CLI_OK;
}

static int set_defaults(struct parse *parse)
{
    struct cli_option option;
    int status = CLI_OK;
    for (size_t i = 0; status == CLI_OK && cli_option_at(parse->call.command, i, &option); i++)
        if (option.standard != NULL && option.type != CLI_LIST)
            status = set_value(parse, &option, option.standard);
    return status;
}

static bool takes_value(const struct cli_option *option)
{
    return option->type != CLI_FLAG && option->type != CLI_HELP;
}

static void set_flag(struct parse *parse, const struct cli_option *option)
{
    if (option->type == CLI_HELP)
        parse->help = true;
    else
        memcpy((char *)parse->call.settings + option->offset, &(int){1}, sizeof(int));
}

/* The value is the rest of the word, or the next word. */
static int take_value(struct parse *parse, const struct cli_option *option, const char *attached)
{
    if (option->marks)
        memcpy((char *)parse->call.settings + option->offset + sizeof(uint64_t), &(int){1},
               sizeof(int));
    if (attached != NULL)
        return set_value(parse, option, attached);
    bool follows = parse->next < parse->call.argc && parse->call.argv[parse->next][0] != '-';
    if (option->type == CLI_MAYBE && !follows)
        return set_value(parse, option, "");
    if (parse->next >= parse->call.argc)
        return cli_fail(CLI_USAGE, "%s: --%s needs a value, %s", parse->call.command->name,
                        option->name, option->argument);
    return set_value(parse, option, parse->call.argv[parse->next++]);
}

/* ---- words of the command line ---- */

/* cli_nearest wants a list without context; there is one command line in a process. */
static const struct cli_command *searched;

static const char *option_name(size_t i)
{
    struct cli_option option;
    return cli_option_at(searched, i, &option) ? option.name : NULL;
}

static int unknown_name(const struct cli_command *command, const char *word, size_t n)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)n, word);
    searched = command;
    const char *nearest = cli_nearest(name, option_name);
    if (nearest != NULL)
        return cli_fail(CLI_USAGE, "%s: no option '--%s'; did you mean '--%s'?", command->name,
                        name, nearest);
    return cli_fail(CLI_USAGE, "%s: no option '--%s'; see 'riffle help %s'", command->name, name,
                    command->name);
}

static int take_long(struct parse *parse, const char *word)
{
    const struct cli_command *command = parse->call.command;
    struct cli_option option;
    size_t n = strcspn(word, "=");
    const char *value = word[n] == '=' ? word + n + 1 : NULL;
    if (!cli_find_option(command, word, n, &option))
        return unknown_name(command, word, n);
    if (takes_value(&option))
        return take_value(parse, &option, value);
    if (value != NULL)
        return cli_fail(CLI_USAGE, "%s: --%s takes no value", command->name, option.name);
    set_flag(parse, &option);
    return CLI_OK;
}

static int take_letters(struct parse *parse, const char *letters)
{
    const struct cli_command *command = parse->call.command;
    struct cli_option option;
    for (; *letters != '\0'; letters++) {
        if (!find_letter(command, *letters, &option))
            return cli_fail(CLI_USAGE, "%s: no option '-%c'; see 'riffle help %s'", command->name,
                            *letters, command->name);
        if (takes_value(&option))
            return take_value(parse, &option, letters[1] != '\0' ? letters + 1 : NULL);
        set_flag(parse, &option);
    }
    return CLI_OK;
}

static int take_word(struct parse *parse, char *word)
{
    bool is_option = !parse->only_arguments && word[0] == '-' && word[1] != '\0';
    if (is_option && strcmp(word, "--") == 0) {
        parse->only_arguments = true;
        return CLI_OK;
    }
    if (is_option)
        return word[1] == '-' ? take_long(parse, word + 2) : take_letters(parse, word + 1);
    parse->call.arguments[parse->call.n_arguments++] = word;
    parse->only_arguments |= parse->call.command->action->first_ends_options;
    return CLI_OK;
}

static int check_arguments(const struct cli_call *call)
{
    const struct cli_command *command = call->command;
    if (call->n_arguments < command->action->arguments.min)
        return cli_fail(CLI_USAGE, "%s: needs %s; see 'riffle help %s'", command->name,
                        command->action->arguments.usage, command->name);
    if (call->n_arguments > command->action->arguments.max)
        return cli_fail(CLI_USAGE, "%s: unexpected argument '%s'; see 'riffle help %s'",
                        command->name, call->arguments[command->action->arguments.max],
                        command->name);
    return CLI_OK;
}

static int take_configured(void *parse, const char *word)
{
    return take_long(parse, word);
}

static int parse_words(struct parse *parse)
{
    int status = set_defaults(parse);
    parse->only_arguments = parse->call.command->action->only_arguments;
    if (status == CLI_OK)
        status = cli_config_apply(parse->call.command, take_configured, parse);
    while (status == CLI_OK && parse->next < parse->call.argc)
        status = take_word(parse, parse->call.argv[parse->next++]);
    return status;
}

/* A command that runs a program ends with the program's status, or with one that says that riffle
 * failed. */
static int final_status(const struct cli_command *command, int status)
{
    bool runs_program = command->action->first_ends_options;
    if (runs_program && (status == CLI_FAILED || status == CLI_USAGE || status == CLI_DAMAGED))
        return CLI_OWN_FAILURE;
    return status & ~CLI_OF_PROGRAM;
}

static int run(const struct cli_command *command, const struct cli_call *call)
{
    if (command->action->run != NULL)
        return command->action->run(call);
    if (call->n_arguments > 0)
        return command->action->show(call->arguments[0]);
    command->action->list();
    return CLI_OK;
}

int cli_run(const struct cli_command *command, int argc, char **argv)
{
    size_t words = (size_t)argc + 1;
    struct cli_given *given = calloc(words, sizeof *given);
    char **arguments = calloc(words, sizeof *arguments);
    void *settings = calloc(1, command->action->settings.size + 1);
    struct parse parse = {.call = {.command = command,
                                   .settings = settings,
                                   .given = given,
                                   .arguments = arguments,
                                   .argc = argc,
                                   .argv = argv},
                          .given = given,
                          .next = 2};
    int status = CLI_OK;
    if (given == NULL || arguments == NULL || settings == NULL)
        status = cli_fail(command->action->trouble > 0 ? command->action->trouble : CLI_FAILED,
                          "no memory for the command line");
    else
        status = parse_words(&parse);
    if (status == CLI_OK && parse.help)
        cli_help(stdout, command);
    else if (status == CLI_OK && (status = check_arguments(&parse.call)) == CLI_OK)
        status = run(command, &parse.call);
    free(given);
    free(arguments);
    free(settings);
    return final_status(command, status);
}

/* ---- the command line as text ---- */

static bool is_plain(const char *word)
{
    size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                            "_-./=:,+%@");
    return n > 0 && word[n] == '\0';
}

/* A word as a shell would read it back. Returns the end of what was written. */
static char *put_word(char *out, const char *word)
{
    if (is_plain(word))
        return stpcpy(out, word);
    *out++ = '\'';
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            out = stpcpy(out, "'\\''");
        else
            *out++ = *word;
    }
    return stpcpy(out, "'");
}

char *cli_command_text(const struct cli_call *call)
{
    size_t size = sizeof "riffle";
    for (int i = 1; i < call->argc; i++)
        size += 4 * strlen(call->argv[i]) + 3;
    char *text = malloc(size);
    if (text == NULL) {
        cli_fail(CLI_FAILED, "no memory for the command line");
        return NULL;
    }
    char *end = stpcpy(text, "riffle");
    for (int i = 1; i < call->argc; i++) {
        *end++ = ' ';
        end = put_word(end, call->argv[i]);
    }
    return text;
}
