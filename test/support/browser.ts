import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { type Browser, chromium } from 'playwright-core';

const require = createRequire(import.meta.url);

// No flag weakens the page's security, so that tests see its content security policy at work. The others keep Chromium
// off the network.
const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Starts a headless Chromium: the one that `CHROMIUM` names, else the system's, else the one in `@sparticuz/chromium`.
 * The last is unpacked once per machine: about 3 s and 190 MB in the temporary directory. The caller closes it.
 * `more` are further flags.
 */
export async function browser(more: readonly string[] = []): Promise<Browser> {
  const system = process.env.CHROMIUM || ['/usr/bin/chromium'].find((file) => fs.existsSync(file));
  const { executablePath, env } = system ? { executablePath: system, env: {} } : packaged();
  const args = [...flags, ...more];
  return chromium.launch({ executablePath, args, env: { ...(process.env as Record<string, string>), ...env } });
}

function packaged(): { executablePath: string; env: Record<string, string> } {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('The packaged Chromium is for Linux on x64: set CHROMIUM to the path of a Chromium or Chrome.');
  }
  // The package's own unpacking writes to fixed names, which another process may be writing, too, and it skips the
  // libraries outside of AWS Lambda.
  const source = path.resolve(path.dirname(require.resolve('@sparticuz/chromium')), '../..');
  const { version } = JSON.parse(fs.readFileSync(path.join(source, 'package.json'), 'utf8')) as { version: string };
  const folder = path.join(os.tmpdir(), `tidegate-chromium-${version}-${os.userInfo().uid}`);
  if (!fs.existsSync(folder)) unpack(path.join(source, 'bin'), folder);
  if (fs.statSync(folder).uid !== os.userInfo().uid) throw new Error(`${folder} belongs to another user: remove it.`);

  const executablePath = path.join(folder, 'chromium');
  const env: Record<string, string> = { FONTCONFIG_FILE: path.join(folder, 'fonts.conf') };
  // Use the package's libraries only where the system lacks some: the system's are newer.
  if (spawnSync('ldd', [executablePath], { encoding: 'utf8' }).stdout?.includes('not found')) {
    env.LD_LIBRARY_PATH = [path.join(folder, 'lib'), process.env.LD_LIBRARY_PATH].filter(Boolean).join(':');
  }
  return { executablePath, env };
}

/**
 * Unpacks into a new folder and renames it, so that test files that start together never run a half-written Chromium.
 */
function unpack(bin: string, folder: string): void {
  const staging = fs.mkdtempSync(`${folder}-`);
  try {
    const inflate = (name: string): Buffer => brotliDecompressSync(fs.readFileSync(path.join(bin, name)));
    fs.writeFileSync(path.join(staging, 'chromium'), inflate('chromium.br'), { mode: 0o700 });
    for (const name of ['al2023.tar.br', 'fonts.tar.br']) {
      const tar = spawnSync('tar', ['-x', '--no-same-owner', '-C', staging], {
        input: inflate(name),
        encoding: 'utf8',
      });
      if (tar.status !== 0) throw new Error(`tar could not unpack ${name}: ${tar.error ?? tar.stderr}`);
    }
    // The system's fonts, and one of the package's for a machine without any.
    fs.writeFileSync(path.join(staging, 'fonts.conf'), fontconfig(folder));
    fs.renameSync(staging, folder);
  } catch (error) {
    fs.rmSync(staging, { recursive: true, force: true });
    if (!fs.existsSync(path.join(folder, 'chromium'))) throw error;
  }
}

function fontconfig(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${folder}/fonts</dir>
  <cachedir>${folder}/cache</cachedir>
</fontconfig>
`;
}
