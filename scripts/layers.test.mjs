import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { root } from './children.mjs';
import { cyclesOf, importGraph, layerProblems } from './import-graph.mjs';
import { LAYERS } from './layers.mjs';

/** @type {string[]} */
const folders = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** @param {Readonly<Record<string, string>>} files */
function graphOf(files) {
  const folder = mkdtempSync(join(tmpdir(), 'rockpool-layers-'));
  folders.push(folder);
  for (const [file, code] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), code);
  }
  return importGraph(folder);
}

describe.each(Object.entries(LAYERS))('the layers of %s', (folder, layers) => {
  const graph = importGraph(join(root, folder));

  it('hold: every import points down or stays in its folder', () => {
    expect(graph.size).toBeGreaterThan(20);
    expect(layerProblems(graph, layers)).toEqual([]);
  });

  it('are broken by an import that points up', () => {
    const [lowest] = layers[0] ?? [];
    const file = [...graph.keys()].find((name) => name.startsWith(`${lowest}/`)) ?? '';
    const [top] = layers.at(-1) ?? [];
    const target =
      [...graph.keys()].find((name) => (top === '.' ? !name.includes('/') : name.startsWith(`${top}/`))) ?? '';
    const broken = new Map(graph).set(file, [...(graph.get(file) ?? []), target]);
    expect(layerProblems(broken, layers)).toEqual([`${file} points up: imports ${target}`]);
  });

  it('name only existing folders', () => {
    const names = layers.flat().filter((name) => name !== '.');
    expect(
      names.filter((name) => ![...graph.keys()].some((file) => file.startsWith(`${name}/`) || file === name)),
    ).toEqual([]);
  });

  it('have no import cycle, including imports of types', () => {
    expect(cyclesOf(graph)).toEqual([]);
  });
});

describe('layerProblems', () => {
  const layers = [['log', 'bus'], ['store'], ['.']];

  it('reports an import of a type from a layer above', () => {
    const graph = graphOf({
      'log/log.ts': "import type { Store } from '../store/store.ts';",
      'store/store.ts': "import { log } from '../log/log.ts';\nexport interface Store {}",
    });
    expect(layerProblems(graph, layers)).toEqual(['log/log.ts points up: imports store/store.ts']);
  });

  it('reports an import between two folders of one layer', () => {
    const graph = graphOf({ 'log/log.ts': "export * from '../bus/bus.ts';", 'bus/bus.ts': '' });
    expect(layerProblems(graph, layers)).toEqual(['log/log.ts points sideways: imports bus/bus.ts']);
  });

  it('reports a folder without a layer', () => {
    expect(layerProblems(graphOf({ 'new/a.ts': '' }), layers)).toEqual(['new/a.ts belongs to no layer']);
  });

  it('allows imports that point down, stay in the folder, or come from a test', () => {
    const graph = graphOf({
      'app.ts': "import {\n  Store,\n} from './store/store.ts';",
      'store/store.ts': "import './file.ts';\nawait import('../log/log.ts');",
      'store/file.ts': '',
      'log/log.ts': '',
      'log/log.test.ts': "import '../store/store.ts';",
    });
    expect(graph.get('app.ts')).toEqual(['store/store.ts']);
    expect(graph.get('store/store.ts')).toEqual(['store/file.ts', 'log/log.ts']);
    expect(layerProblems(graph, layers)).toEqual([]);
  });
});

describe('cyclesOf', () => {
  it('finds a cycle that goes through types alone', () => {
    const graph = graphOf({
      'a.ts': "import type { B } from './b.ts';",
      'b.ts': "import type { C } from './c.ts';",
      'c.ts': "export type { A } from './a.ts';",
      'd.ts': "import './a.ts';",
    });
    expect(cyclesOf(graph)).toEqual([['a.ts', 'b.ts', 'c.ts']]);
  });
});
