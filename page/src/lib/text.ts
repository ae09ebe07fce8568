// Text of memories is hostile: characters that hide or reorder text are shown by their code point.

// Controls, soft hyphen, zero-width and bidi characters, line separators, tags, variation selectors.
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{1d173}-\u{1d17a}]|[\u{e0000}-\u{e0fff}]/gu;
// Joiners are part of emoji and of many scripts; between ASCII characters they only hide something.
const LONE_JOINER = /(?<=[\x20-\x7e]|^)[\u200c\u200d](?=[\x20-\x7e]|$)/gu;

export interface TextPart { text: string; code: string | null }

function codePoint(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Splits a text into plain parts and hidden characters. */
export function parts(text: string): TextPart[] {
  const found: { at: number; length: number; code: string }[] = [];
  for (const pattern of [HIDDEN, LONE_JOINER]) {
    for (const match of text.matchAll(pattern)) {
      found.push({ at: match.index, length: match[0].length, code: codePoint(match[0]) });
    }
  }
  if (found.length === 0) return [{ text, code: null }];
  found.sort((a, b) => a.at - b.at);
  const all: TextPart[] = [];
  let end = 0;
  for (const { at, length, code } of found) {
    if (at < end) continue;
    if (at > end) all.push({ text: text.slice(end, at), code: null });
    all.push({ text: '', code });
    end = at + length;
  }
  if (end < text.length) all.push({ text: text.slice(end), code: null });
  return all;
}

/** The same for attributes, where no element can stand. */
export function plain(text: string): string {
  return parts(text).map((part) => (part.code ? `[${part.code}]` : part.text)).join('');
}

/** Returns the address if a link may have it, else null. */
export function safeHref(href: string): string | null {
  return /^(https?:\/\/|mailto:)[^\s\u0000-\u001f]+$/i.test(href) ? href : null;
}
