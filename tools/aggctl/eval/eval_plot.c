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
		return "svg dynamic";
	if (dot && !strcmp(dot, ".png"))
		return "png";
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
	"network traffic", "saving", "active links", "aggregating servers",
	"added servers", "input flows of a receiver", "depth",
};

static double value_at(const struct eval_result *r, size_t setting,
		       size_t method, enum eval_value what)
{
	return r->point[setting * r->n_methods + method].sum[what] / r->rounds;
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
		fprintf(f, "%s '-' using 1:2 with linespoints linestyle %zu title ",
			verb, k + 1);
		quote(f, r->eval->method[k].name);
		verb = ",";
	}
	fputc('\n', f);
	for (k = 0; k < r->n_methods; k++) {
		if (!is_measured(r, k, what))
			continue;
		for (i = 0; i < r->n_settings; i++)
			if (isfinite(value_at(r, i, k, what)))
				fprintf(f, "%g %g\n", r->setting[i].x,
					value_at(r, i, k, what));
		fputs("e\n", f);
	}
}

/* A panel for each metric that the paper's figure shows. */
static void draw(FILE *f, const struct eval_result *r, const char *term,
		 const char *file)
{
	const enum eval_value *panel = r->eval->panel;
	unsigned int i, n = 1;

	while (n < EVAL_MAX_PANELS && panel[n])
		n++;
	fprintf(f, "set terminal %s size %u,%u\nset output ", term,
		n > 1 ? 1200 : 640, 480 * ((n + 1) / 2));
	quote(f, file);
	fprintf(f, "\nset multiplot layout %u,%u title ", (n + 1) / 2,
		n > 1 ? 2 : 1);
	quote(f, r->eval->title);
	fputs(" noenhanced\nset xlabel ", f);
	quote(f, r->eval->xlabel);
	fputs("\nset key top left\nset grid\n", f);
	for (i = 0; i < n; i++)
		draw_panel(f, r, panel[i]);
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
