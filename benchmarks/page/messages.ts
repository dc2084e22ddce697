import type { Host } from './host.ts';

// One message for a call, one for its answer: the least that a page pays for a database in a worker, the same for every
// subject.

export interface Call {
  readonly id: number;
  readonly method: keyof Host;
  readonly args: readonly unknown[];
}

export type Answer =
  | { readonly id: number; readonly value: unknown; readonly isPacked?: boolean }
  | { readonly id: number; readonly error: string };
