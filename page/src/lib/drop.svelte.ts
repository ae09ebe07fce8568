// Files that were dropped anywhere on the page, until the place that brings them takes them.

class Dropped {
  entries = $state.raw<(FileSystemEntry | File)[] | null>(null);

  take(event: DragEvent): boolean {
    const items = [...(event.dataTransfer?.items ?? [])].filter((item) => item.kind === 'file');
    const entries = items.map((item) => item.webkitGetAsEntry() ?? item.getAsFile()).filter((entry) => entry !== null);
    if (entries.length) this.entries = entries;
    return entries.length > 0;
  }
}

export const dropped = new Dropped();
export const holdsFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
