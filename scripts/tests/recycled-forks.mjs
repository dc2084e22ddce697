// The processes of Node tests. Files share one process, which evaluates their common imports once, until they have
// taken a certain time.

import { relative } from 'node:path';
import { ForksPoolWorker } from 'vitest/node';
import { root } from '../children.mjs';
import { hasTimeFor, weightOf } from './weights.mjs';

class RecycledFork extends ForksPoolWorker {
  /** @override */
  name = 'recycled-forks';
  #seconds = 0;

  /**
   * @override
   * @param {import('vitest/node').WorkerRequest} request
   */
  send(request) {
    if (request.type === 'run')
      for (const { filepath } of request.context.files) this.#seconds += weightOf(nameOf(filepath));
    super.send(request);
  }

  /** @param {import('vitest/node').PoolTask} next */
  canReuse({ context }) {
    return context.files.every(({ filepath }) => hasTimeFor(this.#seconds, nameOf(filepath)));
  }
}

/** @param {string} filepath */
function nameOf(filepath) {
  return relative(root, filepath).replaceAll('\\', '/');
}

/** @type {import('vitest/node').PoolRunnerInitializer} */
export const recycledForks = {
  name: 'recycled-forks',
  createPoolWorker: (options) => new RecycledFork(options),
};
