# What warnings.awk found as a Markdown list. After warnings.awk.

END {
    if (!count) print "None."
    for (i = 1; i <= count; i++)
        printf "- %s: %s%s\n", results(i), example[i], \
            (others[i] ? " (" other_numbers(i) ")" : "")
}
