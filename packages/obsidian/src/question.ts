import { Modal, Setting, type App } from "obsidian";

/** Asks a question and returns true if the person agrees. Closing the window is a no. */
export function confirmed(app: App, question: string): Promise<boolean> {
  return new Promise((resolve) => {
    let answer = false;
    const modal = new Modal(app);
    modal.titleEl.setText("Memoranda");
    modal.contentEl.createEl("p", { text: question });
    const close = (agreed: boolean) => {
      answer = agreed;
      modal.close();
    };
    new Setting(modal.contentEl)
      .addButton((button) => button.setButtonText("Cancel").onClick(() => close(false)))
      .addButton((button) => button.setButtonText("Continue").setWarning().onClick(() => close(true)));
    modal.onClose = () => resolve(answer);
    modal.open();
  });
}
