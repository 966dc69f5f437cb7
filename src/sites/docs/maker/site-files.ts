import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

/** One address of the site. */
export interface SiteFile {
  file: string;
  /** The address changes with the content, so a browser may keep it for ever. */
  fixed?: true;
}

/** `site.json` of the made site, which the gateway reads: every address that it serves. */
export interface SiteIndex {
  /** The hash of everything that the site was made from. */
  source: string;
  files: Record<string, SiteFile>;
}

const hashOf = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('base64url').slice(0, 16);

/** Collects the files of the site in a new folder, which takes the place of the old one at the end. */
export class SiteFiles {
  readonly #files: Record<string, SiteFile> = {};
  readonly #staging: string;

  constructor(private readonly folder: string) {
    this.#staging = `${folder}.${process.pid}`;
    fs.rmSync(this.#staging, { recursive: true, force: true });
    fs.mkdirSync(this.#staging, { recursive: true });
  }

  /** Adds a file whose address has the hash of its content, and returns the address. */
  addFixed(name: string, content: string | Buffer): string {
    const { name: stem, ext } = path.parse(name);
    const hash = hashOf(content);
    const address = `/docs/assets/${stem}-${hash}${ext}`;
    this.#write(address, `${stem}-${hash}${ext}`, content, { fixed: true });
    return address;
  }

  /** Adds a page. */
  addPage(address: string, content: string): void {
    if (this.#files[address]) throw new Error(`Two pages have the address ${address}.`);
    this.#write(address, `${address.slice(1).replaceAll('/', '.')}.html`, content);
  }

  /** Adds a text for programs, such as a guide in Markdown, at an address that ends as its file does. */
  addText(address: string, content: string): void {
    this.#write(address, address.slice(1).replaceAll('/', '.'), content);
  }

  #write(address: string, file: string, content: string | Buffer, more: { fixed?: true } = {}): void {
    this.#files[address] = { file, ...more };
    fs.writeFileSync(path.join(this.#staging, file), content);
  }

  /**
   * Puts the new site in the place of the old one. A gateway that runs on the old one answers 404 until it restarts.
   */
  finish(source: string): void {
    const index: SiteIndex = { source, files: this.#files };
    fs.writeFileSync(path.join(this.#staging, 'site.json'), JSON.stringify(index));
    const old = `${this.#staging}.old`;
    if (fs.existsSync(this.folder)) fs.renameSync(this.folder, old);
    fs.renameSync(this.#staging, this.folder);
    fs.rmSync(old, { recursive: true, force: true });
  }
}
