import { decodeRows, type EncodedRows } from '../../packages/client/src/rpc/rows-transfer.ts';
import type { Host } from './host.ts';
import type { Answer, Call } from './messages.ts';

/** A host as the page sees it: every call is a message. */
export type RemoteHost = Pick<Host, 'open' | 'fill' | 'measure' | 'close'> & {
  call(operation: string, args: readonly unknown[]): Promise<unknown>;
};

/** `prepare` runs before the worker receives its first call. */
export function startWorkerHost(worker: Worker, prepare: (worker: Worker) => void = () => undefined): RemoteHost {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let lastId = 0;
  prepare(worker);

  worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
    const caller = waiting.get(data.id);
    if (caller === undefined) return; // The message belongs to the subject.
    waiting.delete(data.id);
    if ('error' in data) caller.reject(new Error(data.error));
    else caller.resolve(data.isPacked === true ? decodeRows(data.value as EncodedRows) : data.value);
  });
  worker.addEventListener('error', (event) => {
    for (const { reject } of waiting.values()) reject(new Error(`the worker failed: ${event.message}`));
    waiting.clear();
  });

  const call =
    (method: Call['method']) =>
    (...args: readonly unknown[]): Promise<never> =>
      new Promise((resolve, reject) => {
        const id = ++lastId;
        waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
        worker.postMessage({ id, method, args } satisfies Call);
      });
  return {
    open: call('open'),
    fill: call('fill'),
    measure: call('measure'),
    call: call('call'),
    close: call('close'),
  };
}
