# What the scripts' awk programs share: numbers in TSV cells, and medians.

# What is too large to be counted with is none.
function is_number(text) {
    return text ~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/ &&
        text + 0 <= 1e300 && text + 0 >= -1e300
}

# Shell sort of list[1..n], by number.
function sort_numbers(list, n,    gap_, i, j, held) {
    for (gap_ = int(n / 2); gap_ > 0; gap_ = int(gap_ / 2))
        for (i = gap_ + 1; i <= n; i++) {
            held = list[i]
            for (j = i; j > gap_ && list[j - gap_] + 0 > held + 0; j -= gap_)
                list[j] = list[j - gap_]
            list[j] = held
        }
}

# The median of list[1..n], which it sorts: an element as it is written, or the mean of two.
function median(list, n) {
    sort_numbers(list, n)
    if (n % 2) return list[(n + 1) / 2]
    return sprintf("%.10g", (list[n / 2] + list[n / 2 + 1]) / 2)
}
