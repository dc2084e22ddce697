// The processes of Node tests. Short files share one process, which evaluates their common imports once. A long file
// has its own process, because what it leaves in memory makes every garbage collection slower for the files after it.

import { relative } from 'node:path';
import { ForksPoolWorker } from 'vitest/node';
import { root } from '../children.mjs';
import { isHeavy } from './weights.mjs';

/** Limits the memory of a process. Starting another one takes half a second. */
const mostFiles = 40;

class RecycledFork extends ForksPoolWorker {
  /** @override */
  name = 'recycled-forks';
  #files = 0;
  #hasHeavy = false;

  /**
   * @override
   * @param {import('vitest/node').WorkerRequest} request
   */
  send(request) {
    if (request.type === 'run') this.#count(request.context.files);
    super.send(request);
  }

  /** @param {readonly { filepath: string }[]} files */
  #count(files) {
    this.#files += files.length;
    this.#hasHeavy ||= files.some(isHeavyFile);
  }

  /** @param {import('vitest/node').PoolTask} next */
  canReuse({ context }) {
    return !this.#hasHeavy && this.#files < mostFiles && !context.files.some(isHeavyFile);
  }
}

/** @param {{ filepath: string }} file */
function isHeavyFile({ filepath }) {
  return isHeavy(relative(root, filepath).replaceAll('\\', '/'));
}

/** @type {import('vitest/node').PoolRunnerInitializer} */
export const recycledForks = {
  name: 'recycled-forks',
  createPoolWorker: (options) => new RecycledFork(options),
};
