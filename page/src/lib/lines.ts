// A text area knows only "\n". An edit must keep every other byte: line ends, byte order mark,
// trailing blanks.

const END = /\r\n|\n|\r/g;

/** The text as a text area shows it. */
export function shownText(text: string): string {
  return text.replace(/^\ufeff/, '').replace(END, '\n');
}

/** Gives an edited text the line ends and the byte order mark of the text it came from. */
export function keepBytes(original: string, edited: string): string {
  const mark = original.startsWith('\ufeff') ? '\ufeff' : '';
  const body = mark ? original.slice(1) : original;
  const ends = body.match(END) ?? [];
  if (ends.every((end) => end === '\n')) return mark + edited;
  const before = body.split(END);
  const after = edited.split('\n');
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < before.length - head && tail < after.length - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const usual = ends.filter((end) => end === '\r\n').length * 2 >= ends.length ? '\r\n' : '\n';
  let text = mark;
  after.forEach((line, at) => {
    text += line;
    if (at === after.length - 1) return;
    const fromEnd = after.length - 1 - at;
    // The line end belongs to the line before it; in the middle the changed lines keep theirs by position.
    if (at < head) text += ends[at] ?? usual;
    else if (fromEnd <= tail) text += ends[before.length - 1 - fromEnd] ?? usual;
    else text += before.length === after.length ? (ends[at] ?? usual) : usual;
  });
  return text;
}
