// Dropped files: walked in the browser, sent in parts, staged by the server.

import { send } from './api';

/** Size of a request's content, in bytes, before it is encoded. */
const MOST_BYTES = 3_000_000;
/** Number of files in one request. */
const MOST_FILES = 200;

export interface DroppedFile { path: string; file: File }

/** Reads what was dropped, folders included. The entries must be taken while the event runs. */
export async function walk(entries: (FileSystemEntry | File)[]): Promise<DroppedFile[]> {
  const found: DroppedFile[] = [];
  const visit = async (entry: FileSystemEntry): Promise<void> => {
    if (entry.isFile) {
      const file = await new Promise<File>((done, failed) => (entry as FileSystemFileEntry).file(done, failed));
      found.push({ path: entry.fullPath.replace(/^\//, ''), file });
      return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (;;) {
      const some = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
      if (some.length === 0) return;
      for (const one of some) await visit(one);
    }
  };
  for (const entry of entries) {
    if (entry instanceof File) found.push({ path: entry.name, file: entry });
    else await visit(entry);
  }
  return found;
}

export function chosenFiles(list: FileList): DroppedFile[] {
  return [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

function encode(blob: Blob): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result).replace(/^data:[^,]*,/, ''));
    reader.onerror = () => failed(reader.error ?? new Error('The file could not be read.'));
    reader.readAsDataURL(blob);
  });
}

interface Part { path: string; offset: number; modified: number; data: string }

/** Sends the files and returns the id of the upload. `tell` gets the bytes that were sent so far. */
export async function upload(files: DroppedFile[], tell: (bytes: number) => void, stop: AbortSignal): Promise<string> {
  let id: string | undefined;
  let parts: Part[] = [];
  let size = 0;
  let sent = 0;
  const flush = async () => {
    if (parts.length === 0 && id) return;
    id = (await send<{ upload: string }>('POST', 'import/upload', { upload: id, parts }, stop)).upload;
    sent += size;
    tell(sent);
    parts = [];
    size = 0;
  };
  for (const { path, file } of files) {
    let offset = 0;
    do {
      const piece = file.slice(offset, offset + MOST_BYTES - size);
      const data = piece.size ? await encode(piece) : '';
      parts.push({ path, offset, modified: file.lastModified, data });
      size += piece.size;
      offset += piece.size;
      if (size >= MOST_BYTES || parts.length >= MOST_FILES) await flush();
    } while (offset < file.size);
  }
  await flush();
  return id!;
}
