export interface Line {
  readonly kind: 'database' | 'setup' | 'query' | 'write' | 'runs';
  readonly sql: string;
}

export function scanQueries(count: number, seed: number, mostRows?: number): Generator<Line>;

export const TESTED: { readonly count: number; readonly seed: number; readonly mostRows: number };
