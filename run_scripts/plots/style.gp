# What all pictures share. Before it is loaded, a picture sets `width`, `height`
# (pixels, without the foot), `title_text` and `tables` (the names of its data, with
# spaces); plot.sh sets `format`, `output`, `folder` (of these files) and the results'
# names: `names` (1 or 2), new_name, base_name.

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

# The foot: what the bars are, and what isn't drawn.
most_launches = 1
sums_below = sums_missing = sums_left = 0
other_text = ''
do for [t in tables] {
    load t.'.set'
    if (new_runs > most_launches) { most_launches = new_runs }
    if (base_runs > most_launches) { most_launches = base_runs }
    sums_below = sums_below + at_or_below_0
    sums_missing = sums_missing + missing
    if (left_out > sums_left) { sums_left = left_out }
    if (others ne '') { other_text = others }
}
array foot[5]
feet = 1
foot[1] = most_launches > 1 \
    ? 'Medians over launches; bars reach from the lowest launch to the highest (of one launch: its interval).' \
    : 'One launch; bars are its intervals. Launches differ by more.'
if (sums_below > 0) { feet = feet + 1; foot[feet] = 'Triangles at the end of a logarithmic axis: 0 or less, which it can''t show ('.sums_below.').' }
if (sums_missing > 0) { feet = feet + 1; foot[feet] = 'Not drawn, for they have no value (NA): '.sums_missing.(sums_missing == 1 ? ' row.' : ' rows.') }
if (sums_left > 0) { feet = feet + 1; foot[feet] = 'Not drawn, to keep this legible: '.sums_left.' more; the table has them.' }
if (other_text ne '') { feet = feet + 1; foot[feet] = 'Not drawn: '.other_text.'; the table has it.' }
height = height + 18 * feet + 10

if (format eq 'svg') {
    set terminal svg size width,height fixed noenhanced font 'Helvetica,14' background '#ffffff'
} else {
    set terminal pngcairo size width,height noenhanced font 'DejaVu Sans,10.5' background '#ffffff'
}
set output output

# From pixels, counted from the left and the top, to the picture's coordinates.
across(px) = px / (1.0 * width)
down(px) = 1 - px / (1.0 * height)

# The head: title, and a line for each result with how it is drawn.
set label 1 title_text at screen across(14), screen down(22) left textcolor rgb ink font ',17'
if (names == 1) {
    set label 2 new_name at screen across(14), screen down(46) left textcolor rgb faint
    body = 62
} else {
    set arrow 1 from screen across(14), screen down(46) to screen across(48), screen down(46) nohead linewidth 2.5 linecolor rgb ink
    set label 2 new_name at screen across(56), screen down(46) left textcolor rgb ink
    set arrow 2 from screen across(14), screen down(65) to screen across(48), screen down(65) nohead linewidth 2 dashtype (6,4) linecolor rgb base_colour
    set label 3 base_name at screen across(56), screen down(65) left textcolor rgb faint
    body = 81
}
do for [i = 1:feet] {
    set label 3 + i foot[i] at screen across(14), screen down(height - 18 * (feet - i) - 14) left textcolor rgb faint font ',12'
}
set multiplot
