import { FileSystemAdapter, Plugin, PluginSettingTab, Setting, type App } from "obsidian";

import type { MemorandaOptions } from "../../typescript/src/client";
import { VaultMemory } from "./notes";
import { obsidianFetch } from "./obsidian-fetch";
import { SIDE_BAR, SideBar } from "./side-bar";

interface Settings {
  /** Path of the program; empty for the one on the PATH. */
  program: string;
  /** Folder of Memoranda's vault; empty for the default. */
  home: string;
}

export default class MemorandaPlugin extends Plugin {
  settings: Settings = { program: "", home: "" };
  #memory: VaultMemory | undefined;

  override async onload(): Promise<void> {
    this.settings = { ...this.settings, ...((await this.loadData()) as Partial<Settings> | null) };
    this.registerView(SIDE_BAR, (leaf) => new SideBar(leaf, () => this.memory()));
    this.addRibbonIcon("history", "History and related notes", () => void this.openSideBar());
    this.addCommand({ id: "open", name: "Show history and related notes", callback: () => void this.openSideBar() });
    this.addSettingTab(new MemorandaSettingTab(this.app, this));
  }

  override onunload(): void {
    void this.#memory?.close();
  }

  /** Returns the memory of this vault. The first call of it finds the server, or starts one. */
  memory(): VaultMemory {
    if (this.#memory === undefined) {
      const { adapter } = this.app.vault;
      if (!(adapter instanceof FileSystemAdapter)) throw new Error("Memoranda needs a vault in a folder of this computer.");
      const options: MemorandaOptions = { fetch: obsidianFetch, client: "obsidian" };
      if (this.settings.program) options.program = this.settings.program;
      if (this.settings.home) options.home = this.settings.home;
      this.#memory = new VaultMemory(adapter.getBasePath(), options);
    }
    return this.#memory;
  }

  /** Saves the settings. The next call of `memory` uses them. */
  async saveSettings(): Promise<void> {
    await this.saveData(this.settings);
    const old = this.#memory;
    this.#memory = undefined;
    await old?.close();
  }

  async openSideBar(): Promise<void> {
    const { workspace } = this.app;
    const open = workspace.getLeavesOfType(SIDE_BAR)[0];
    const leaf = open ?? workspace.getRightLeaf(false);
    if (leaf === null || leaf === undefined) return;
    if (open === undefined) await leaf.setViewState({ type: SIDE_BAR, active: true });
    await workspace.revealLeaf(leaf);
  }
}

class MemorandaSettingTab extends PluginSettingTab {
  readonly #plugin: MemorandaPlugin;

  constructor(app: App, plugin: MemorandaPlugin) {
    super(app, plugin);
    this.#plugin = plugin;
  }

  override display(): void {
    const { containerEl } = this;
    containerEl.empty();
    this.#text("Program", "Path of the program memoranda, if it is not on the PATH.", "program");
    this.#text("Folder", "Folder of Memoranda, if it is not ~/memoranda.", "home");
  }

  #text(name: string, description: string, key: keyof Settings): void {
    const { settings } = this.#plugin;
    new Setting(this.containerEl)
      .setName(name)
      .setDesc(description)
      .addText((input) =>
        input.setValue(settings[key]).onChange(async (value) => {
          settings[key] = value.trim();
          await this.#plugin.saveSettings();
        }),
      );
  }
}
