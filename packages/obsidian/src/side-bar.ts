import { ItemView, Notice, TFile, type WorkspaceLeaf } from "obsidian";

import type { NoteVersion } from "../../typescript/src/api";
import type { VaultMemory } from "./notes";
import { confirmed } from "./question";

export const SIDE_BAR = "memoranda-side-bar";

/** The side bar: history, related notes and links of the open note. */
export class SideBar extends ItemView {
  readonly #memory: () => VaultMemory;
  #run = 0;

  constructor(leaf: WorkspaceLeaf, memory: () => VaultMemory) {
    super(leaf);
    this.#memory = memory;
  }

  override getViewType(): string {
    return SIDE_BAR;
  }

  override getDisplayText(): string {
    return "Memoranda";
  }

  override getIcon(): string {
    return "history";
  }

  override async onOpen(): Promise<void> {
    this.registerEvent(this.app.workspace.on("file-open", () => void this.refresh()));
    this.registerEvent(this.app.vault.on("modify", (file) => {
      if (file === this.app.workspace.getActiveFile()) void this.refresh();
    }));
    await this.refresh();
  }

  /** Shows the open note. A newer call replaces the result of an older one. */
  async refresh(): Promise<void> {
    const run = ++this.#run;
    const file = this.app.workspace.getActiveFile();
    const content = createDiv();
    content.addClass("memoranda-side-bar");
    if (file === null || file.extension !== "md") {
      content.createEl("p", { text: "Open a note to see its history." });
    } else {
      try {
        await this.#show(content, file);
      } catch (error) {
        content.empty();
        content.createEl("p", { text: error instanceof Error ? error.message : String(error) });
      }
    }
    if (run === this.#run) this.contentEl.replaceChildren(content);
  }

  async #show(content: HTMLElement, file: TFile): Promise<void> {
    const memory = this.#memory();
    const text = await this.app.vault.cachedRead(file);
    const [versions, related, linking] = await Promise.all([
      memory.versions(file.path),
      memory.related(file.path, text),
      memory.linking(file.path),
    ]);
    const history = this.#section(content, "History", versions.length, "No change of this note is known yet.");
    versions.forEach((version, number) => this.#version(history, file, version, number === 0));
    const notes = this.#section(content, "Related notes", related.length, "Nothing similar was found.");
    for (const note of related) this.#note(notes, note.title, note.snippet, note);
    const links = this.#section(content, "Links to this note", linking.length, "No note links here.");
    for (const note of linking) this.#note(links, note.title, note.sentence, note);
  }

  #section(content: HTMLElement, title: string, count: number, none: string): HTMLElement {
    const section = content.createEl("section");
    section.createEl("h4", { text: title });
    if (count === 0) section.createEl("p", { text: none, cls: "memoranda-faint" });
    return section;
  }

  #version(section: HTMLElement, file: TFile, version: NoteVersion, isNewest: boolean): void {
    const entry = section.createDiv({ cls: "memoranda-entry" });
    const changed = `+${version.added} −${version.removed}`;
    entry.createDiv({ text: `${version.agent.name}: ${version.action} ${changed}` });
    const when = new Date(version.time).toLocaleString();
    entry.createDiv({ text: version.message ? `${when} · ${version.message}` : when, cls: "memoranda-faint" });
    if (!isNewest) {
      this.#button(entry, "Compare", async () => {
        const lines = await this.#memory().changesSince(file.path, version.commit);
        const diff = entry.createDiv({ cls: "memoranda-diff" });
        for (const line of lines) diff.createDiv({ text: line.text || " ", cls: line.kind });
        if (lines.length === 0) diff.setText("Equal to the present text.");
      });
      this.#button(entry, "Restore", async () => {
        const question = `Bring this note back to ${when}? The present text stays in the history.`;
        if (!(await confirmed(this.app, question))) return;
        await this.#memory().restore(file.path, version.commit);
        new Notice("The note was restored.");
        await this.refresh();
      });
    }
    this.#button(entry, "Undo", async () => {
      const problem = await this.#memory().undoProblem(version.commit);
      if (problem !== undefined) {
        new Notice(`This change cannot be undone: ${problem}`);
        return;
      }
      const files = await this.#memory().undoFiles(version.commit);
      const others = files > 1 ? ` ${files} files change.` : "";
      if (!(await confirmed(this.app, `Undo this change of ${version.agent.name}?${others}`))) return;
      await this.#memory().undo(version.commit);
      new Notice("The change was undone.");
      await this.refresh();
    });
  }

  #button(entry: HTMLElement, text: string, run: () => Promise<void>): void {
    const button = entry.createEl("button", { text });
    button.addEventListener("click", () => {
      button.disabled = true;
      run()
        .catch((error: unknown) => new Notice(error instanceof Error ? error.message : String(error)))
        .finally(() => {
          button.disabled = false;
        });
    });
  }

  #note(section: HTMLElement, title: string, text: string, place: { project: string; path: string }): void {
    const entry = section.createDiv({ cls: "memoranda-entry" });
    const file = this.app.vault.getAbstractFileByPath(place.path);
    if (file instanceof TFile) {
      const link = entry.createEl("a", { text: title, href: "#" });
      link.addEventListener("click", (event) => {
        event.preventDefault();
        void this.app.workspace.getLeaf(event.ctrlKey || event.metaKey).openFile(file);
      });
    } else {
      entry.createDiv({ text: `${title} (${place.project}/${place.path})` });
    }
    entry.createDiv({ text, cls: "memoranda-faint" });
  }
}
