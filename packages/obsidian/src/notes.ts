/** What the side bar shows of a note, and what its buttons do. Knows nothing of Obsidian's windows. */

import { realpathSync } from "node:fs";

import { Memoranda, type MemorandaOptions } from "../../typescript/src/client";
import { RequestRefusedError } from "../../typescript/src/errors";
import type { DiffLine, NoteVersion, Place } from "../../typescript/src/api";

/** Number of versions and of related notes that are shown. */
const MAX_VERSIONS = 30;
const MAX_RELATED = 8;
/** Number of characters of a note that the search for related notes looks at. */
const MAX_QUERY_CHARS = 300;

export interface RelatedNote extends Place {
  title: string;
  snippet: string;
}

export interface LinkingNote extends Place {
  title: string;
  sentence: string;
}

/** A line of a difference. */
export interface ShownLine {
  kind: DiffLine["kind"];
  text: string;
}

/** The memory of one Obsidian vault. */
export class VaultMemory {
  readonly #memory: Memoranda;
  readonly #folder: string;
  #project: string | undefined;

  constructor(folder: string, options: MemorandaOptions = {}) {
    this.#folder = folder;
    this.#memory = new Memoranda({ client: "obsidian", ...options });
  }

  /** Returns the project that the vault is; `undefined` if Memoranda does not follow its folder. */
  async project(): Promise<string | undefined> {
    if (this.#project === undefined) {
      const { projects } = await this.#memory.page.status();
      const folder = resolved(this.#folder);
      this.#project = projects.find((project) => resolved(project.folder) === folder)?.name;
    }
    return this.#project;
  }

  /** Returns the versions of a note, newest first. */
  async versions(path: string): Promise<NoteVersion[]> {
    const project = await this.#required();
    return (await this.#memory.page.noteVersions({ project, path, limit: MAX_VERSIONS })).items;
  }

  /** Returns the changed lines between a version of a note and its present text. */
  async changesSince(path: string, commit: string): Promise<ShownLine[]> {
    const project = await this.#required();
    const diff = await this.#memory.page.noteDiff({ project, path, from: commit });
    const lines = diff.hunks.flatMap((hunk) => hunk.lines);
    return lines.map((line) => ({ kind: line.kind, text: line.words.map((word) => word.text).join("") }));
  }

  /** Returns the reason why a commit cannot be undone; `undefined` if it can. */
  async undoProblem(commit: string): Promise<string | undefined> {
    try {
      const preview = await this.#memory.page.undoPreview({ commits: [commit] });
      return preview.can_undo ? undefined : (preview.why_not ?? "files changed since");
    } catch (error) {
      if (error instanceof RequestRefusedError) return error.message;
      throw error;
    }
  }

  /** Returns the number of files that an undo changes. */
  async undoFiles(commit: string): Promise<number> {
    return (await this.#memory.page.undoPreview({ commits: [commit] })).file_count;
  }

  /** Undoes a commit and returns the commit that does so. */
  undo(commit: string): Promise<string> {
    return this.#memory.undo(commit);
  }

  /** Brings a note back to a version. */
  async restore(path: string, commit: string): Promise<void> {
    await this.#memory.page.noteRestore({ project: await this.#required(), path, at: commit });
  }

  /** Returns notes of the whole memory that are about the same, without the note itself. */
  async related(path: string, text: string): Promise<RelatedNote[]> {
    const project = await this.#required();
    const answer = await this.#memory.page.search({ q: relatedQuery(path, text), nearest: true });
    const hits = answer.hits.length > 0 ? answer.hits : answer.nearest;
    const others = hits.filter((hit) => hit.project !== project || hit.path !== path);
    const plain = (segments: { text: string }[]) => segments.map((segment) => segment.text).join("");
    return others.slice(0, MAX_RELATED).map((hit) => ({
      project: hit.project,
      path: hit.path,
      title: plain(hit.title),
      snippet: plain(hit.snippet),
    }));
  }

  /** Returns notes that link to a note or mention its title. */
  async linking(path: string): Promise<LinkingNote[]> {
    const around = await this.#memory.page.noteAround({ project: await this.#required(), path });
    const found = [...around.in, ...around.mentions];
    return found.map((link) => ({
      project: link.project,
      path: link.path,
      title: link.title,
      sentence: link.sentence.map((segment) => segment.text).join(""),
    }));
  }

  /** Ends the server that the plugin started, if it did. */
  close(): Promise<void> {
    return this.#memory.close();
  }

  async #required(): Promise<string> {
    const project = await this.project();
    if (project === undefined) {
      throw new Error(`Memoranda does not follow this vault yet: run \`memoranda import obsidian "${this.#folder}"\``);
    }
    return project;
  }
}

/** Returns the words by which related notes are searched: the title and the beginning of the text. */
export function relatedQuery(path: string, text: string): string {
  const title = path.replace(/^.*\//, "").replace(/\.md$/i, "");
  const body = text
    .replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n/, "")
    .replace(/`{3}[\s\S]*?`{3}/g, " ")
    .replace(/[#>*_[\]|`"()]/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  return `${title} ${body}`.slice(0, MAX_QUERY_CHARS).trim();
}

function resolved(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
