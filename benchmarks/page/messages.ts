import type { Host } from './host.ts';

// One message per call and one per response: the minimum cost of a database in a worker, identical for every subject.

export interface Call {
  readonly id: number;
  readonly method: keyof Host;
  readonly args: readonly unknown[];
}

export type Answer =
  | { readonly id: number; readonly value: unknown; readonly isPacked?: boolean }
  | { readonly id: number; readonly error: string };
