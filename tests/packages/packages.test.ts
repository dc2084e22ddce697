import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

interface Manifest {
  readonly name: string;
  readonly license?: string;
  readonly engines?: { readonly node?: string };
  readonly sideEffects?: boolean | readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const packages = new URL('../../packages/', import.meta.url).pathname;
const names = readdirSync(packages).filter((name) => existsSync(join(packages, name, 'package.json')));
const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
const isSource = (file: string): boolean =>
  /\.tsx?$/.test(file) && !/\.(test|contract|test-d)\.tsx?$/.test(file) && !/(^|\/)testing\//.test(file);

/** `4.12.25` as numbers, padded with zeros. */
const parts = (version: string): number[] => [0, 1, 2].map((index) => Number(version.split('.')[index] ?? 0));

function isBefore(one: readonly number[], other: readonly number[]): boolean {
  const at = one.findIndex((part, index) => part !== other[index]);
  return at >= 0 && one[at]! < other[at]!;
}

interface PackedPackage {
  readonly name: string;
  readonly files: readonly { readonly path: string }[];
}

let known: readonly PackedPackage[] | undefined;

/** What npm would pack, of all packages at once: it takes seconds to start. */
function packedPackages(): readonly PackedPackage[] {
  known ??= JSON.parse(
    execFileSync(
      'npm',
      ['pack', ...names.map((name) => `./${name}`), '--dry-run', '--json', '--ignore-scripts', '--loglevel=error'],
      { cwd: packages, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    ),
  ) as readonly PackedPackage[];
  return known;
}

describe.each(names)('the package in packages/%s', (name) => {
  const folder = join(packages, name);
  const manifest = manifestOf(folder);

  it('declares its engines and the files with side effects', () => {
    expect(manifest.engines?.node).toMatch(/^>=\d/);
    expect(manifest.sideEffects).toBeDefined();
    const listed = Array.isArray(manifest.sideEffects)
      ? (manifest.sideEffects as string[]).filter((file) => file.startsWith('./src/') && !file.includes('*'))
      : [];
    for (const file of listed) expect(existsSync(join(folder, file)), file).toBe(true);
  });

  it('contains the sources named by its source maps, and no tests', () => {
    const { files } = packedPackages().find((one) => one.name === manifest.name) as PackedPackage;
    const packed = files.map(({ path }) => path).filter((path) => path.startsWith('src/') && /\.tsx?$/.test(path));
    const sources = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
      .map((path) => `src/${path}`)
      .filter(isSource);
    expect(packed.sort()).toEqual(sources.sort());
  });

  it.each(
    Object.entries(manifest.peerDependencies ?? {}).filter(([peer]) => ['drizzle-orm', 'hono', 'yjs'].includes(peer)),
  )('has %s as a peer range, %s, with its oldest and newest version installed for the tests', (peer, range) => {
    expect(manifest.dependencies?.[peer]).toBeUndefined();
    const [, floor = '', end = ''] = /^>=(\S+) <(\S+)$/.exec(range) ?? [];
    const newest = manifestOf(join(folder, 'node_modules', peer)) as Manifest & { readonly version: string };
    expect(isBefore(parts(newest.version), parts(floor))).toBe(false);
    expect(isBefore(parts(newest.version), parts(end))).toBe(true);
    // The tests are in the package that uses the dependency most; the others declare the same range.
    const tester =
      names.find((other) => manifestOf(join(packages, other)).devDependencies?.[`${peer}-floor`] !== undefined) ?? '';
    const oldest = manifestOf(join(packages, tester, 'node_modules', `${peer}-floor`)) as Manifest & {
      readonly version: string;
    };
    expect([oldest.name, parts(oldest.version)]).toEqual([peer, parts(floor)]);
    expect(manifestOf(join(packages, tester)).peerDependencies?.[peer]).toBe(range);
  });
});

it('the command of an installed server runs the built files, because Node runs no TypeScript below node_modules', () => {
  const app = mkdtempSync(join(tmpdir(), 'rockpool-installed-'));
  try {
    const installed = join(app, 'node_modules/@rockpool/sync-server');
    for (const folder of ['bin', 'dist', 'src']) mkdirSync(join(installed, folder), { recursive: true });
    for (const file of ['package.json', 'bin/rockpool-server.mjs', 'src/cli.ts'])
      cpSync(join(packages, 'sync-server', file), join(installed, file));
    writeFileSync(join(installed, 'dist/cli.js'), 'export const run = async ([word]) => (word === "go" ? 7 : 1);');
    const command = spawnSync(process.execPath, [join(installed, 'bin/rockpool-server.mjs'), 'go'], {
      encoding: 'utf8',
    });
    expect([command.status, command.stderr]).toEqual([7, '']);
  } finally {
    rmSync(app, { recursive: true });
  }
});
