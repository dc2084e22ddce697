// The import graph of the source files, types included. Reads the text: an import in these sources is a quoted relative
// path with a suffix.

import { readdirSync, readFileSync } from 'node:fs';
import { posix, join } from 'node:path';

/**
 * @typedef {ReadonlyMap<string, readonly string[]>} ImportGraph file → the files that it imports, by paths from the
 * root
 */

const SOURCE = /\.tsx?$/;
/** Tests may combine modules that production code may not. */
const TEST = /(\.(test|bench|contract|stories)\.tsx?|\.test-d\.ts)$/;
const IMPORT =
  /(?:^|[\n;])\s*(?:import|export)\b(?:[^'";]*?\bfrom)?\s*['"](\.[^'"]+)['"]|\bimport\(\s*['"](\.[^'"]+)['"]/g;

/**
 * @param {string} folder its sources, without tests
 * @returns {ImportGraph}
 */
export function importGraph(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => SOURCE.test(file) && !TEST.test(file));
  const known = new Set(files);
  return new Map(files.map((file) => [file, importsOf(file, readFileSync(join(folder, file), 'utf8'), known)]));
}

/**
 * @param {string} file
 * @param {string} text
 * @param {ReadonlySet<string>} known
 * @returns {string[]}
 */
function importsOf(file, text, known) {
  const found = [...text.matchAll(IMPORT)].map(([, from, dynamic]) =>
    posix.join(posix.dirname(file), from ?? dynamic ?? ''),
  );
  return [...new Set(found)].filter((target) => known.has(target));
}

/**
 * @param {ImportGraph} graph
 * @returns {string[][]} groups of files that import each other, directly or indirectly
 */
export function cyclesOf(graph) {
  /** @type {Map<string, { index: number, lowest: number, isOpen: boolean }>} */
  const seen = new Map();
  /** @type {string[]} */
  const open = [];
  /** @type {string[][]} */
  const cycles = [];
  /** @param {string} file */
  const visit = (file) => {
    const state = { index: seen.size, lowest: seen.size, isOpen: true };
    seen.set(file, state);
    open.push(file);
    for (const target of graph.get(file) ?? []) {
      const known = seen.get(target);
      if (known === undefined) state.lowest = Math.min(state.lowest, visit(target).lowest);
      else if (known.isOpen) state.lowest = Math.min(state.lowest, known.index);
    }
    if (state.lowest === state.index) {
      const group = open.splice(open.indexOf(file));
      for (const member of group) /** @type {{ isOpen: boolean }} */ (seen.get(member)).isOpen = false;
      if (group.length > 1 || graph.get(file)?.includes(file) === true) cycles.push(group.sort());
    }
    return state;
  };
  for (const file of graph.keys()) if (!seen.has(file)) visit(file);
  return cycles;
}

/**
 * @param {ImportGraph} graph
 * @param {readonly (readonly string[])[]} layers see layers.mjs
 * @returns {string[]} every import that points up or sideways, and every file without a layer
 */
export function layerProblems(graph, layers) {
  const places = layers.flatMap((names, level) => names.map((name) => ({ name, level })));
  // The longest matching name, because a folder inside a layer can have its own layer.
  places.sort((a, b) => b.name.length - a.name.length);
  /** @param {string} file */
  const placeOf = (file) =>
    places.find(({ name }) => file === name || file.startsWith(`${name}/`) || (name === '.' && !file.includes('/')));
  return [...graph].flatMap(([file, targets]) => {
    const own = placeOf(file);
    if (own === undefined) return [`${file} belongs to no layer`];
    return targets.flatMap((target) => {
      const other = placeOf(target);
      const points = other === undefined || other.level > own.level ? 'up' : 'sideways';
      return other !== undefined && (other.level < own.level || other === own)
        ? []
        : [`${file} points ${points}: imports ${target}`];
    });
  });
}
