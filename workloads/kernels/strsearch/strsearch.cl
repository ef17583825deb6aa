// Counts occurrences of a word in a text; a position matches where all its bytes do.
kernel void strsearch(global const uchar *text, constant uchar *word, global uint *count, global uchar *where,
                      uint length, uint letters)
{
    uint i = get_global_id(0);
    if (i + letters > length)
        return;
    uint k = 0;
    while (k < letters && text[i + k] == word[k])
        ++k;
    where[i] = k;
    if (k == letters)
        atomic_inc(count);
}
