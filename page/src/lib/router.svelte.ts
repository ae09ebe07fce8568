// The address of a place is the fragment: it reaches neither a server nor a log.

export const PLACES = ['now', 'search', 'note', 'map', 'history', 'facts', 'agents', 'care', 'team'] as const;
export type PlaceName = (typeof PLACES)[number];

function isPlace(name: string): name is PlaceName {
  return (PLACES as readonly string[]).includes(name);
}

class Router {
  place = $state<PlaceName>('now');
  /** Decoded parts after the place's name. */
  rest = $state.raw<string[]>([]);
  params = $state.raw<Record<string, string>>({});

  constructor() {
    addEventListener('hashchange', () => this.#read());
    this.#read();
  }

  #read() {
    const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
    const [name = '', ...rest] = path.split('/');
    this.place = isPlace(name) ? name : 'now';
    this.rest = rest.filter(Boolean).map(decode);
    this.params = Object.fromEntries(new URLSearchParams(query));
  }

  go(address: string) {
    if (location.hash === address) this.#read();
    else location.hash = address;
  }

  /** Changes the address without a new step for Back, for example while typing. */
  replace(address: string) {
    history.replaceState(null, '', address);
    this.#read();
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function address(place: PlaceName, rest: string[] = [], params: Record<string, string | number | null | undefined> = {}): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== '') query.set(key, String(value));
  }
  const text = query.toString();
  return `#/${[place, ...rest.map(encodeURIComponent)].join('/')}${text ? `?${text}` : ''}`;
}

export function noteAddress(note: { project: string; path: string }, params: Record<string, string | number | null | undefined> = {}): string {
  return address('note', [note.project, ...note.path.split('/')], params);
}

export const router = new Router();

/** Address of what a wikilink names: the note, or the offer to write it. */
export function linkAddress(target: { name: string; project?: string | null; path?: string | null; exists: boolean }, from: string): string {
  if (target.exists && target.path) return noteAddress({ project: target.project ?? from, path: target.path });
  return address('note', [], { name: target.name, from });
}
