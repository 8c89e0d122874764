// SPDX-License-Identifier: GPL-2.0
/* Plots an experiment like the papers' figures, by gnuplot. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "aggctl.h"
#include "eval/eval.h"

static const char *terminal(const char *file)
{
	const char *dot = strrchr(file, '.');

	if (dot && !strcmp(dot, ".svg"))
		return "svg noenhanced font 'Helvetica,14'";
	if (dot && !strcmp(dot, ".png"))
		return "pngcairo noenhanced font 'sans,11'";
	return NULL;
}

/* A gnuplot string: quotes are doubled. */
static void quote(FILE *f, const char *text)
{
	fputc('\'', f);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', f);
		fputc(*text, f);
	}
	fputc('\'', f);
}

static const char *const ylabel[EVAL_VALUES] = {
	"network traffic (flows x links)", "saving (%)",
	"active links (number)", "servers that merge (number)",
	"added servers (number)", "input flows of a receiver (number)",
	"depth (hops)",
};

/* The labels of the tables are words of them. */
static const char *const xlabel[][2] = {
	{ "k", "k, the highest level of switches" },
	{ "delta", "aggregation ratio delta (0: same keys, 1: no common key)" },
	{ "members", "members, senders and receivers (number)" },
	{ "senders", "senders (number)" },
	{ "receivers", "receivers (number)" },
};

/* Colours that colour-blind readers can tell apart (Okabe and Ito). */
static const char *const colour[EVAL_MAX_METHODS] = {
	"#000000", "#E69F00", "#56B4E9", "#009E73", "#D55E00", "#0072B2",
	"#CC79A7", "#8C6D31", "#888888",
};

static const struct eval_point *point_at(const struct eval_result *r,
					 size_t setting, size_t method)
{
	return &r->point[setting * r->n_methods + method];
}

static double value_at(const struct eval_result *r, size_t setting,
		       size_t method, enum eval_value what)
{
	return point_at(r, setting, method)->sum[what] / r->rounds;
}

/* Standard error of a value's mean over the rounds. */
static double error_at(const struct eval_result *r, size_t setting,
		       size_t method, enum eval_value what)
{
	double mean = value_at(r, setting, method, what);
	double square = point_at(r, setting, method)->square[what] / r->rounds;

	if (r->rounds < 2)
		return 0;
	return sqrt(fmax(square - mean * mean, 0) / (r->rounds - 1));
}

/* Peers that are no trees have no links or servers to show. */
static bool is_measured(const struct eval_result *r, size_t method,
			enum eval_value what)
{
	size_t i;

	for (i = 0; i < r->n_settings; i++)
		if (isfinite(value_at(r, i, method, what)))
			return true;
	return false;
}

static void draw_panel(FILE *f, const struct eval_result *r,
		       enum eval_value what)
{
	const char *verb = "plot";
	size_t i, k;

	fprintf(f, "set ylabel '%s'\n", ylabel[what]);
	for (k = 0; k < r->n_methods; k++) {
		if (!is_measured(r, k, what))
			continue;
		fprintf(f, "%s '-' using 1:2:3 with yerrorlines linecolor rgb '%s' linewidth 1.5 pointtype %zu title ",
			verb, colour[k], k + 1);
		quote(f, r->eval->method[k].name);
		verb = ",";
	}
	fputc('\n', f);
	for (k = 0; k < r->n_methods; k++) {
		if (!is_measured(r, k, what))
			continue;
		for (i = 0; i < r->n_settings; i++)
			if (isfinite(value_at(r, i, k, what)))
				fprintf(f, "%g %g %g\n", r->setting[i].x,
					value_at(r, i, k, what),
					error_at(r, i, k, what));
		fputs("e\n", f);
	}
}

static bool has_paper(const struct eval_result *r)
{
	size_t k;

	for (k = 0; k < r->n_methods; k++)
		if (r->eval->method[k].paper > 0)
			return true;
	return false;
}

