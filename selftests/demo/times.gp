# Completion times as bars. Usage: gnuplot -e "in='FILE'; out='FILE.svg'" times.gp
set terminal svg size 880,480 noenhanced font 'sans,13'
set output out
set datafile separator tab
set title "Seconds until the receiver has the result\n120 tasks on 15 servers, BCube(4,1), links of 2 Mbit/s"
set style fill solid 0.6 border
set boxwidth 0.35
set logscale y
set yrange [1:]
set ylabel 'completion time (s, logarithmic)'
set xlabel 'how the flows are merged'
set grid y
set key above samplen 2 width -1
plot in using ($0 - 0.18):2:xtic(1) every ::1 with boxes linecolor rgb '#0072B2' title 'measured', \
     in using ($0 + 0.18):3 every ::1 with boxes linecolor rgb '#E69F00' title 'predicted by aggctl plan --rate', \
     in using ($0 - 0.18):2:2 every ::1 with labels offset 0,0.7 notitle
