# Text in HTML. A tab or an unprintable character would not be well-formed.
function escaped(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    gsub(/"/, "\\&quot;", text)
    gsub(/[\001-\037\177]/, " ", text)
    return text
}