/* Of the papers only the mean savings are known: they are points beside ours. */
static void draw_means(FILE *f, const struct eval_result *r)
{
	double error, mean;
	size_t k;

	fputs("unset xlabel\nset ylabel 'mean saving (%)'\nset yrange [0:]\n", f);
	fprintf(f, "set xrange [0.5:%zu.5]\nset xtics rotate by -25 (",
		r->n_methods - 1);
	for (k = 1; k < r->n_methods; k++) {
		fputs(k > 1 ? "," : "", f);
		quote(f, r->eval->method[k].name);
		fprintf(f, " %zu", k);
	}
	fputs(")\nplot '-' using 1:2:3 with yerrorbars linecolor rgb '#0072B2' linewidth 2 pointtype 7 title 'ours', '-' using 1:2 with points linecolor rgb '#D55E00' linewidth 2 pointtype 4 pointsize 1.8 title 'the paper'\n", f);
	for (k = 1; k < r->n_methods; k++) {
		mean = eval_mean(r, k, &error);
		if (isfinite(mean))
			fprintf(f, "%zu %g %g\n", k, 100 * mean,
				isfinite(error) ? 100 * error : 0);
	}
	fputs("e\n", f);
	for (k = 1; k < r->n_methods; k++)
		if (r->eval->method[k].paper > 0)
			fprintf(f, "%zu %g\n", k, r->eval->method[k].paper);
	fputs("e\n", f);
}

static void draw_title(FILE *f, const struct eval_result *r)
{
	fprintf(f, " title \"%s\\n%s\\nseed %llu, %u round%s a setting%s\"",
		r->eval->title, r->eval->definition,
		(unsigned long long)r->seed, r->rounds,
		r->rounds == 1 ? "" : "s",
		r->rounds == 1 ? "" : ", bars: standard error");
}

/*
 * A panel for each metric that the paper's figure shows, and one for the mean
 * savings if the paper states them. The legend is above each panel.
 */
static void draw(FILE *f, const struct eval_result *r, const char *term,
		 const char *file)
{
	const enum eval_value *panel = r->eval->panel;
	unsigned int i, n = 1, all;

	while (n < EVAL_MAX_PANELS && panel[n])
		n++;
	all = n + has_paper(r);
	fprintf(f, "set terminal %s size %u,%u\nset output ", term,
		all > 1 ? 1200 : 700, 80 + 440 * ((all + 1) / 2));
	quote(f, file);
	fprintf(f, "\nset multiplot layout %u,%u", (all + 1) / 2,
		all > 1 ? 2 : 1);
	draw_title(f, r);
	fputs("\nset key above samplen 2 width -1\nset grid\nset autoscale xfix\nset offsets graph 0.04, graph 0.04, graph 0.06, 0\nset xlabel ", f);
	for (i = 0; i < ARRAY_SIZE(xlabel); i++)
		if (!strcmp(xlabel[i][0], r->eval->xlabel))
			quote(f, xlabel[i][1]);
	fputs("\nset yrange [0:]\n", f);
	for (i = 0; i < n; i++)
		draw_panel(f, r, panel[i]);
	if (all > n)
		draw_means(f, r);
	fputs("unset multiplot\n", f);
}

/* Check in advance whether the file can be drawn. */
int eval_plot_check(const char *file)
{
	const char *c;
	FILE *f;

	/* gnuplot reads lines: a string cannot hold a newline. */
	for (c = file; *c; c++)
		if (iscntrl((unsigned char)*c))
			return usage("eval: --plot: the file name has a control character");
	if (!terminal(file))
		return usage("eval: --plot: '%s' ends in neither .svg nor .png",
			     file);
	f = fopen(file, "a");
	if (!f)
		return fail("eval: --plot: %s: %s", file, strerror(errno));
	fclose(f);
	return ST_DONE;
}

int eval_plot(const struct eval_result *r, const char *file)
{
	int status;
	FILE *f;

	/* Where it cannot write it draws to standard output. */
	f = popen("gnuplot > /dev/null", "w");
	if (!f)
		return fail("eval: gnuplot: %s", strerror(errno));
	draw(f, r, terminal(file), file);
	status = pclose(f);
	if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status))
		return fail("eval: gnuplot could not draw %s; is it installed?",
			    file);
	return ST_DONE;
}
