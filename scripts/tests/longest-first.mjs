// Vitest's order of the files: those with modules of their own, then the longest first. Vitest itself orders by the
// times of an earlier run, which a fresh clone does not have, and then by size: a small file may simulate for minutes,
// and would then run alone at the end.

import { relative } from 'node:path';
import { root } from '../children.mjs';
import { longestFirst } from './weights.mjs';

/** @param {import('vitest/node').TestSpecification} specification */
const fileOf = ({ moduleId }) => relative(root, moduleId).replaceAll('\\', '/');

/** @param {import('vitest/node').TestSpecification} specification */
const rankOf = ({ project }) => (project.config.isolate ? 0 : 1);

export default class {
  /** @param {import('vitest/node').TestSpecification[]} specifications */
  sort(specifications) {
    // A process is kept only if the next file shares its project.
    return [...specifications].sort(
      (a, b) =>
        rankOf(a) - rankOf(b) || a.project.name.localeCompare(b.project.name) || longestFirst(fileOf(a), fileOf(b)),
    );
  }

  /** @param {import('vitest/node').TestSpecification[]} specifications */
  shard(specifications) {
    return specifications;
  }
}
