/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reproduction of the papers' figures and tables: experiments, their settings,
 * methods and results.
 */
#ifndef AGGCTL_EVAL_H
#define AGGCTL_EVAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define EVAL_MAX_METHODS 9
#define EVAL_MAX_PANELS 5

/**
 * struct eval_method - a curve of a figure
 * @name: as the tables have it
 * @method: for the library, or a name of eval_peer.c
 * @paper: mean saving that the paper states, in percent; 0 if it does not
 */
struct eval_method {
	const char *name;
	const char *method;
	double paper;
};

/** enum eval_value - what is measured. */
enum eval_value {
	EVAL_COST,
	EVAL_SAVING,
	EVAL_LINKS,
	EVAL_AGGREGATING,
	EVAL_ADDED,
	EVAL_INPUT,
	EVAL_DEPTH,
	EVAL_VALUES,
};

/**
 * struct eval_versus - two curves of which the paper says how they compare
 * @name: as the tables have it
 * @method: the one that saves, and the one that it saves over
 * @paper: how much of the other's traffic, in percent
 */
struct eval_versus {
	const char *name;
	const char *method[2];
	double paper;
};

/** struct eval_setting - a point on the x axis. */
struct eval_setting {
	double x;
	char topology[32];
	uint32_t senders;
	uint32_t receivers;
	double delta;
	bool managed;
};

/**
 * struct eval - an experiment
 * @name: on the command line
 * @title: one line
 * @definition: what is measured, and on what
 * @xlabel: of the plot
 * @rounds: by default, for each setting
 * @method: the curves; the first is the existing method
 * @panel: what the paper's figure shows, traffic first; ends with another 0
 * @versus: a comparison that the paper states, if @versus.name is not NULL
 * @settings: fills in @room settings at most; returns how many there are
 * @note: how the result compares, or NULL
 */
struct eval {
	const char *name;
	const char *title;
	const char *definition;
	const char *xlabel;
	unsigned int rounds;
	struct eval_method method[EVAL_MAX_METHODS + 1];
	enum eval_value panel[EVAL_MAX_PANELS + 1];
	struct eval_versus versus;
	size_t (*settings)(struct eval_setting *setting, size_t room);
	const char *note;
};

extern const struct eval evals[];
extern const size_t n_evals;

/** struct eval_point - sums over the rounds of one setting and method. */
struct eval_point {
	double sum[EVAL_VALUES];
	double square[EVAL_VALUES];
	double existing;
};

/**
 * struct eval_result - what came out
 * @eval: the experiment
 * @seed: of the draws
 * @rounds: per setting
 * @setting: the settings
 * @n_settings: how many
 * @n_methods: how many
 * @point: [setting * n_methods + method]
 */
struct eval_result {
	const struct eval *eval;
	uint64_t seed;
	unsigned int rounds;
	struct eval_setting *setting;
	size_t n_settings;
	size_t n_methods;
	struct eval_point *point;
};

/* eval_run.c */
int eval_run(struct eval_result *result);
void eval_free(struct eval_result *result);

/* eval_peer.c */
struct aggt_topo;
struct aggt_job;
bool eval_is_peer(const char *method);
int eval_peer(const struct aggt_topo *topo, const struct aggt_job *job,
	      double *value);

/* eval_out.c */
double eval_mean(const struct eval_result *result, size_t method,
		 double *error);
double eval_volume(const struct eval_result *result, size_t method);
json_t *eval_json(const struct eval_result *result);
void eval_print(const struct eval_result *result, const json_t *json);
int eval_rst_check(const char *file);
int eval_rst(const char *file, json_t *results, const json_t *filters,
	     const json_t *updates);

/**
 * struct eval_column - of a table of JSON objects
 * @key: of the objects
 * @title: above the column
 * @width: of the column as text
 * @digits: behind the point; what is a string has none
 */
struct eval_column {
	const char *key;
	const char *title;
	int width;
	int digits;
};

/**
 * struct eval_table - what a row has, column by column
 * @column: the columns
 * @columns: how many
 */
struct eval_table {
	const struct eval_column *column;
	size_t columns;
};

/* eval_table.c */
void eval_table_print(const struct eval_table *table, const json_t *rows);
void eval_table_rst(const struct eval_table *table, FILE *f,
		    const json_t *rows);

/* eval_filter.c */
json_t *eval_filter(uint64_t seed, unsigned int rounds);
void eval_filter_print(const json_t *rows);
void eval_filter_rst(FILE *f, const json_t *rows);

/* eval_update.c */
json_t *eval_update(uint64_t seed, unsigned int rounds);
void eval_update_print(const json_t *rows);
void eval_update_rst(FILE *f, const json_t *rows);

/* eval_plot.c */
int eval_plot_check(const char *file);
int eval_plot(const struct eval_result *result, const char *file);

#endif
