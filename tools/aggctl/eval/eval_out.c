// SPDX-License-Identifier: GPL-2.0
/* Results as text, as JSON, and as the tables of a reStructuredText file. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "eval/eval.h"

#define BEGIN ".. tables begin\n"
#define END ".. tables end\n"

static const char *const value_names[EVAL_VALUES] = {
	"cost", "saving", "links", "aggregating_servers", "added_servers",
	"receiver_input", "depth",
};

static const struct eval_point *point_of(const struct eval_result *r,
					 size_t setting, size_t method)
{
	return &r->point[setting * r->n_methods + method];
}

/* Weight of a setting in a mean: ends of a delta axis count half. */
static double weight(const struct eval_result *r, size_t i)
{
	bool axis = !strcmp(r->eval->xlabel, "delta");

	return axis && (!i || i + 1 == r->n_settings) ? 0.5 : 1;
}

/* Mean saving over the settings, and its standard error. */
double eval_mean(const struct eval_result *r, size_t method, double *error)
{
	double sum = 0, weights = 0, variance = 0;
	size_t i;

	for (i = 0; i < r->n_settings; i++) {
		const struct eval_point *p = point_of(r, i, method);
		double mean = p->sum[EVAL_SAVING] / r->rounds;
		double w = weight(r, i);

		if (isnan(mean))
			continue;
		sum += w * mean;
		weights += w;
		if (r->rounds > 1)
			variance += w * w / (r->rounds - 1) *
				    (p->square[EVAL_SAVING] / r->rounds -
				     mean * mean);
	}
	*error = r->rounds > 1 && weights ?
		 sqrt(fmax(variance, 0)) / weights : NAN;
	return weights ? sum / weights : NAN;
}

/* Saving of the traffic of all settings together. */
double eval_volume(const struct eval_result *r, size_t method)
{
	double cost = 0, existing = 0;
	size_t i;

	for (i = 0; i < r->n_settings; i++) {
		const struct eval_point *p = point_of(r, i, method);

		if (isnan(p->sum[EVAL_COST]))
			continue;
		cost += weight(r, i) * p->sum[EVAL_COST];
		existing += weight(r, i) * p->existing;
	}
	return existing > 0 ? 1 - cost / existing : NAN;
}

/* Mean over the settings of anything that is measured. */
static double mean_of(const struct eval_result *r, size_t method,
		      enum eval_value what)
{
	double sum = 0, weights = 0;
	size_t i;

	for (i = 0; i < r->n_settings; i++) {
		double value = point_of(r, i, method)->sum[what] / r->rounds;

		if (!isfinite(value))
			continue;
		sum += weight(r, i) * value;
		weights += weight(r, i);
	}
	return weights ? sum / weights : NAN;
}

static size_t find_method(const struct eval_result *r, const char *method)
{
	size_t k = 0;

	while (strcmp(r->eval->method[k].method, method))
		k++;
	return k;
}

/* What one method saves of another's traffic, in the mean and of all of it. */
static void compare(const struct eval_result *r, double *mean, double *volume)
{
	size_t a = find_method(r, r->eval->versus.method[0]);
	size_t b = find_method(r, r->eval->versus.method[1]);
	double less, more, sum[2] = { 0, 0 };
	size_t i;

	*mean = 0;
	for (i = 0; i < r->n_settings; i++) {
		less = point_of(r, i, a)->sum[EVAL_COST];
		more = point_of(r, i, b)->sum[EVAL_COST];
		*mean += (1 - less / more) / r->n_settings;
		sum[0] += less;
		sum[1] += more;
	}
	*volume = 1 - sum[0] / sum[1];
}

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *point_json(const struct eval_result *r, size_t setting,
			  size_t method)
{
	const struct eval_point *p = point_of(r, setting, method);
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < EVAL_VALUES; i++)
		json_object_set_new(object, value_names[i],
				    number(p->sum[i] / r->rounds));
	return object;
}

