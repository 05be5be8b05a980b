# SPDX-License-Identifier: BSD-3-Clause
# Settings shared by all pictures. Before loading this file, a picture sets `width` and `height` (in pixels, without the
# foot; the head takes `body` of them), and `row_height` if it has rows of points. plot.sh sets `format`, `output`,
# `folder` (of these files), `title_text`, `tables` (names of its data, separated by spaces) and the results' names:
# `names` (1 or 2), new_name, base_name.

set encoding utf8
ink = '#222222'
faint = '#5f5f5f'
pale = '#e4e4e4'
base_colour = '#8a8a8a'
left_room = 92

set datafile separator "\t"
set datafile missing 'NA'
set border 3 linecolor rgb '#9a9a9a'
set tics nomirror textcolor rgb ink
set grid xtics ytics linetype 1 linecolor rgb pale linewidth 1
unset key
set errorbars 0.6

# The foot: the meaning of the bars, and counts of values that aren't drawn.
level_pct = sums_below = sums_missing = sums_left = sums_cut = sums_beyond = 0
new_launches = base_launches = 1
do for [t in tables] {
    load t.'.set'
    if (new_runs > new_launches) { new_launches = new_runs }
    if (base_runs > base_launches) { base_launches = base_runs }
    if (levels == 3) { level_pct = level[3] }
    sums_cut = sums_cut + cut
    sums_beyond = sums_beyond + beyond
    sums_below = sums_below + at_or_below_0
    if (missing > sums_missing) { sums_missing = missing }
    if (left_out > sums_left) { sums_left = left_out }
}
array foot[8]
feet = 1
foot[1] = new_launches == 1 && base_launches == 1 ? 'Bars: the interval of one launch. Launches differ by more.' \
    : 'Points: medians over launches. Bars: from the lowest launch to the highest'.(new_launches == 1 || (names == 2 && base_launches == 1) ? '; of one launch its interval.' : '.')
if (sums_cut > 0) { feet = feet + 1; foot[feet] = 'A bar that touches the frame continues beyond it.' }
if (sums_below > 0) { feet = feet + 1; foot[feet] = 'Open triangles at the end of a logarithmic axis: values of 0 or less ('.sums_below.').' }
if (sums_beyond > 0) { feet = feet + 1; foot[feet] = (sums_beyond == 1 ? 'Open triangle: one value lies' : 'Open triangles: '.sums_beyond.' values lie').' outside, see the table.' }
if (level_pct > 0) { feet = feet + 1; foot[feet] = 'Grey: within '.sprintf('%g', level_pct).' %, no difference.' }
if (sums_missing > 0) { feet = feet + 1; foot[feet] = 'Not drawn: '.sums_missing.(sums_missing == 1 ? ' row' : ' rows').' without a value (NA).' }
if (sums_left > 0) { feet = feet + 1; foot[feet] = 'Not drawn: '.sums_left.' more, in the table.' }
height = height + 17 * feet + 8

launches(n) = n > 1 ? sprintf(', %d launches', n) : ', one launch'
new_name = new_name.launches(new_launches)
if (names == 2) { base_name = base_name.launches(base_launches) }

# Sizes of dots and of text: a point is 4/3 pixels in a PNG file.
dot = format eq 'svg' ? 0.75 : 1
small = format eq 'svg' ? ',12' : ',9'
medium = format eq 'svg' ? ',13' : ',9.75'
large = format eq 'svg' ? ',17' : ',12.75'
if (format eq 'svg') {
    set terminal svg size width,height fixed noenhanced font 'Helvetica,14' background '#ffffff'
} else {
    set terminal pngcairo size width,height noenhanced font 'DejaVu Sans,10.5' background '#ffffff'
}
set output output

# Mixes a colour with white, for the base's line.
paler(part) = (3 * part + 2 * 255) / 5
tint(rgb) = 0x010000 * paler(rgb / 65536) + 0x0100 * paler(rgb / 256 % 256) + paler(rgb % 256)

# Convert pixels, counted from the left and the top, to the picture's coordinates.
across(px) = px / (1.0 * width)
down(px) = 1 - px / (1.0 * height)

# The head: title, and a legend line for each result.
set label 1 title_text at screen across(14), screen down(22) left textcolor rgb ink font large
if (names == 1) {
    set label 2 new_name at screen across(14), screen down(46) left textcolor rgb faint
} else {
    if (exists('row_height')) {
        set label 10 '' at screen across(31), screen down(46) point pointtype 7 pointsize dot linecolor rgb ink
        set label 11 '' at screen across(31), screen down(65) point pointtype 13 pointsize dot linecolor rgb base_colour
    } else {
        set arrow 1 from screen across(14), screen down(46) to screen across(48), screen down(46) nohead linewidth 2.5 linecolor rgb ink
        set arrow 2 from screen across(14), screen down(65) to screen across(48), screen down(65) nohead linewidth 2 dashtype (6,4) linecolor rgb base_colour
    }
    set label 2 new_name at screen across(56), screen down(46) left textcolor rgb ink
    set label 3 base_name at screen across(56), screen down(65) left textcolor rgb faint
}
do for [i = 1:feet] {
    set label 3 + i foot[i] at screen across(14), screen down(height - 17 * (feet - i) - 13) left textcolor rgb faint font small
}
set multiplot
