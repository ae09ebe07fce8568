// Contradictions whose two sides both hold, as a person said. Only their ids are kept, in this browser.

const NAME = 'memoranda-both-hold';
const MOST = 2000;

class BothHold {
  #ids = $state.raw(new Set<string>(read()));

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string) {
    this.#ids = new Set([...this.#ids, id]);
    localStorage.setItem(NAME, JSON.stringify([...this.#ids].slice(-MOST)));
  }
}

function read(): string[] {
  try {
    return JSON.parse(localStorage.getItem(NAME) ?? '[]') as string[];
  } catch {
    return [];
  }
}

export const bothHold = new BothHold();
