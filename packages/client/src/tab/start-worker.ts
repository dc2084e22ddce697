import { RockpoolError } from '@rockpool/shared';

/** A worker and the address of its script, which explains a failed load: the worker itself reports no reason. */
export interface StartedWorker {
  readonly worker: Worker;
  readonly url: string;
}

/**
 * Starts the dedicated worker of this tab. Throws `worker-unavailable` if workers do not exist, as in Node, and
 * `worker-unloadable` if the page's policy refuses the worker immediately.
 *
 * Bundlers recognise the literal expression below and build the worker as a separate entry. Only the constructor sees
 * the resulting address.
 */
export function startWorker(): StartedWorker {
  if (typeof Worker === 'undefined') throw new RockpoolError('worker-unavailable', { use: '@rockpool/client/node' });
  const { Worker: native } = globalThis;
  let url = '';
  globalThis.Worker = new Proxy(native, {
    construct(target, [address, options]: [string | URL, WorkerOptions]) {
      url = String(address);
      return new target(address, options);
    },
  });
  try {
    const worker = new Worker(new URL('../worker/entry.ts', import.meta.url), { type: 'module', name: 'rockpool' });
    return { worker, url };
  } catch (cause) {
    throw new RockpoolError('worker-unloadable', { url, problem: 'the browser refused the worker' }, { cause });
  } finally {
    globalThis.Worker = native;
  }
}
