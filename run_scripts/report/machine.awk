# The machine, the library and the run, from the metadata of all files: an HTML table
# with a column a result. Values that differ between files are all named, up to four.
#
# usage: awk -f html.awk -f machine.awk result=new FILE... [result=base FILE...]

BEGIN {
    count = split("processor,processors,cores,kernel,nodes,ranks,ranks_per_node,hosts,binding," \
        "mpi_library,mpi_device,mpi_standard,thread_level,mpi_variable,compiler," \
        "compiler_flags,version,commit,clock,job_id,date", keys, ",")
    for (i = 1; i <= count; i++) wanted[keys[i]] = 1
    heading["mpi_library"] = "MPI library"; heading["mpi_device"] = "MPI device"
    heading["mpi_standard"] = "MPI standard"; heading["mpi_variable"] = "MPI variables set"
    heading["processors"] = "logical processors"
    heading["ranks_per_node"] = "processes per node"; heading["ranks"] = "processes"
    heading["hosts"] = "hosts: processes"; heading["version"] = "commcost version"
    heading["commit"] = "commcost commit"; heading["job_id"] = "job"
    heading["date"] = "measured"; heading["kernel"] = "system"
    heading["compiler_flags"] = "compiler flags"; heading["thread_level"] = "thread level"
}
{ sub(/\r$/, "") }
/^# [a-z_]+: / {
    key = $2
    sub(/:$/, "", key)
    if (!(key in wanted)) next
    text = substr($0, length(key) + 5)
    if (text == "" || text == "NA") next
    if (key == "date") {
        sub(/T/, " ", text)
        if (!((result, "date") in first) || text < first[result, "date"]) first[result, "date"] = text
        if (text > last[result]) last[result] = text
        next
    }
    if ((result, key, text) in seen) next
    seen[result, key, text] = 1
    n = ++values[result, key]
    if (key == "mpi_variable" || n <= 4) {
        all[result, key] = all[result, key] (n > 1 ? "; " : "") text
    } else if (n == 5) all[result, key] = all[result, key] "; ..."
}
function row(name, new, base) {
    if (new == "" && base == "") return
    printf "<tr%s><th scope=\"row\">%s</th><td>%s</td>", \
        (has_base && new != base && name != "measured" ? " class=\"differs\"" : ""), escaped(name), escaped(new)
    if (has_base) printf "<td>%s</td>", escaped(base)
    print "</tr>"
}
END {
    for (r = 1; r <= 2; r++) {
        name = r == 1 ? "new" : "base"
        if ((name, "date") in first)
            all[name, "date"] = first[name, "date"] == last[name] ? last[name] : first[name, "date"] " to " last[name]
    }
    has_base = ENVIRON["base_label"] != ""
    print "<div class=\"scroll\"><table class=\"machine\">"
    if (has_base) printf "<tr><th></th><th>%s</th><th>%s (base)</th></tr>\n", \
        escaped(ENVIRON["new_label"]), escaped(ENVIRON["base_label"])
    for (i = 1; i <= count; i++) {
        key = keys[i]
        row((key in heading) ? heading[key] : key, all["new", key], all["base", key])
    }
    print "</table></div>"
    if (has_base) print "<p class=\"small\">What differs between the two is marked.</p>"
}
