# Completion times as points, measured and predicted.
# Usage: gnuplot -e "in='FILE'; out='FILE.svg'; name='TABLE'" eval.gp
set terminal svg size 900,520 noenhanced font 'sans,13'
set output out
set datafile separator tab
set title sprintf("Seconds until the receiver has the result: %s", name)
set logscale y
set ylabel 'completion time (s, logarithmic)'
set xtics rotate by 30 right
# Room for rotated labels, for which gnuplot leaves too much below and too little left.
set lmargin at screen 0.16
set bmargin at screen 0.33
set rmargin at screen 0.97
set xrange [-0.5:*]
set offsets 0, 0.5, 0, 0
set grid y
set key above samplen 2 width -1
plot in using 0:4:xtic(strcol(1) . ', ' . strcol(2)) every ::1 with points \
	pointtype 4 pointsize 1.2 linecolor rgb '#E69F00' title 'predicted', \
     in using 0:3:15:16 every ::1 with yerrorbars pointtype 7 pointsize 0.8 \
	linecolor rgb '#0072B2' title 'measured: mean, least and most of the seeds'