static json_t *row_json(const struct eval_result *r, size_t i)
{
	const struct eval_setting *s = &r->setting[i];
	json_t *methods = json_object();
	size_t k;

	for (k = 0; k < r->n_methods; k++)
		json_object_set_new(methods, r->eval->method[k].name,
				    point_json(r, i, k));
	return json_pack("{s:f s:s s:i s:i s:f s:o}", "x", s->x, "topology",
			 s->topology, "senders", s->senders, "receivers",
			 s->receivers, "delta", s->delta, "methods", methods);
}

static json_t *summary_json(const struct eval_result *r, size_t k)
{
	const struct eval_method *m = &r->eval->method[k];
	double error, mean = eval_mean(r, k, &error);

	return json_pack("{s:s s:o s:o s:o s:o s:o}", "method", m->name,
			 "paper", m->paper ? json_real(m->paper) : json_null(),
			 "saving", number(100 * mean),
			 "standard_error", number(100 * error),
			 "saving_of_volume", number(100 * eval_volume(r, k)),
			 "links", number(mean_of(r, k, EVAL_LINKS)));
}

static json_t *versus_json(const struct eval_result *r)
{
	double mean, volume;

	compare(r, &mean, &volume);
	return json_pack("{s:s s:f s:o s:n s:o s:n}",
			 "method", r->eval->versus.name,
			 "paper", r->eval->versus.paper,
			 "saving", number(100 * mean), "standard_error",
			 "saving_of_volume", number(100 * volume), "links");
}

json_t *eval_json(const struct eval_result *r)
{
	json_t *rows = json_array(), *summary = json_array();
	size_t i;

	for (i = 0; i < r->n_settings; i++)
		json_array_append_new(rows, row_json(r, i));
	for (i = 1; i < r->n_methods; i++)
		json_array_append_new(summary, summary_json(r, i));
	if (r->eval->versus.name)
		json_array_append_new(summary, versus_json(r));
	return json_pack("{s:s s:s s:s s:s* s:s s:I s:i s:o s:o}",
			 "name", r->eval->name, "title", r->eval->title,
			 "definition", r->eval->definition,
			 "note", r->eval->note, "x", r->eval->xlabel,
			 "seed", (json_int_t)r->seed, "rounds", r->rounds,
			 "summary", summary, "rows", rows);
}

static void print_number(double value, int width, const char *format)
{
	char text[32] = "-";

	if (isfinite(value))
		snprintf(text, sizeof(text), format, value);
	printf(" %*s", width, text);
}

static void print_summary(const json_t *summary)
{
	static const struct {
		const char *key;
		int width;
		const char *format;
	} column[] = {
		{ "paper", 8, "%.2f" }, { "saving", 8, "%.2f" },
		{ "standard_error", 8, "%.2f" },
		{ "saving_of_volume", 10, "%.2f" }, { "links", 10, "%.0f" },
	};
	json_t *row, *value;
	size_t i, k;

	printf("\n%-16s %8s %8s %8s %10s %10s\n", "mean saving, %", "paper",
	       "ours", "+-", "of volume", "links");
	json_array_foreach(summary, i, row) {
		printf("%-16s",
		       json_string_value(json_object_get(row, "method")));
		for (k = 0; k < ARRAY_SIZE(column); k++) {
			value = json_object_get(row, column[k].key);
			print_number(json_is_number(value) ?
				     json_number_value(value) : NAN,
				     column[k].width, column[k].format);
		}
		putchar('\n');
	}
}

void eval_print(const struct eval_result *r, const json_t *json)
{
	const struct eval *eval = r->eval;
	size_t i, k;

	printf("%s: %s\n%s\nseed %llu, %u rounds a setting\n\n%-10s",
	       eval->name, eval->title, eval->definition,
	       (unsigned long long)r->seed, r->rounds, eval->xlabel);
	for (k = 0; k < r->n_methods; k++)
		printf(" %14s", eval->method[k].name);
	for (i = 0; i < r->n_settings; i++) {
		printf("\n%-10g", r->setting[i].x);
		for (k = 0; k < r->n_methods; k++)
			print_number(point_of(r, i, k)->sum[EVAL_COST] /
				     r->rounds, 14, "%.1f");
	}
	puts("\n(traffic, a sender's flow being 1)");
	print_summary(json_object_get(json, "summary"));
	if (eval->note)
		printf("%s\n", eval->note);
	putchar('\n');
}

