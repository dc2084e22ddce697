import type { Reads } from '../../rpc/reads.ts';
import type { ReadWork } from './channel-message.ts';

// As the keys of an object, so that the compiler reports a method that is missing here.
const METHODS = Object.keys({
  query: null,
  queryAll: null,
  dependencies: null,
  rowSyncState: null,
  writeStates: null,
  backup: null,
  listRejected: null,
  listWaiting: null,
} satisfies Record<keyof Reads, null>);

/** Returns reads that pass every call to one function, which resolves with its result. */
export function forwardedReads(forward: (call: ReadWork) => Promise<unknown>): Reads {
  return Object.fromEntries(
    METHODS.map((method) => [method, (...args: unknown[]) => forward({ kind: 'read', method, args } as ReadWork)]),
  ) as unknown as Reads;
}

/** Runs a call that `forwardedReads` passed on. */
export function callReads(reads: Reads, { method, args }: ReadWork): Promise<unknown> {
  return (reads[method] as (...given: readonly unknown[]) => Promise<unknown>)(...args);
}
