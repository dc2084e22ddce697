/** Starts the dedicated worker of this tab. Bundlers recognise this expression and build the worker as an entry of its own. */
export function startWorker(): Worker {
  return new Worker(new URL('../worker/entry.ts', import.meta.url), { type: 'module', name: 'rockpool' });
}
