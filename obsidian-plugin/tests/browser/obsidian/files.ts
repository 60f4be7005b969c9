/** The vault: files of the sample, read through the test server; every write is written down. */
import type * as O from "obsidian";
import { Events, published } from "./events";

export interface Listed {
  path: string;
  ctime: number;
  mtime: number;
  size: number;
}

export abstract class TAbstractFile {
  vault!: O.Vault;
  path = "";
  name = "";
  parent: O.TFolder | null = null;
}

export class TFile extends TAbstractFile {
  stat: O.FileStats = { ctime: 0, mtime: 0, size: 0 };
  basename = "";
  extension = "";
}

export class TFolder extends TAbstractFile {
  children: O.TAbstractFile[] = [];

  isRoot(): boolean {
    return this.path === "/";
  }
}

/** Slashes and spaces as Obsidian wants them in paths. */
export function normalizePath(path: string): string {
  const clean = path
    .replace(/[\u00A0\u202F]/g, " ")
    .replace(/[\\/]+/g, "/")
    .replace(/^\/+|\/+$/g, "");
  return (clean || "/").normalize("NFC");
}

function address(path: string): string {
  return `/vault/file?path=${encodeURIComponent(path)}`;
}

/** What both adapters have: reading from the server, writing noted down and kept there. */
export class DataAdapter {
  getName(): string {
    return "Sample";
  }

  async exists(path: string): Promise<boolean> {
    const response = await fetch(`${address(path)}&probe=1`);
    return ((await response.json()) as { there: boolean }).there;
  }

  async stat(path: string): Promise<O.Stat | null> {
    const response = await fetch(`${address(path)}&stat=1`);
    const found = (await response.json()) as O.Stat | null;
    return found;
  }

  async list(path: string): Promise<O.ListedFiles> {
    const response = await fetch(`/vault/folder?path=${encodeURIComponent(path)}`);
    return (await response.json()) as O.ListedFiles;
  }

  async read(path: string): Promise<string> {
    const response = await fetch(address(path));
    const answer = (await response.json()) as { text: string | null };
    if (answer.text === null) throw new Error(`ENOENT: no such file or directory, open '${path}'`);
    return answer.text;
  }

  async readBinary(path: string): Promise<ArrayBuffer> {
    return new TextEncoder().encode(await this.read(path)).buffer;
  }

  async write(path: string, data: string): Promise<void> {
    await fetch(address(path), { method: "PUT", body: data });
  }

  async append(path: string, data: string): Promise<void> {
    await this.write(path, (await this.read(path)) + data);
  }

  async process(path: string, fn: (data: string) => string): Promise<string> {
    const text = fn(await this.read(path));
    await this.write(path, text);
    return text;
  }

  async mkdir(path: string): Promise<void> {
    await this.write(`${path}/`, "");
  }

  async remove(path: string): Promise<void> {
    await fetch(address(path), { method: "DELETE" });
  }

  getResourcePath(path: string): string {
    return address(path);
  }
}

export class FileSystemAdapter extends DataAdapter {
  base = "";

  getBasePath(): string {
    return this.base;
  }

  getFullPath(path: string): string {
    return `${this.base}/${path}`;
  }

  getFilePath(path: string): string {
    return `file://${this.getFullPath(path)}`;
  }
}

export class CapacitorAdapter extends DataAdapter {
  getFullPath(path: string): string {
    return path;
  }
}

function folderOf(path: string): string {
  const at = path.lastIndexOf("/");
  return at < 0 ? "/" : path.slice(0, at);
}

export class Vault extends Events {
  adapter: O.DataAdapter;
  configDir = ".obsidian";
  private readonly entries = new Map<string, TAbstractFile>();
  private readonly root = new TFolder();

  constructor(
    adapter: DataAdapter,
    private readonly config: Record<string, unknown>,
    listed: Listed[],
    private readonly vaultName: string,
  ) {
    super();
    this.adapter = published(adapter);
    this.root.path = "/";
    this.root.vault = published(this);
    this.entries.set("/", this.root);
    for (const file of listed) this.add(file);
  }

  /** A file that is there from now on. */
  add(listed: Listed): TFile {
    const file = new TFile();
    const name = listed.path.slice(listed.path.lastIndexOf("/") + 1);
    const dot = name.lastIndexOf(".");
    file.extension = dot > 0 ? name.slice(dot + 1).toLowerCase() : "";
    file.basename = dot > 0 ? name.slice(0, dot) : name;
    file.stat = { ctime: listed.ctime, mtime: listed.mtime, size: listed.size };
    this.place(file, listed.path, name);
    return file;
  }

  private place(entry: TAbstractFile, path: string, name: string): void {
    entry.vault = published(this);
    entry.path = path;
    entry.name = name;
    const parent = this.folder(folderOf(path));
    entry.parent = published(parent);
    parent.children.push(published(entry));
    this.entries.set(path, entry);
  }

  private folder(path: string): TFolder {
    const known = this.entries.get(path);
    if (known instanceof TFolder) return known;
    const made = new TFolder();
    this.place(made, path, path.slice(path.lastIndexOf("/") + 1));
    return made;
  }

  getName(): string {
    return this.vaultName;
  }

  /** Not in the published types; plugins read Obsidian's own settings by it. */
  getConfig(key: string): unknown {
    return this.config[key] ?? null;
  }

  getFileByPath(path: string): O.TFile | null {
    const found = this.entries.get(path);
    return found instanceof TFile ? published(found) : null;
  }

  getFolderByPath(path: string): O.TFolder | null {
    const found = this.entries.get(path);
    return found instanceof TFolder ? published(found) : null;
  }

  getAbstractFileByPath(path: string): O.TAbstractFile | null {
    return published(this.entries.get(path) ?? null);
  }

  getRoot(): O.TFolder {
    return published(this.root);
  }

  getAllLoadedFiles(): O.TAbstractFile[] {
    return published([...this.entries.values()]);
  }

  getAllFolders(includeRoot = false): O.TFolder[] {
    const folders = [...this.entries.values()].filter((entry) => entry instanceof TFolder);
    return published(folders.filter((folder) => includeRoot || !folder.isRoot()));
  }

  getFiles(): O.TFile[] {
    return published([...this.entries.values()].filter((entry) => entry instanceof TFile));
  }

  getMarkdownFiles(): O.TFile[] {
    return this.getFiles().filter((file) => file.extension === "md");
  }

  read(file: O.TFile): Promise<string> {
    return this.adapter.read(file.path);
  }

  cachedRead(file: O.TFile): Promise<string> {
    return this.read(file);
  }

  async modify(file: O.TFile, data: string): Promise<void> {
    await this.adapter.write(file.path, data);
    this.trigger("modify", file);
  }

  async create(path: string, data: string): Promise<O.TFile> {
    await this.adapter.write(path, data);
    const file = this.add({ path, ctime: 0, mtime: 0, size: data.length });
    this.trigger("create", file);
    return published(file);
  }

  /** A rename as the file explorer does it, for the tests. */
  moveTo(path: string, newPath: string): void {
    const entry = this.entries.get(path);
    if (!(entry instanceof TFile)) throw new Error(`no such file: ${path}`);
    this.entries.delete(path);
    entry.parent?.children.remove(published(entry));
    this.place(entry, newPath, newPath.slice(newPath.lastIndexOf("/") + 1));
    entry.basename = entry.name.replace(/\.[^.]+$/, "");
    this.trigger("rename", entry, path);
  }
}