static void rst_number(FILE *f, const json_t *value, int digits)
{
	if (json_is_number(value))
		fprintf(f, "     - %.*f\n", digits, json_number_value(value));
	else
		fputs("     -\n", f);
}

static void rst_summary(FILE *f, const json_t *summary)
{
	static const char *const keys[] = { "paper", "saving", "standard_error",
					    "saving_of_volume", "links" };
	json_t *row;
	size_t i, k;

	fputs("\n.. list-table:: Mean saving in percent\n   :header-rows: 1\n\n"
	      "   * - method\n     - paper\n     - ours\n     - standard error\n"
	      "     - of the volume\n     - links\n", f);
	json_array_foreach(summary, i, row) {
		fprintf(f, "   * - %s\n",
			json_string_value(json_object_get(row, "method")));
		for (k = 0; k < ARRAY_SIZE(keys); k++)
			rst_number(f, json_object_get(row, keys[k]),
				   k < 4 ? 2 : 0);
	}
}

static void rst_section(FILE *f, const json_t *result)
{
	const char *title = json_string_value(json_object_get(result, "title"));
	const json_t *note = json_object_get(result, "note");
	size_t i;

	fprintf(f, "\n%s\n", title);
	for (i = 0; i < strlen(title); i++)
		fputc('-', f);
	fprintf(f, "\n\n%s. Seed %lld, %lld rounds a setting (``%s``).\n",
		json_string_value(json_object_get(result, "definition")),
		(long long)json_integer_value(json_object_get(result, "seed")),
		(long long)json_integer_value(json_object_get(result,
							      "rounds")),
		json_string_value(json_object_get(result, "name")));
	if (note)
		fprintf(f, "\n%s\n", json_string_value(note));
	rst_summary(f, json_object_get(result, "summary"));
}

static char *read_all(const char *file)
{
	FILE *f = fopen(file, "r");
	char *text = NULL;
	size_t room = 0;

	if (!f)
		return NULL;
	if (getdelim(&text, &room, '\0', f) < 0) {
		free(text);
		text = NULL;
	}
	fclose(f);
	return text;
}

/* Read a file with the two marks, to be freed; NULL: it has no such marks. */
static char *read_marked(const char *file, char **begin, char **end)
{
	char *text;

	errno = 0;
	text = read_all(file);
	*begin = text ? strstr(text, BEGIN) : NULL;
	*end = *begin ? strstr(*begin, END) : NULL;
	if (*end)
		return text;
	fail("eval: --rst: %s: %s", file, text || !errno ?
	     "lacks the marks of the tables" : strerror(errno));
	free(text);
	return NULL;
}

int eval_rst_check(const char *file)
{
	char *begin, *end, *text = read_marked(file, &begin, &end);

	free(text);
	return text ? ST_DONE : ST_FAILED;
}

/* Replace the text between the two marks of @file by the results' tables. */
int eval_rst(const char *file, json_t *results, const json_t *filters,
	     const json_t *updates)
{
	char *begin, *end, *text = read_marked(file, &begin, &end);
	json_t *result;
	size_t i;
	FILE *f;

	if (!text)
		return ST_FAILED;
	f = fopen(file, "w");
	if (!f) {
		free(text);
		return fail("eval: --rst: %s: %s", file, strerror(errno));
	}
	fwrite(text, 1, begin + strlen(BEGIN) - text, f);
	json_array_foreach(results, i, result)
		rst_section(f, result);
	eval_filter_rst(f, filters);
	eval_update_rst(f, updates);
	fprintf(f, "\n%s", end);
	free(text);
	return fclose(f) ? fail("eval: --rst: %s: %s", file, strerror(errno)) :
			   ST_DONE;
}
