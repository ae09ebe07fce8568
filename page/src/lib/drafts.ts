// The unsaved text of an edit. It survives a reload, a crash of the tab and a restart of the server.
// It is the only memory text that the browser stores, and only until it is saved or dropped.

const PREFIX = 'memoranda-draft:';

export interface Draft { text: string; base: string; expected: string | null; time: string }

const nameOf = (project: string, path: string) => `${PREFIX}${project}/${path}`;

export function keepDraft(project: string, path: string, draft: Draft) {
  try {
    sessionStorage.setItem(nameOf(project, path), JSON.stringify(draft));
  } catch {
    // The browser's storage is full: the text stays on the screen.
  }
}

export function readDraft(project: string, path: string): Draft | null {
  const text = sessionStorage.getItem(nameOf(project, path));
  if (!text) return null;
  try {
    return JSON.parse(text) as Draft;
  } catch {
    return null;
  }
}

export function dropDraft(project: string, path: string) {
  sessionStorage.removeItem(nameOf(project, path));
}
